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

// Where in a model the rates begin, and where the counts of sessions that reveal something, and under which settings
// these were counted.
struct ModelParts {
  int64 rates_at;
  int64 counts_at;
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
// What core reads it from. Within CallCore.
ModelSource SourceOf(const PinnedModel& pinned);

// The bytes of the model in force, empty when there is none, and those before its rates. In the worker, the only one
// that replaces it.
std::string_view ModelBytes(const DatabaseSlot* slot);
std::string_view DefinitionBytes(const DatabaseSlot* slot);
// Whether it has just these bytes before its counts, which follow from them and from settings like these. Likewise.
bool ModelFollowsFrom(const DatabaseSlot* slot, std::string_view bytes, const ScoreSettings& settings);
// What core reads it from. Within CallCore, in the worker.
ModelSource SourceInForce(const DatabaseSlot* slot);

// A copy of a model in shared memory with one pin, that of the slot; none when it has no room.
dsa_pointer NewModel(const char* bytes, Size length, const ModelParts& parts);
// Gives back one pin of a model; none is all right.
void LeaveModel(dsa_pointer place);

}  // namespace privacy_score
