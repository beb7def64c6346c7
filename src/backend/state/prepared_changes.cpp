/*
 * prepared_changes.cpp - see prepared_changes.hpp.
 */
#include "backend/state/prepared_changes.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
}

#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
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

}  // namespace

void KeepChangesForPrepared(const char* gid) {
  const KeptChanges changes = ChangesToAnnounce();
  if (!changes.model && !changes.labels) return;
  if (!OidIsValid(OwnRelation(kTable)) || !ExtensionIsCurrent()) return;  // refused at PREPARE (watching.cpp)
  const char* concerns = changes.concerns == nullptr
                             ? nullptr
                             : TextDatumGetCString(DirectFunctionCall2(binary_encode, PointerGetDatum(changes.concerns),
                                                                       CStringGetTextDatum("hex")));
  const char* args[] = {gid, changes.model ? "t" : "f", changes.labels ? "t" : "f", concerns};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(
      "INSERT INTO privacy_score.prepared_change (gid, model, labels, concerns) "
      "VALUES ($1, $2::pg_catalog.bool, $3::pg_catalog.bool, pg_catalog.decode($4, 'hex'))",
      4, args);
  RunInternal("DELETE FROM privacy_score.prepared_change");
  LeaveInternal(&scope);
  NoteChangesKept();
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
    if (KeptColumn(scan, row, "concerns", &concerns)) found.concerns = DatumGetByteaPCopy(concerns);
  }
  CloseOwnScan(&scan);
  return found;
}

}  // namespace privacy_score
