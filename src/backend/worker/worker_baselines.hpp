/*
 * worker_baselines.hpp - what baselines hold on its way into shared memory.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "utils/dsa.h"
}

#include "backend/state/shared_state.hpp"

namespace privacy_score {

// The baselines in force, sorted by id, each in shared memory.
struct GatheredBaselines {
  dsa_pointer* of;
  int32 count;
  bool fit;  // else there was no room for one
};

// How often rows of baselines have been written, by the server's statistics; below 0: nobody knows. Within a
// transaction.
int64 CountWrittenBaselines();

// Takes over those that stand in shared memory and are what the tables say in the active snapshot, and reads the
// others; `counted`: how often they had been written before that snapshot. Within a transaction of the worker, inside
// an internal scope; the list is palloc'd in `context`.
void GatherBaselines(DatabaseSlot* slot, MemoryContext context, int64 counted, GatheredBaselines* gathered);

// Whether that set is the one in force.
bool SameBaselines(const DatabaseSlot* slot, const GatheredBaselines& gathered);

// Looks whether baselines have to be gathered again: their rows have been written, by whomever, since nobody announces
// a restore; or one that there was no room for is needed now. Within a transaction. What it has found when it last
// looked.
void LookAtBaselines(DatabaseSlot* slot);
bool BaselinesAreDue();

}  // namespace privacy_score
