/*
 * shared_model.hpp - the model of a database in shared memory, without the contents of its baselines
 * (shared_baselines.hpp).
 *
 * The worker puts a new one in the place of the old one while backends may still read that: a model is pinned for as
 * long as somebody reads it, and whoever leaves it last frees it. Nothing in between waits or raises, so a pin never
 * outlives what it was made for, and an idle connection keeps no old model in memory.
 */
#pragma once

#include "backend/state/shared_baselines.hpp"
#include "backend/state/shared_state.hpp"
#include "core/scoring/score_settings.hpp"

namespace privacy_score {

// Of a model: where its rates begin, and whether what stands there is what was published in their place, counts of
// sessions that reveal something and the rates packed; else they are as they were read, for that could not be made.
// What all of it was made of: the bytes as they were read, as a hash and their number, and the settings under which the
// sessions were counted.
struct ModelParts {
  int64 rates_at;
  bool published;
  uint64 source_hash;
  int64 source_length;
  ScoreSettings counted_under;
};

struct SharedModel {
  pg_atomic_uint32 pins;  // of readers, and one of the slot that it is in
  int64 length;
  ModelParts parts;
  char bytes[FLEXIBLE_ARRAY_MEMBER];
};

struct PinnedModel {
  SharedModel* model;  // null: there is none
  uint64 version;
  uint64 built_for;  // the change that it reflects
  dsa_pointer place;
  dsa_pointer baselines;
};

// To be given back by UnpinModel().
PinnedModel PinModel(DatabaseSlot* slot);
void UnpinModel(const PinnedModel& pinned);
ModelBytes BytesOf(const PinnedModel& pinned);

// The bytes of the model in force, empty when there is none, and those before its rates. In the worker, the only one
// that replaces it.
ModelBytes BytesInForce(const DatabaseSlot* slot);
std::string_view DefinitionBytes(const DatabaseSlot* slot);
// Whether it was made of what these parts say. Likewise.
bool ModelFollowsFrom(const DatabaseSlot* slot, const ModelParts& parts);

// A copy of a model in shared memory with one pin, that of the slot; none when it has no room.
dsa_pointer NewModel(const char* bytes, Size length, const ModelParts& parts);
// Gives back one pin of a model; none is all right.
void LeaveModel(dsa_pointer place);

}  // namespace privacy_score
