/*
 * enforced_sum.hpp - the sum that mode `enforce` goes by (ours).
 *
 *   o(a) = min over the baseline's statements h of delta*(a|h); 0 when the baseline has a; without a baseline h is the
 *          statement that reveals nothing
 *   E    = sum over a session's abstractions a of o(a), each once ('set') or as often as it occurs ('multiset')
 *
 * Of a session that is P at n = 1, SessionSummary::statement_score; of a role's day it is the sum over its sessions,
 * which this class makes from history. What the baseline has adds nothing whatever came before it, so it can always be
 * let pass; no order and no padding lowers the sum.
 */
#pragma once

#include <cstdint>

#include "core/scoring/ngram.hpp"
#include "core/scoring/score.hpp"
#include "core/scoring/score_sum.hpp"

namespace privacy_score {

class EnforcedSum {
 public:
  // o(a). Throws Error XX001 when the abstraction is not known.
  static NGramScore Of(AbstractionId id, RoleScorer& scorer);

  // Takes in one abstraction, which `sessions` sessions have had, `executions` times in all. Throws likewise.
  void Add(AbstractionId id, std::int64_t sessions, std::int64_t executions, RoleScorer& scorer);
  // Takes in all statements of a session.
  void AddSession(const Sequence& sequence, RoleScorer& scorer);
  double value() const { return sum_.value(); }

 private:
  ScoreSum sum_;
};

}  // namespace privacy_score
