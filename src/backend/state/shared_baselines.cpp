/*
 * shared_baselines.cpp - see shared_baselines.hpp.
 */
#include "backend/state/shared_baselines.hpp"

extern "C" {
#include "storage/ipc.h"
}

namespace privacy_score {

namespace {

Size SizeOfBaseline(int64 length) { return offsetof(SharedBaseline, bytes) + static_cast<Size>(length); }
Size SizeOfSet(int32 count) { return offsetof(SharedBaselines, of) + static_cast<Size>(count) * sizeof(dsa_pointer); }

SharedBaseline* BaselineAt(dsa_pointer place) { return SharedAt<SharedBaseline>(place); }
SharedBaselines* SetAt(dsa_pointer place) { return SharedAt<SharedBaselines>(place); }

// The pin of one model of this process. A model may end anywhere in core, so nothing of the server is called for it; a
// process that ends leaves all that it has.
class Pin {
 public:
  explicit Pin(SharedBaselines* set) : set_(set), next_(first), previous_(nullptr) {
    if (next_ != nullptr) next_->previous_ = this;
    first = this;
    pg_atomic_fetch_add_u32(&set_->pins, 1);
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  ~Pin() {
    if (set_ == nullptr) return;
    Leave();
    (previous_ != nullptr ? previous_->next_ : first) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }
  static void LeaveAll() {
    for (Pin* pin = first; pin != nullptr; pin = pin->next_) pin->Leave();
    first = nullptr;
  }

 private:
  void Leave() {
    pg_atomic_fetch_sub_u32(&set_->pins, 1);
    set_ = nullptr;
  }

  static Pin* first;
  SharedBaselines* set_;  // null: left
  Pin *next_, *previous_;
};
Pin* Pin::first = nullptr;

void LeavePins(int, Datum) { Pin::LeaveAll(); }

void FreeSet(dsa_pointer place) {
  SharedBaselines* set = SetAt(place);
  for (int32 i = 0; i < set->count; ++i) {
    SharedBaseline* baseline = BaselineAt(set->of[i]);
    if (--baseline->sets == 0) FreeShared(set->of[i], SizeOfBaseline(baseline->length));
  }
  FreeShared(place, SizeOfSet(set->count));
}

}  // namespace

const SharedBaselines* BaselinesInForce(const DatabaseSlot* slot) {
  return DsaPointerIsValid(slot->baselines) ? SetAt(slot->baselines) : nullptr;
}

dsa_pointer FindSharedBaseline(const DatabaseSlot* slot, int64 id) {
  const SharedBaselines* set = BaselinesInForce(slot);
  for (int32 i = 0; set != nullptr && i < set->count; ++i)
    if (BaselineAt(set->of[i])->id == id) return set->of[i];
  return InvalidDsaPointer;
}

int32 BaselinesLeftOut(const DatabaseSlot* slot) {
  const SharedBaselines* set = BaselinesInForce(slot);
  int32 left_out = 0;
  for (int32 i = 0; set != nullptr && i < set->count; ++i)
    if (!BaselineAt(set->of[i])->whole) ++left_out;
  return left_out;
}

bool IsLeftOut(const DatabaseSlot* slot, const char* role) {
  const SharedBaselines* set = BaselinesInForce(slot);
  for (int32 i = 0; set != nullptr && i < set->count; ++i) {
    const SharedBaseline* baseline = BaselineAt(set->of[i]);
    if (!baseline->whole && strcmp(NameStr(baseline->role), role) == 0) return true;
  }
  return false;
}

int64 RoomForBaselines() { return static_cast<int64>(SharedAreaSize() / 4 * 3); }

dsa_pointer NewSharedBaseline(DatabaseSlot* slot, int64 id, std::string_view bytes) {
  const auto length = static_cast<int64>(bytes.size());
  const dsa_pointer place = AllocateShared(SizeOfBaseline(length));
  if (!DsaPointerIsValid(place)) return place;
  SharedBaseline* baseline = BaselineAt(place);
  baseline->id = id;
  baseline->length = length;
  memcpy(baseline->bytes, bytes.data(), bytes.size());
  baseline->next = slot->loose_baselines;
  slot->loose_baselines = place;
  return place;
}

dsa_pointer NewSharedBaselines(DatabaseSlot* slot, const dsa_pointer* of, int32 count) {
  const dsa_pointer place = AllocateShared(SizeOfSet(count));
  if (!DsaPointerIsValid(place)) return place;
  SharedBaselines* set = SetAt(place);
  pg_atomic_init_u32(&set->pins, 1);
  set->count = count;
  for (int32 i = 0; i < count; ++i) {
    set->of[i] = of[i];
    ++BaselineAt(of[i])->sets;
  }
  for (dsa_pointer* at = &slot->loose_baselines; DsaPointerIsValid(*at);) {
    SharedBaseline* loose = BaselineAt(*at);
    if (loose->sets > 0)
      *at = loose->next;
    else
      at = &loose->next;
  }
  return place;
}

void ReplaceBaselines(DatabaseSlot* slot, dsa_pointer fresh) {
  const dsa_pointer old = slot->baselines;
  slot->baselines = fresh;
  if (!DsaPointerIsValid(old)) return;
  SetAt(old)->next = slot->old_baselines;
  slot->old_baselines = old;
  UnpinBaselines(old);
}

void FreeBaselines(DatabaseSlot* slot, bool all) {
  if (all) ReplaceBaselines(slot, InvalidDsaPointer);
  while (DsaPointerIsValid(slot->loose_baselines)) {
    const dsa_pointer loose = slot->loose_baselines;
    slot->loose_baselines = BaselineAt(loose)->next;
    FreeShared(loose, SizeOfBaseline(BaselineAt(loose)->length));
  }
  for (dsa_pointer* at = &slot->old_baselines; DsaPointerIsValid(*at);) {
    SharedBaselines* set = SetAt(*at);
    if (!all && pg_atomic_read_u32(&set->pins) > 0) {
      at = &set->next;
      continue;
    }
    const dsa_pointer place = *at;
    *at = set->next;
    FreeSet(place);
  }
}

static std::vector<LentBaseline> Lend(const dsa_pointer* of, int32 count) {
  std::vector<LentBaseline> lent;
  for (int32 i = 0; i < count; ++i) {
    const SharedBaseline* baseline = BaselineAt(of[i]);
    lent.push_back({baseline->id, {baseline->bytes, static_cast<std::size_t>(baseline->length)}});
  }
  return lent;
}

ModelSource SourceWithGathered(std::string_view wire, const dsa_pointer* of, int32 count) {
  return {wire, Lend(of, count), nullptr};
}

ModelSource ModelBytes::Source() const {
  ModelSource source(wire);
  if (DsaPointerIsValid(baselines)) {
    static bool registered = false;
    if (!registered) on_shmem_exit(LeavePins, Datum(0));
    registered = true;
    SharedBaselines* set = SetAt(baselines);
    source = ModelSource(wire, Lend(set->of, set->count), std::make_shared<Pin>(set));
  }
  source.published = published;
  return source;
}

void UnpinBaselines(dsa_pointer baselines) {
  if (DsaPointerIsValid(baselines)) pg_atomic_fetch_sub_u32(&SetAt(baselines)->pins, 1);
}

}  // namespace privacy_score
