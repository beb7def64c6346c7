/*
 * relation_lock.cpp - see relation_lock.hpp.
 */
#include "backend/catalog/relation_lock.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "executor/tuptable.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
}

#include "backend/catalog/relation_access.hpp"

namespace privacy_score {

namespace {

// The number of the file of a relation as a snapshot shows it, null standing for now; InvalidOid when it is not there
// or has no file.
Oid FileAt(Oid relation, Snapshot snapshot) {
  ::Relation catalog = table_open(RelationRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
  SysScanDesc scan = systable_beginscan(catalog, ClassOidIndexId, true, snapshot, 1, &key);
  const HeapTuple tuple = systable_getnext(scan);
  const Oid file =
      HeapTupleIsValid(tuple) ? reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relfilenode : InvalidOid;
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return file;
}

// Whether a snapshot sees a row of a table.
bool SeesRow(::Relation table, Snapshot snapshot) {
  TupleTableSlot* slot = table_slot_create(table, nullptr);
  TableScanDesc scan = table_beginscan(table, snapshot, 0, nullptr);
  const bool sees = table_scan_getnextslot(scan, ForwardScanDirection, slot);
  table_endscan(scan);
  ExecDropSingleTupleTableSlot(slot);
  return sees;
}

// Whether rows that are there now are hidden from the active snapshot, and not only because they are new. Other kinds
// of rewriting keep what old snapshots see; but a relation that was empty then, has got rows and was compacted by one
// of them seems hidden too.
bool HidesRows(Oid relation) {
  const Oid file = FileAt(relation, GetActiveSnapshot());
  if (!OidIsValid(file) || file == FileAt(relation, nullptr)) return false;
  ::Relation table = relation_open(relation, NoLock);
  bool hides = false;
  if (RELKIND_HAS_STORAGE(table->rd_rel->relkind) && !SeesRow(table, GetActiveSnapshot())) {
    Snapshot now = RegisterSnapshot(GetLatestSnapshot());
    hides = SeesRow(table, now);
    UnregisterSnapshot(now);
  }
  relation_close(table, NoLock);
  return hides;
}

}  // namespace

void RequireLiveColumns(Oid relation, const Bitmapset* columns) {
  for (int number = -1; (number = bms_next_member(columns, number)) >= 0;)
    if (!OidIsValid(get_atttype(relation, static_cast<AttrNumber>(number))))
      ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                      errmsg("a column of relation \"%s\" does not exist any more", get_rel_name(relation)),
                      errhint("It was dropped in the meantime. Ask again.")));
}

List* LockForReading(Oid relation) {
  LockRelationOid(relation, AccessShareLock);
  (void)RequireRelation(relation);
  List* members = find_all_inheritors(relation, AccessShareLock, nullptr);
  const ListCell* cell;
  foreach (cell, members)
    if (ActiveSnapshotSet() && HidesRows(lfirst_oid(cell)))
      ereport(ERROR,
              (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
               errmsg("relation \"%s\" was rewritten after this statement began", get_rel_name(lfirst_oid(cell))),
               errdetail("The statement might see none of its rows."), errhint("Try again.")));
  return members;
}

}  // namespace privacy_score
