/*
 * shared_baselines.hpp - the contents of a database's baselines in shared memory, where every backend reads them.
 *
 * Each baseline stands there once, as core/scoring/packed_baseline.hpp packs it, whatever else changes in the model:
 * the worker makes another set of baselines when one has come, gone or become another, and the sets share the rest.
 * Whoever has a model pins the set that it was read with. Backends only count themselves in and out, at any place and
 * without a lock: what nobody has any more the worker frees, the next time that it looks.
 */
#pragma once

#include <vector>

#include "backend/state/shared_state.hpp"
#include "core/scoring/packed_baseline.hpp"

namespace privacy_score {

struct SharedBaseline {
  int64 id;
  uint64 digest;     // of the rows that it was made of
  int32 sets;        // that have it; of the worker alone
  bool lost_tokens;  // of some of its statements nobody knew the tokens
  bool whole;        // else there was no room for its n-grams
  int64 ngram_bytes;
  NameData role;
  dsa_pointer next;  // of those that are in no set yet
  int64 length;
  alignas(8) char bytes[FLEXIBLE_ARRAY_MEMBER];
};

struct SharedBaselines {
  pg_atomic_uint32 pins;  // of models, and one of the slot that it is in
  dsa_pointer next;       // of those that were replaced
  int32 count;
  dsa_pointer of[FLEXIBLE_ARRAY_MEMBER];  // sorted by id
};

// Of a slot, for the worker that replaces them. The set in force; null when there is none.
const SharedBaselines* BaselinesInForce(const DatabaseSlot* slot);
// A baseline of the set in force; invalid when it is not there.
dsa_pointer FindSharedBaseline(const DatabaseSlot* slot, int64 id);

// How many of the set in force are not whole. Under the slot's lock, or in the worker.
int32 BaselinesLeftOut(const DatabaseSlot* slot);
// Whether one of a role is not. In the worker.
bool IsLeftOut(const DatabaseSlot* slot, const char* role);

// How many bytes baselines of a database should take at most: rates and what is asked for need some, too.
int64 RoomForBaselines();
// A copy of packed bytes in shared memory, which belongs to no set yet; invalid when there is no room.
dsa_pointer NewSharedBaseline(DatabaseSlot* slot, int64 id, std::string_view bytes);
// A set of these, sorted by id, with one pin, that of the slot; invalid when there is no room. Those among them that
// were in none are its own from now on.
dsa_pointer NewSharedBaselines(DatabaseSlot* slot, const dsa_pointer* of, int32 count);
// Puts a set into the place of that in force. Under the slot's lock, exclusively.
void ReplaceBaselines(DatabaseSlot* slot, dsa_pointer fresh);
// Frees the sets that were replaced and nobody has any more, and baselines that came into no set. `all`: of a database
// that is gone, with the set in force.
void FreeBaselines(DatabaseSlot* slot, bool all);

// The sections of a model, what was published with it in the place of its rates (ModelSource), and the set of its
// baselines; invalid: they stand in the sections.
struct ModelBytes {
  std::string_view wire;
  std::string_view published;
  dsa_pointer baselines;

  // What core reads it from, for as long as anybody has it. Within CallCore; the set must be pinned, or in force in the
  // worker.
  ModelSource Source() const;
};

// The same with baselines that are in no set yet. In the worker, for as long as it lets them stand.
ModelSource SourceWithGathered(std::string_view wire, const dsa_pointer* of, int32 count);

// Counts out one who has counted himself in; none is all right.
void UnpinBaselines(dsa_pointer baselines);

}  // namespace privacy_score
