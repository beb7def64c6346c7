/*
 * relation_lock.cpp - see relation_lock.hpp.
 */
#include "relation_lock.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
}

#include "internal.hpp"

namespace {

// The number of the file of a relation as a snapshot shows it, null standing for now; InvalidOid when it is not there
// or has no file.
Oid FileAt(Oid relation, Snapshot snapshot) {
  Relation catalog = table_open(RelationRelationId, AccessShareLock);
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

}  // namespace

void RequireOldFile(Oid relation) {
  if (!ActiveSnapshotSet() || FileAt(relation, GetActiveSnapshot()) == FileAt(relation, nullptr)) return;
  ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                  errmsg("relation \"%s\" was rewritten after this statement began", get_rel_name(relation)),
                  errdetail("The statement would see none of its rows."), errhint("Try again.")));
}

void RequireLiveColumns(Oid relation, const Bitmapset* columns) {
  for (int number = -1; (number = bms_next_member(columns, number)) >= 0;)
    if (!OidIsValid(get_atttype(relation, static_cast<AttrNumber>(number))))
      ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                      errmsg("a column of relation \"%s\" does not exist any more", get_rel_name(relation)),
                      errhint("It was dropped in the meantime. Ask again.")));
}

void LockForReading(Oid relation) {
  LockRelationOid(relation, AccessShareLock);
  (void)RequireRelation(relation);
  ListCell* cell;
  foreach (cell, find_all_inheritors(relation, AccessShareLock, nullptr)) RequireOldFile(lfirst_oid(cell));
}
