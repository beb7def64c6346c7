/*
 * scoring_errors.cpp - see scoring_errors.hpp.
 */
#include "backend/state/scoring_errors.hpp"

#include "backend/state/shared_state.hpp"

namespace privacy_score {

void CountScoringError(const char* what) {
  static bool logged = false;
  if (ps_shared != nullptr) pg_atomic_fetch_add_u64(&ps_shared->scoring_errors, 1);
  if (logged) return;
  logged = true;
  ereport(LOG, (errmsg("could not score a statement: %s", what), errhidestmt(true), errhidecontext(true)));
}

}  // namespace privacy_score
