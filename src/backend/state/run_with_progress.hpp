/*
 * run_with_progress.hpp - calls of core that pause for interrupts and say how far they are, shown as progress.
 */
#pragma once

#include "backend/server/core_call.hpp"
#include "backend/state/progress.hpp"
#include "core/base/work_control.hpp"

namespace privacy_score {

// Runs a computation of core to its end: Run() goes on where it was, done() and total() are shown each time it asks for
// interrupts.
template <typename Computation>
void RunWithProgress(Computation* computation) {
  static Computation* running;  // the predicate below has no arguments
  running = computation;
  privacy_score::WorkControl control;
  control.interrupted = [] {
    SetProgress(static_cast<uint64>(running->done()), static_cast<uint64>(running->total()));
    return InterruptPending != 0;
  };
  RunPausing([&](auto) { return running->Run(control); });
}

}  // namespace privacy_score
