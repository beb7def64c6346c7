/*
 * prepared_changes.cpp - see prepared_changes.hpp.
 */
#include "backend/state/prepared_changes.hpp"

extern "C" {
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
}

#include "backend/state/installed_extension.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/own_scan.hpp"

namespace privacy_score {

namespace {

constexpr const char* kTable = "prepared_change";

// A column of a row; false for NULL.
bool KeptColumn(const OwnScan& scan, HeapTuple row, const char* column, Datum* value) {
  bool null;
  *value = heap_getattr(row, get_attnum(RelationGetRelid(scan.table), column), RelationGetDescr(scan.table), &null);
  return !null;
}

bool KeptFlag(const OwnScan& scan, HeapTuple row, const char* column) {
  Datum value;
  return KeptColumn(scan, row, column, &value) && DatumGetBool(value);
}

bool IsOfPrepared(const OwnScan& scan, HeapTuple row, const char* gid) {
  Datum value;
  return KeptColumn(scan, row, "gid", &value) && strcmp(TextDatumGetCString(value), gid) == 0 &&
         TransactionIdIsInProgress(HeapTupleHeaderGetXmin(row->t_data));
}

void SetKept(::Relation table, const char* column, Datum value, Datum* values, bool* nulls) {
  const AttrNumber number = get_attnum(RelationGetRelid(table), column);
  if (number <= 0) elog(ERROR, "table %s has no column %s", kTable, column);
  values[number - 1] = value;
  nulls[number - 1] = false;
}

HeapTuple RowToKeep(::Relation table, const char* gid, const KeptChanges& changes) {
  TupleDesc columns = RelationGetDescr(table);
  auto* values = static_cast<Datum*>(palloc0(columns->natts * sizeof(Datum)));
  auto* nulls = static_cast<bool*>(palloc(columns->natts * sizeof(bool)));
  memset(nulls, true, columns->natts * sizeof(bool));
  SetKept(table, "gid", CStringGetTextDatum(gid), values, nulls);
  SetKept(table, "model", BoolGetDatum(changes.model), values, nulls);
  SetKept(table, "labels", BoolGetDatum(changes.labels), values, nulls);
  if (changes.concerns != nullptr) SetKept(table, "concerns", PointerGetDatum(changes.concerns), values, nulls);
  return heap_form_tuple(columns, values, nulls);
}

}  // namespace

// Below SQL: a transaction that has become read-only or is published can be prepared, too, and in serializable ones
// nothing is read that another one writes. A table that this transaction has made whoever commits it cannot open.
void KeepChangesForPrepared(const char* gid) {
  const KeptChanges changes = ChangesToAnnounce();
  if (!changes.model && !changes.labels) return;
  const Oid oid = OwnRelation(kTable);
  if (!OidIsValid(oid) || !ExtensionIsCurrent()) return;  // refused at PREPARE (watching.cpp)
  ::Relation table = try_table_open(oid, RowExclusiveLock);
  if (table == nullptr) return;
  const bool kept = table->rd_createSubid == InvalidSubTransactionId;
  if (kept) {
    HeapTuple row = RowToKeep(table, gid, changes);
    heap_insert(table, row, GetCurrentCommandId(true), HEAP_INSERT_NO_LOGICAL, nullptr);
    CommandCounterIncrement();
    simple_heap_delete(table, &row->t_self);
    CommandCounterIncrement();
  }
  table_close(table, NoLock);
  if (kept) NoteChangesKept();
}

KeptChanges ChangesOfPrepared(const char* gid) {
  KeptChanges found = {};
  const Oid table = OwnRelation(kTable);
  if (ps_shared == nullptr || RecoveryInProgress() || !OidIsValid(table)) return found;
  // Who waits for the transaction to end, such as DROP EXTENSION, must not be waited for.
  if (!ConditionalLockRelationOid(table, AccessShareLock)) return {true, true, true, nullptr};
  OwnScan scan;
  if (!OpenOwnScan(&scan, kTable, nullptr, nullptr, 0, SnapshotAny)) return found;
  for (HeapTuple row = systable_getnext(scan.scan); HeapTupleIsValid(row); row = systable_getnext(scan.scan)) {
    if (!IsOfPrepared(scan, row, gid)) continue;
    found.model |= KeptFlag(scan, row, "model");
    found.labels |= KeptFlag(scan, row, "labels");
    Datum concerns;
    if (!KeptColumn(scan, row, "concerns", &concerns)) continue;
    // Of a second one, about to be prepared under the same name in vain, what it has is added.
    found.concerns = JoinConcerns(found.concerns, DatumGetByteaPCopy(concerns));
  }
  CloseOwnScan(&scan);
  return found;
}

}  // namespace privacy_score
