/*
 * shared_model.cpp - see shared_model.hpp.
 */
#include "backend/state/shared_model.hpp"

namespace privacy_score {

namespace {

SharedModel* ModelAt(dsa_pointer place) { return SharedAt<SharedModel>(place); }

std::string_view BytesOf(const SharedModel* model) { return {model->bytes, static_cast<std::size_t>(model->length)}; }

Size SizeOf(int64 length) { return offsetof(SharedModel, bytes) + static_cast<Size>(length); }

}  // namespace

PinnedModel PinModel(DatabaseSlot* slot) {
  PinnedModel pinned = {};
  LWLockAcquire(slot->lock, LW_SHARED);
  pinned.place = slot->model;
  pinned.version = pg_atomic_read_u64(&slot->model_version);
  pinned.built_for = slot->model_built_for;
  if (DsaPointerIsValid(pinned.place)) {
    pinned.model = ModelAt(pinned.place);
    pg_atomic_fetch_add_u32(&pinned.model->pins, 1);
    pinned.baselines = slot->baselines;
    if (DsaPointerIsValid(pinned.baselines))
      pg_atomic_fetch_add_u32(&SharedAt<SharedBaselines>(pinned.baselines)->pins, 1);
  }
  LWLockRelease(slot->lock);
  return pinned;
}

void UnpinModel(const PinnedModel& pinned) {
  LeaveModel(pinned.place);
  UnpinBaselines(pinned.baselines);
}

ModelSource SourceOf(const PinnedModel& pinned) { return SourceWith(BytesOf(pinned.model), pinned.baselines); }

ModelSource SourceInForce(const DatabaseSlot* slot) { return SourceWith(ModelBytes(slot), slot->baselines); }

std::string_view DefinitionBytes(const DatabaseSlot* slot) {
  if (!DsaPointerIsValid(slot->model)) return {};
  return ModelBytes(slot).substr(0, static_cast<std::size_t>(ModelAt(slot->model)->parts.rates_at));
}

bool ModelFollowsFrom(const DatabaseSlot* slot, std::string_view bytes, const ScoreSettings& settings) {
  if (!DsaPointerIsValid(slot->model)) return false;
  const ModelParts& parts = ModelAt(slot->model)->parts;
  return RevealAlike(parts.counted_under, settings) &&
         ModelBytes(slot).substr(0, static_cast<std::size_t>(parts.counts_at)) == bytes;
}

std::string_view ModelBytes(const DatabaseSlot* slot) {
  return DsaPointerIsValid(slot->model) ? BytesOf(ModelAt(slot->model)) : std::string_view();
}

dsa_pointer NewModel(const char* bytes, Size length, const ModelParts& parts) {
  const dsa_pointer place = AllocateShared(SizeOf(static_cast<int64>(length)));
  if (!DsaPointerIsValid(place)) return place;
  SharedModel* model = ModelAt(place);
  pg_atomic_init_u32(&model->pins, 1);
  model->length = static_cast<int64>(length);
  model->parts = parts;
  memcpy(model->bytes, bytes, length);
  return place;
}

void LeaveModel(dsa_pointer place) {
  if (!DsaPointerIsValid(place)) return;
  SharedModel* model = ModelAt(place);
  if (pg_atomic_sub_fetch_u32(&model->pins, 1) == 0) FreeShared(place, SizeOf(model->length));
}

}  // namespace privacy_score
