/*
 * remembered_abstractions.cpp - see remembered_abstractions.hpp.
 */
#include "backend/query/remembered_abstractions.hpp"

extern "C" {
#include "utils/plancache.h"
}

#include "backend/query/known_queries.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "core/base/joined.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

using privacy_score::LiveScorer;

namespace {

// Room for abstractions with what the scorer makes of them, thousands as a rule.
constexpr Size kMostAbstractionBytes = 8 * 1024 * 1024;

// Remembers the tokens of an abstraction and returns its id.
int64 DefineTokens(const privacy_score::Tokens& tokens) {
  const int64 id = privacy_score::Fingerprint(tokens);
  if (ps_local.tokens == nullptr) ps_local.tokens = new std::unordered_map<int64, std::string>();
  if (id == 0 || ps_local.tokens->count(id) != 0) return id;
  std::string text = privacy_score::Joined(tokens, {&kTokenEnd, 1});
  text.shrink_to_fit();
  ps_local.abstraction_bytes += LiveScorer::BytesOf(tokens);
  ps_local.tokens->emplace(id, std::move(text));
  return id;
}

// What `define`, a core call, returns; where core fails `unparsed`, and the fault is counted.
template <typename Define>
int64 DefineOrUnparsed(Define define) {
  int64 id = 0;
  CoreError error;
  if (CallCore(&error, [&] { id = define(); })) return id;
  CountScoringError(error.message);
  CallCore(&error, [&] { id = DefineTokens({kUnparsed}); });
  return id;
}

}  // namespace

int64 DefineAbstraction(const privacy_score::Statement& statement, int64* estimates) {
  return DefineOrUnparsed([&statement, estimates] {
    bool tell_more = false;
    const int64 id = DefineTokens(privacy_score::Abstract(statement, &tell_more));
    if (estimates == nullptr || !tell_more) return id;
    privacy_score::Statement explained = statement;
    explained.explained = true;
    *estimates = DefineTokens(privacy_score::Abstract(explained));
    return id;
  });
}

int64 DefineEstimates(int64 id) {
  // Who explains looks at the same statements again.
  static struct { int64 id, estimates; } latest[16];
  auto& one = latest[static_cast<uint64>(id) % lengthof(latest)];
  if (one.id == id && one.estimates != 0 && IsRemembered(one.estimates)) return one.estimates;
  const int64 estimates =
      DefineOrUnparsed([id] { return DefineTokens(privacy_score::EstimateTokens(RememberedTokens(id))); });
  if (!IsUnparsed(estimates)) one = {id, estimates};
  return estimates;
}

privacy_score::Tokens RememberedTokens(int64 id) {
  return id == 0 ? privacy_score::Tokens() : SplitTokens(ps_local.tokens->at(id));
}

void ForgetAbstractionsWhenFull() {
  if (ps_local.abstraction_bytes <= kMostAbstractionBytes) return;
  CoreError error;
  if (!CallCore(&error, [] {
        if (ps_local.scorer != nullptr) ps_local.scorer->scorer.ForgetUnused();
        if (ps_local.own != nullptr && ps_local.own != ps_local.scorer) ps_local.own->scorer.ForgetUnused();
        ForgetPrincipals();
        ps_local.tokens->clear();
      }))
    CountScoringError(error.message);
  ps_local.abstraction_bytes = 0;
  ps_local.forgot = true;
  ForgetKnownQueries();
  ResetPlanCache();  // plans carry abstractions
  ereport(DEBUG1, (errmsg_internal("privacy_score has forgotten the abstractions that this process has met")));
}

}  // namespace privacy_score
