/*
 * own_scan.cpp - see own_scan.hpp.
 */
#include "backend/state/own_scan.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/namespace.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
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

}  // namespace

Oid OwnRelation(const char* name) {
  const Oid schema = get_namespace_oid("privacy_score", true);
  if (!OidIsValid(schema) || !OidIsValid(get_extension_oid("privacy_score", true))) return InvalidOid;
  return get_relname_relid(name, schema);
}

bool OpenOwnScan(OwnScan* scan, const char* table, const char* index, ScanKey key, int keys, Snapshot snapshot) {
  scan->table = OpenOwnTable(table);
  if (scan->table == nullptr) return false;
  const Oid index_oid = index == nullptr ? InvalidOid : OwnRelation(index);
  scan->scan =
      systable_beginscan(scan->table, index_oid, OidIsValid(index_oid), snapshot, key == nullptr ? 0 : keys, key);
  return true;
}

void CloseOwnScan(OwnScan* scan) {
  systable_endscan(scan->scan);
  table_close(scan->table, AccessShareLock);
}

}  // namespace privacy_score
