/*
 * enforced_sum.cpp - the sum that mode `enforce` goes by.
 */
#include "core/scoring/enforced_sum.hpp"

#include <unordered_map>

namespace privacy_score {

NGramScore EnforcedSum::Of(AbstractionId id, RoleScorer& scorer) {
  NGram statement{};
  statement.back() = id;
  return scorer.Score(statement, ScoreLevel::kStatement);
}

void EnforcedSum::Add(AbstractionId id, std::int64_t sessions, std::int64_t executions, RoleScorer& scorer) {
  const bool once = scorer.settings().counting == ScoreSettings::kSet;
  sum_.Add(Of(id, scorer).score, once ? sessions : executions);
}

void EnforcedSum::AddSession(const Sequence& sequence, RoleScorer& scorer) {
  std::unordered_map<AbstractionId, std::int64_t> executions;
  for (const Run& run : sequence)
    if (run.count > 0) executions[run.id] += run.count;
  for (const auto& [id, count] : executions) Add(id, 1, count, scorer);
}

}  // namespace privacy_score
