/*
 * shared_model.hpp - the model of a database in shared memory, which backends read where it lies.
 *
 * The worker puts a new one in the place of the old one while backends may still read that: a model is pinned for as
 * long as somebody reads it, and whoever leaves it last frees it. Nothing in between waits or raises, so a pin never
 * outlives what it was made for, and an idle connection keeps no old model in memory.
 */
#pragma once

#include <string_view>

#include "backend/state/shared_state.hpp"

namespace privacy_score {

struct SharedModel {
  pg_atomic_uint32 pins;  // of readers, and one of the slot that it is in
  int64 length;
  char bytes[FLEXIBLE_ARRAY_MEMBER];
};

struct PinnedModel {
  SharedModel* model;  // null: there is none
  uint64 version;
  uint64 built_for;  // the change that it reflects
  dsa_pointer place;
};

// To be given back by LeaveModel().
PinnedModel PinModel(DatabaseSlot* slot);

inline std::string_view BytesOf(const SharedModel* model) {
  return {model->bytes, static_cast<std::size_t>(model->length)};
}
// Those of the model in force; empty when there is none. In the worker, the only one that replaces it.
std::string_view ModelBytes(const DatabaseSlot* slot);

// A copy of a model in shared memory with one pin, that of the slot; none when it has no room.
dsa_pointer NewModel(const char* bytes, Size length);
// Gives back one pin of a model; none is all right.
void LeaveModel(dsa_pointer place);

}  // namespace privacy_score
