/*
 * explain_option.cpp - EXPLAIN (PRIVACY): what a statement reveals, and how far that identifies people.
 *
 * The abstraction is that of the live path: of the analysed query, which is at hand before it is planned. A plan that
 * the plan cache has kept for EXECUTE carries its abstraction when it was made while its role was watched; else what it
 * marks as read is an upper bound. The identification comes from the rates that are stored: no table is read for it,
 * and it is an estimate where the live score would be one. The server has checked the caller's rights on what the
 * statement names before anything is shown; rates are for those who may know them (HiddenRelation).
 */
#include "backend/history/explain_option.hpp"

#include "backend/query/plan_mark.hpp"
#include "backend/query/query_statement.hpp"
#include "backend/query/remembered_abstractions.hpp"
#include "backend/rates/model_wire.hpp"
#include "backend/rates/query_rates.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/role_access.hpp"
#include "backend/watch/live.hpp"
#include "core/scoring/explain.hpp"

namespace privacy_score {

namespace ps = privacy_score;

namespace {

using Texts = std::vector<std::string>;

constexpr int kDigits = 6;

// What is kept for one command.
struct Explaining {
  // Of the query that is being planned; none (a null object) for a plan that was there.
  CoreHolder<ps::Tokens>* tokens;
};

void* BeginExplaining() {
  RequireExtension();
  auto* explaining = static_cast<Explaining*>(palloc(sizeof(Explaining)));
  explaining->tokens = NewCoreHolder<ps::Tokens>(CurrentMemoryContext);
  return explaining;
}

void AbstractBeforePlanning(void* kept, ::Query* query) {
  const auto* explaining = static_cast<Explaining*>(kept);
  const ps::Statement statement = QueryStatement(query);
  CallCoreOrRaise([&] { explaining->tokens->Reset(new ps::Tokens(ps::Abstract(statement))); });
}

// Takes the abstraction from a plan; true when it is an upper bound.
bool AbstractPlanned(CoreHolder<ps::Tokens>* tokens, const PlannedStmt* plan) {
  const PlanMark* mark = MarkOfPlan(plan);
  if (mark != nullptr && (mark->id == 0 || IsRemembered(mark->id))) {
    CallCoreOrRaise([&] { tokens->Reset(new ps::Tokens(RememberedTokens(mark->id))); });
    return false;
  }
  const ps::Statement statement = PlanStatement(plan);
  CallCoreOrRaise([&] { tokens->Reset(new ps::Tokens(ps::Abstract(statement))); });
  return true;
}

// Whether the current user may know the rates of what is revealed.
bool MayKnowRates(const ps::Tokens& tokens) {
  if (MayReadRole(InvalidOid)) return true;
  List* rated = NIL;
  return RatedByTokens(tokens, &rated) && !OidIsValid(HiddenRelation(rated));
}

ps::RateBounds StoredIdentification(const ps::Tokens& tokens) {
  StringInfoData wire;
  initStringInfo(&wire);
  InternalScope scope;
  EnterInternal(&scope);
  AppendModel(&wire, ModelScope::kBaselines, nullptr, "");
  LeaveInternal(&scope);
  ps::RateBounds rate;
  const ps::ScoreSettings settings = ScoreSettingsInForce();
  CallCoreOrRaise([&] {
    ps::WireReader reader(WireBytes(&wire));
    rate = ps::IdentificationOf(ps::Model::Read(reader), tokens, settings).rate;
  });
  pfree(wire.data);
  return rate;
}

void ShowTexts(const char* label, const Texts& texts, ExplainState* explain) {
  if (texts.empty() && explain->format == EXPLAIN_FORMAT_TEXT) return;
  List* list = NIL;
  const std::size_t count = texts.size();
  for (std::size_t i = 0; i < count; ++i) list = lappend(list, pstrdup(texts[i].c_str()));
  ExplainPropertyList(label, list, explain);
}

void ShowIdentification(const ps::Tokens& tokens, bool upper_bound, ExplainState* explain) {
  if (ps::IsUnparsed(tokens)) return;
  if (!MayKnowRates(tokens)) {
    ExplainPropertyText("Identification Withheld", "no right to read all rows of every revealed column", explain);
    return;
  }
  const ps::RateBounds rate = StoredIdentification(tokens);
  const bool estimated = upper_bound || !rate.exact();
  ExplainPropertyFloat("Identification", nullptr, rate.upper, kDigits, explain);
  ExplainPropertyBool("Estimated", estimated, explain);
  if (estimated)
    ExplainPropertyFloat("Identification At Least", nullptr, upper_bound ? 0 : rate.lower, kDigits, explain);
}

void ShowAfterPlan(void* kept, const PlannedStmt* plan, ExplainState* explain) {
  const auto* explaining = static_cast<Explaining*>(kept);
  CoreHolder<ps::Tokens>* tokens = explaining->tokens;
  const bool upper_bound = tokens->object == nullptr && AbstractPlanned(tokens, plan);
  CoreHolder<Texts>* revealed = NewCoreHolder<Texts>(CurrentMemoryContext);
  const bool where_counts = ps_settings.where_counts;
  CallCoreOrRaise([&] { revealed->Reset(new Texts(ps::RevealedColumns(*tokens->object, where_counts))); });

  const bool as_text = explain->format == EXPLAIN_FORMAT_TEXT;
  ExplainOpenGroup("Privacy", "Privacy", true, explain);
  if (as_text) {
    appendStringInfoSpaces(explain->str, explain->indent * 2);
    appendStringInfoString(explain->str, "Privacy:\n");
    ++explain->indent;
  }
  ShowTexts("Abstraction", *tokens->object, explain);
  ShowTexts("Revealed Columns", *revealed->object, explain);
  ShowIdentification(*tokens->object, upper_bound, explain);
  if (as_text) --explain->indent;
  ExplainCloseGroup("Privacy", "Privacy", true, explain);
  tokens->Reset(nullptr);
}

constexpr ExplainOption kPrivacy = {"privacy", BeginExplaining, AbstractBeforePlanning, ShowAfterPlan};

}  // namespace

void InstallExplainOption() { AddExplainOption(&kPrivacy); }

}  // namespace privacy_score
