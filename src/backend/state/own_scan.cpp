/*
 * own_scan.cpp - see own_scan.hpp.
 */
#include "backend/state/own_scan.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/namespace.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace privacy_score {

namespace {

// Opens a table of ours; null when the extension is not in this database. DROP EXTENSION may take the table away while
// its lock is waited for, and CREATE EXTENSION make another one.
::Relation OpenOwnTable(const char* name) {
  for (;;) {
    const Oid oid = OwnRelation(name);
    if (!OidIsValid(oid)) return nullptr;
    ::Relation table = try_table_open(oid, AccessShareLock);
    if (table != nullptr) return table;
    CHECK_FOR_INTERRUPTS();
  }
}

// Whether a table is read as a whole sooner than by an index: to open one for the first time in a process takes longer
// than to read a page a few times. Most connections that a short application opens look for no more.
bool ReadsSooner(::Relation table) {
  constexpr int kFewScans = 8;
  static int scans = 0;
  if (scans == kFewScans || RelationGetNumberOfBlocks(table) > 1) return false;
  ++scans;
  return true;
}

bool IsKeyColumn(AttrNumber column, const AttrNumber* columns, int count) {
  for (int i = 0; i < count; ++i)
    if (columns[i] == column) return true;
  return false;
}

// Whether a partial index leaves out nothing but rows in which one of these columns is null.
bool LeavesOutNulls(::Relation index, const AttrNumber* columns, int count) {
  ListCell* cell;
  foreach (cell, RelationGetIndexPredicate(index)) {
    if (!IsA(lfirst(cell), NullTest)) return false;
    const auto* test = static_cast<const NullTest*>(lfirst(cell));
    if (test->nulltesttype != IS_NOT_NULL || !IsA(test->arg, Var)) return false;
    if (!IsKeyColumn(reinterpret_cast<const Var*>(test->arg)->varattno, columns, count)) return false;
  }
  return true;
}

bool BeginsWith(::Relation index, const AttrNumber* columns, int count) {
  const Form_pg_index form = index->rd_index;
  if (!form->indisvalid || form->indcheckxmin || form->indnkeyatts < count) return false;
  for (int i = 0; i < count; ++i)
    if (form->indkey.values[i] != columns[i]) return false;
  return LeavesOutNulls(index, columns, count);
}

}  // namespace

Oid IndexOn(::Relation table, const AttrNumber* columns, int count) {
  List* indexes = RelationGetIndexList(table);
  Oid found = InvalidOid;
  ListCell* cell;
  foreach (cell, indexes) {
    ::Relation index = index_open(lfirst_oid(cell), AccessShareLock);
    if (BeginsWith(index, columns, count)) found = lfirst_oid(cell);
    index_close(index, AccessShareLock);
    if (OidIsValid(found)) break;
  }
  list_free(indexes);
  return found;
}

Oid OwnRelation(const char* name) {
  const Oid schema = get_namespace_oid("privacy_score", true);
  if (!OidIsValid(schema) || !OidIsValid(get_extension_oid("privacy_score", true))) return InvalidOid;
  return get_relname_relid(name, schema);
}

bool OpenOwnScan(OwnScan* scan, const char* table, const char* index, ScanKey key, int keys, Snapshot snapshot) {
  scan->table = OpenOwnTable(table);
  if (scan->table == nullptr) return false;
  const Oid index_oid = index == nullptr || ReadsSooner(scan->table) ? InvalidOid : OwnRelation(index);
  scan->scan =
      systable_beginscan(scan->table, index_oid, OidIsValid(index_oid), snapshot, key == nullptr ? 0 : keys, key);
  return true;
}

bool OpenOwnScanOf(OwnScan* scan, Oid table, ScanKey keys, int count) {
  constexpr int kMostKeys = 4;
  Assert(count <= kMostKeys);
  scan->table = OidIsValid(table) ? try_table_open(table, AccessShareLock) : nullptr;
  if (scan->table == nullptr) return false;
  AttrNumber columns[kMostKeys];
  for (int i = 0; i < count; ++i) columns[i] = keys[i].sk_attno;
  const Oid index = IndexOn(scan->table, columns, count);
  scan->scan = systable_beginscan(scan->table, index, OidIsValid(index), nullptr, count, keys);
  return true;
}

void CloseOwnScan(OwnScan* scan) {
  systable_endscan(scan->scan);
  table_close(scan->table, AccessShareLock);
}

}  // namespace privacy_score
