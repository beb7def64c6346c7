/*
 * cancellable_call.hpp - calls of core that cannot go on where they were, and so are left only when the statement ends.
 */
#pragma once

#include "backend/server/core_call.hpp"
#include "core/base/paused.hpp"

namespace privacy_score {

// Whether an interrupt is pending that ends the statement: what core asks where it can only give up.
inline bool StatementEnds() noexcept {
  return InterruptPending != 0 && (QueryCancelPending != 0 || ProcDiePending != 0);
}

// Calls what gives up by StatementEnds(), and begins anew should the statement go on after all.
template <typename Compute>
void RunCancellable(Compute compute) {
  RunPausing([&](auto) { return privacy_score::Finishes(compute); });
}

}  // namespace privacy_score
