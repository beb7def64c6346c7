/*
 * end_user_labels.cpp - see end_user_labels.hpp.
 *
 * The whole table is kept, by the OIDs of roles: what a lookup costs does not depend on how often names change, and
 * where nobody is labelled nothing is looked up. It is out of date when a label has changed anywhere (the number of
 * such changes is shared) and when a role has, whose name may be another's by now.
 */
#include "backend/state/end_user_labels.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
}

#include "backend/state/label_names.hpp"
#include "backend/state/own_scan.hpp"
#include "backend/state/shared_state.hpp"
#include "backend/state/watching.hpp"
#include "core/principal/end_user.hpp"

namespace privacy_score {

namespace {

constexpr AttrNumber kRoleColumn = 1, kEndUserColumn = 2, kLabelColumn = 3;

struct LabelKey {
  Oid role;
  char end_user[privacy_score::kMostEndUserBytes + 1];
};

struct LabelEntry {
  LabelKey key;
  EndUserLabel label;
};

struct {
  MemoryContext context;
  HTAB* entries;
  uint64 forgotten, labels_version;  // how often each had changed when it was read
  TimestampTz read_at;
} kept;

uint64 forgotten = 1;  // how often something has happened here that makes them out of date

LabelKey LabelKeyOf(Oid role, const char* end_user) {
  LabelKey key;
  memset(&key, 0, sizeof key);
  key.role = role;
  strlcpy(key.end_user, end_user, sizeof key.end_user);
  return key;
}

EndUserLabel LabelNamed(const char* name) {
  if (strcmp(name, kDpOnlyLabel) == 0) return EndUserLabel::kDpOnly;
  return strcmp(name, kExemptLabel) == 0 ? EndUserLabel::kExempt : EndUserLabel::kNone;
}

// The text in a column of a row, palloc'd; of none of them NULL is possible.
char* LabelColumnText(const OwnScan& scan, HeapTuple row, AttrNumber column) {
  bool null;
  const Datum value = heap_getattr(row, column, RelationGetDescr(scan.table), &null);
  return null ? pstrdup("") : TextDatumGetCString(value);
}

void TakeLabel(const OwnScan& scan, HeapTuple row, HTAB* entries) {
  bool null;
  const Datum name = heap_getattr(row, kRoleColumn, RelationGetDescr(scan.table), &null);
  const Oid role = null ? InvalidOid : get_role_oid(NameStr(*DatumGetName(name)), true);
  if (!OidIsValid(role)) return;
  const LabelKey key = LabelKeyOf(role, LabelColumnText(scan, row, kEndUserColumn));
  static_cast<LabelEntry*>(hash_search(entries, &key, HASH_ENTER, nullptr))->label =
      LabelNamed(LabelColumnText(scan, row, kLabelColumn));
}

// Reads the table. What is kept stays when this raises.
void ReadLabels() {
  // First: what changes meanwhile makes it out of date again.
  const uint64 forgotten_before = forgotten;
  const uint64 version = pg_atomic_read_u64(&ps_shared->role_labels_version);
  MemoryContext context =
      AllocSetContextCreate(CurrentMemoryContext, "privacy_score labels of end users", ALLOCSET_SMALL_SIZES);
  HASHCTL control = {};
  control.keysize = sizeof(LabelKey);
  control.entrysize = sizeof(LabelEntry);
  control.hcxt = context;
  HTAB* entries = hash_create("privacy_score labels of end users", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  MemoryContext rows = AllocSetContextCreate(context, "privacy_score rows", ALLOCSET_SMALL_SIZES);
  MemoryContext before = MemoryContextSwitchTo(rows);
  OwnScan scan;
  if (OpenOwnScan(&scan, "end_user_label", nullptr, nullptr)) {
    for (HeapTuple row = systable_getnext(scan.scan); HeapTupleIsValid(row); row = systable_getnext(scan.scan))
      TakeLabel(scan, row, entries);
    CloseOwnScan(&scan);
  }
  MemoryContextSwitchTo(before);
  MemoryContextDelete(rows);
  MemoryContextSetParent(context, TopMemoryContext);
  if (kept.context != nullptr) MemoryContextDelete(kept.context);
  kept.context = context;
  kept.entries = entries;
  kept.forgotten = forgotten_before;
  kept.labels_version = version;
  kept.read_at = GetCurrentStatementStartTimestamp();
}

// Replicated changes are not announced on a standby.
bool MayHaveBeenReplicated() {
  return GetCurrentStatementStartTimestamp() - kept.read_at > 2 * USECS_PER_SEC && RecoveryInProgress();
}

// What is in force; null for none. A transaction that has changed labels reads them each time: it may take that back.
HTAB* Entries() {
  if (ps_shared == nullptr) return nullptr;
  const bool current = kept.forgotten == forgotten &&
                       kept.labels_version == pg_atomic_read_u64(&ps_shared->role_labels_version) &&
                       !LabelsChangedHere() && !MayHaveBeenReplicated();
  if (!current && IsTransactionState()) ReadLabels();
  return kept.entries;
}

}  // namespace

bool AnyEndUserLabelled() {
  HTAB* entries = Entries();
  return entries != nullptr && hash_get_num_entries(entries) > 0;
}

EndUserLabel LabelOfEndUser(Oid role, const char* end_user) {
  HTAB* entries = Entries();
  if (entries == nullptr || hash_get_num_entries(entries) == 0) return EndUserLabel::kNone;
  const LabelKey key = LabelKeyOf(role, end_user);
  const auto* entry = static_cast<const LabelEntry*>(hash_search(entries, &key, HASH_FIND, nullptr));
  return entry == nullptr ? EndUserLabel::kNone : entry->label;
}

void ForgetEndUserLabels() { ++forgotten; }

}  // namespace privacy_score
