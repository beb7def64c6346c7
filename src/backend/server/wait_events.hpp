/*
 * wait_events.hpp - what processes of ours wait for, as pg_stat_activity shows it.
 *
 * docs/dba.md lists the names. Servers before 17 show `Extension` for all of them.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

enum class OwnWait {
  kWorkerMain,      // the worker, for something to do
  kRates,           // the worker, for the process that computes rates
  kShutdown,        // the worker at the server's end, for sessions to close
  kAccountantMain,  // the accountant, for a charge to carry out
  kCharge,          // a session, for the accountant
  kBudget,          // a session, for somebody who is changing the budget
  kFlush,           // a session in flush(), for the worker
  kScore,           // a statement in enforce mode, for its exact score
  kAlert,           // a session that has passed a limit, for its alerts to be stored
  kRoom,            // a session that has no room in shared memory, for the worker to free some
  kFleetMain,       // the process of a hub that starts collectors, for members to come and go
  kCollectorMain,   // a collector, for its member to be asked again
  kSender           // a connection between nodes of Citus, for the worker to have it confirmed
};

// The wait event to report. Asked for the first time in a process it takes a lock, and may raise.
uint32 WaitEventOf(OwnWait wait);

// Sleeps so long, whatever happens, unless the server's first process dies.
void Pause(OwnWait wait, long milliseconds);

}  // namespace privacy_score
