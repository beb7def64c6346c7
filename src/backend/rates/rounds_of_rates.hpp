/*
 * rounds_of_rates.hpp - an answer of core that rests on all the rates that it needs.
 */
#pragma once

#include "backend/rates/stored_rates.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

// Gathers what core reads (gather(wire), in an internal scope), lets it answer and computes the rates that it found
// missing (answer(wire)), again until that brings no new ones: one round more only where a bound had hidden some.
// `begun`: `computed` has rates already.
template <typename Gather, typename Answer>
void ComputeInRounds(ComputedRates* computed, Gather gather, Answer answer, bool begun = false) {
  constexpr int kMostRounds = 16;
  if (!begun) InitComputedRates(computed);
  for (int round = 0, before = -1; round < kMostRounds && computed->count > before; ++round) {
    StringInfoData wire;
    initStringInfo(&wire);
    InternalScope scope;
    EnterInternal(&scope);
    gather(&wire);
    LeaveInternal(&scope);
    before = computed->count;
    answer(&wire);
    pfree(wire.data);
  }
}

}  // namespace privacy_score
