/*
 * day_scorer.cpp - the score of one role's day, in little memory.
 */
#include "core/scoring/day_scorer.hpp"

#include <utility>

#include "core/base/error.hpp"
#include "core/scoring/enforced_sum.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/scoring/profile.hpp"

namespace privacy_score {

DayScorer::DayScorer(std::string_view wire, const std::string& role, const std::string& end_user)
    : DayScorer(ReadHistory(wire), role, end_user) {}

DayScorer::DayScorer(History history, const std::string& role, const std::string& end_user)
    : sessions_(std::move(history.sessions)),
      scorer_(std::move(history.model), role, history.settings, nullptr, {}, end_user) {}

void DayScorer::Define(std::string_view tokens_wire) {
  WireReader reader(tokens_wire);
  reader.EachRow(TokenSection::kColumns, [&](const Row& row) {
    const AbstractionId id = ParseInteger(Required(row[TokenSection::kId]));
    if (id != pending_) TakePending();
    pending_ = id;
    tokens_.emplace_back(Required(row[TokenSection::kToken]));
  });
}

void DayScorer::TakePending() {
  if (pending_ != 0) scorer_.Define(pending_, tokens_);
  pending_ = 0;
  tokens_.clear();
}

DayScore DayScorer::Score() {
  TakePending();
  Profile profile;
  EnforcedSum enforced;
  for (const HistorySession& session : sessions_) {
    profile.AddSequence(session.sequence, scorer_);
    enforced.AddSession(session.sequence, scorer_);
  }
  return {profile.Summary().score, enforced.value(), scorer_.TakeMissing()};
}

}  // namespace privacy_score
