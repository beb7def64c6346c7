/*
 * shared_model.cpp - see shared_model.hpp.
 */
#include "backend/state/shared_model.hpp"

namespace privacy_score {

namespace {

SharedModel* ModelAt(dsa_pointer place) { return static_cast<SharedModel*>(dsa_get_address(SharedArea(), place)); }

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
  }
  LWLockRelease(slot->lock);
  return pinned;
}

std::string_view ModelBytes(const DatabaseSlot* slot) {
  return DsaPointerIsValid(slot->model) ? BytesOf(ModelAt(slot->model)) : std::string_view();
}

dsa_pointer NewModel(const char* bytes, Size length) {
  const dsa_pointer place = AllocateShared(SizeOf(static_cast<int64>(length)));
  if (!DsaPointerIsValid(place)) return place;
  SharedModel* model = ModelAt(place);
  pg_atomic_init_u32(&model->pins, 1);
  model->length = static_cast<int64>(length);
  memcpy(model->bytes, bytes, length);
  return place;
}

void LeaveModel(dsa_pointer place) {
  if (!DsaPointerIsValid(place)) return;
  SharedModel* model = ModelAt(place);
  if (pg_atomic_sub_fetch_u32(&model->pins, 1) == 0) FreeShared(place, SizeOf(model->length));
}

}  // namespace privacy_score
