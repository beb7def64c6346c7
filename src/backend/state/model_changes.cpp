/*
 * model_changes.cpp - see model_changes.hpp.
 */
#include "backend/state/model_changes.hpp"

#include <algorithm>

#include "core/statement/touched_relations.hpp"

namespace privacy_score {

namespace {

// 64 kB a database. Each name has two places, and its newest change is the older one of what stands there: beside 500
// tables that are declared at once 1 in 100 others shares both of its places with some, beside one table 1 in 16
// millions.
constexpr uint32 kPlaces = 8192;
constexpr uint32 kPlacesOfName = 2;

struct ChangeMarks {
  pg_atomic_uint64 places[kPlaces];
};

// What this transaction concerns, as places; `all`: there was no room for the table.
struct Concerns {
  bool any, all, baseline;
  uint64 places[kPlaces / 64];
};
Concerns concerns;

// As a prepared transaction keeps it, with a mark of the key that the places go by.
struct KeptConcerns {
  uint64 key_mark;
  Concerns concerns;
};

uint64 KeyMark() { return privacy_score::KeyedHash(ps_shared->hash_key, "concerns of prepared transactions"); }

// False for what was kept before a restart.
bool ReadKept(const bytea* bytes, KeptConcerns* kept) {
  if (VARSIZE(bytes) != VARHDRSZ + sizeof *kept) return false;
  memcpy(kept, VARDATA(bytes), sizeof *kept);
  return kept->key_mark == KeyMark();
}

struct NamePlaces {
  uint32 at[kPlacesOfName];
};

NamePlaces ConcernPlaces(Concern kind, std::string_view name) {
  const uint64 hash =
      privacy_score::FoldHash(static_cast<uint64>(kind), privacy_score::KeyedHash(ps_shared->hash_key, name));
  return {{static_cast<uint32>(hash % kPlaces), static_cast<uint32>((hash >> 32) % kPlaces)}};
}

// Raises a number that may have been raised further by now.
void RaiseTo(pg_atomic_uint64* number, uint64 value) {
  uint64 known = pg_atomic_read_u64(number);
  while (known < value && !pg_atomic_compare_exchange_u64(number, &known, value)) {
  }
}

// The table, made on first use; null without room.
ChangeMarks* MakeMarks(DatabaseSlot* slot) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  if (!DsaPointerIsValid(slot->change_marks)) slot->change_marks = AllocateShared(sizeof(ChangeMarks));
  const dsa_pointer at = slot->change_marks;
  LWLockRelease(slot->lock);
  return DsaPointerIsValid(at) ? SharedAt<ChangeMarks>(at) : nullptr;
}

}  // namespace

void ConcernName(Concern kind, std::string_view name) {
  if (ps_shared == nullptr) return;
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr) return;
  concerns.any = true;
  concerns.all |= MakeMarks(slot) == nullptr;
  for (const uint32 place : ConcernPlaces(kind, name).at) concerns.places[place / 64] |= uint64{1} << place % 64;
}

void ConcernBaseline(std::string_view role) {
  ConcernName(Concern::kRole, role);
  if (concerns.any) concerns.baseline = true;
}

void AnnounceChange(DatabaseSlot* slot) {
  const uint64 before = pg_atomic_fetch_add_u64(&slot->model_wanted, 1);
  // What has changed is visible to all by now, so a model that is begun with this number in sight reflects it.
  if (concerns.all) RaiseTo(&slot->all_changed, before + 1);
  if (concerns.any && DsaPointerIsValid(slot->change_marks)) {
    auto* marks = SharedAt<ChangeMarks>(slot->change_marks);
    for (uint32 place = 0; place < kPlaces; ++place)
      if ((concerns.places[place / 64] >> place % 64 & 1) != 0) RaiseTo(&marks->places[place], before + 1);
  }
  // A worker that has to take in others looks for further ones before it sleeps.
  if (before == slot->model_built_for) WakeWorker(slot);
  if (concerns.baseline) EnsureWorker(slot);
}

void ForgetConcerns() {
  if (concerns.any) memset(&concerns, 0, sizeof concerns);
}

bytea* ConcernsToKeep() {
  if (!concerns.any) return nullptr;
  KeptConcerns kept = {KeyMark(), concerns};
  auto* bytes = static_cast<bytea*>(palloc(VARHDRSZ + sizeof kept));
  SET_VARSIZE(bytes, VARHDRSZ + sizeof kept);
  memcpy(VARDATA(bytes), &kept, sizeof kept);
  return bytes;
}

const bytea* JoinConcerns(const bytea* one, bytea* other) {
  KeptConcerns joined, added;
  if (one == nullptr || !ReadKept(other, &added)) return other;
  if (!ReadKept(one, &joined)) return one;
  joined.concerns.all |= added.concerns.all;
  joined.concerns.baseline |= added.concerns.baseline;
  for (uint32 i = 0; i < lengthof(joined.concerns.places); ++i) joined.concerns.places[i] |= added.concerns.places[i];
  memcpy(VARDATA(other), &joined, sizeof joined);
  return other;
}

void TakeConcerns(const bytea* kept_bytes) {
  KeptConcerns kept;
  if (kept_bytes != nullptr && ReadKept(kept_bytes, &kept)) {
    concerns = kept.concerns;
    return;
  }
  concerns.any = concerns.all = concerns.baseline = true;
}

uint64 NewestChange(DatabaseSlot* slot, std::string_view role, std::string_view tokens) {
  uint64 newest = pg_atomic_read_u64(&slot->all_changed);
  if (!DsaPointerIsValid(slot->change_marks)) return newest;
  auto* marks = SharedAt<ChangeMarks>(slot->change_marks);
  const auto look = [&](Concern kind, std::string_view name) {
    uint64 of_name = UINT64_MAX;
    for (const uint32 place : ConcernPlaces(kind, name).at)
      of_name = std::min<uint64>(of_name, pg_atomic_read_u64(&marks->places[place]));
    newest = std::max(newest, of_name);
  };
  look(Concern::kRole, role);
  for (const std::string_view relation : privacy_score::RelationsNamedBy(tokens, kTokenEnd)) {
    look(Concern::kRelation, relation);
    look(Concern::kSchema, privacy_score::SchemaOfRelation(relation));
  }
  return newest;
}

void FreeChangeMarks(DatabaseSlot* slot) {
  FreeShared(slot->change_marks, sizeof(ChangeMarks));
  slot->change_marks = InvalidDsaPointer;
  pg_atomic_write_u64(&slot->all_changed, 0);
}

}  // namespace privacy_score
