/*
 * shared_model.cpp - see shared_model.hpp.
 */
#include "backend/state/shared_model.hpp"

namespace privacy_score {

namespace {

SharedModel* ModelAt(dsa_pointer place) { return SharedAt<SharedModel>(place); }

std::string_view AllBytes(const SharedModel* model) { return {model->bytes, static_cast<std::size_t>(model->length)}; }

std::string_view Definitions(const SharedModel* model) {
  return AllBytes(model).substr(0, static_cast<std::size_t>(model->parts.rates_at));
}

ModelBytes BytesWith(const SharedModel* model, dsa_pointer baselines) {
  if (!model->parts.published) return {AllBytes(model), {}, baselines};
  return {Definitions(model), AllBytes(model).substr(Definitions(model).size()), baselines};
}

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

ModelBytes BytesOf(const PinnedModel& pinned) { return BytesWith(pinned.model, pinned.baselines); }

ModelBytes BytesInForce(const DatabaseSlot* slot) {
  if (!DsaPointerIsValid(slot->model)) return {{}, {}, slot->baselines};
  return BytesWith(ModelAt(slot->model), slot->baselines);
}

std::string_view DefinitionBytes(const DatabaseSlot* slot) {
  return DsaPointerIsValid(slot->model) ? Definitions(ModelAt(slot->model)) : std::string_view();
}

bool ModelFollowsFrom(const DatabaseSlot* slot, const ModelParts& parts) {
  if (!DsaPointerIsValid(slot->model)) return false;
  const ModelParts& of = ModelAt(slot->model)->parts;
  return of.source_hash == parts.source_hash && of.source_length == parts.source_length &&
         RevealAlike(of.counted_under, parts.counted_under);
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
