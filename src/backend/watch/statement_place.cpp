/*
 * statement_place.cpp - see statement_place.hpp.
 */
#include "backend/watch/statement_place.hpp"

#include "backend/watch/error_scrubbing.hpp"

namespace privacy_score {

StatementPlace ps_place = {0, false, -1, false, false, nullptr, nullptr};

void JudgeFailure(const PlannedStmt* plan, ParamListInfo parameters, const Node* utility, Oid handled,
                  const Watch& watch) {
  if (ps_place.depth == 0 && IsParallelWorker()) return;
  JudgeError({plan, parameters, utility, handled, ps_place.depth == 0}, watch);
}

}  // namespace privacy_score
