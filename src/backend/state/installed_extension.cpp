/*
 * installed_extension.cpp - see installed_extension.hpp.
 */
#include "backend/state/installed_extension.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace privacy_score {

Oid ExtensionOwner() {
  HeapTuple tuple = SearchSysCache1(NAMESPACENAME, CStringGetDatum("privacy_score"));
  if (!HeapTupleIsValid(tuple)) return InvalidOid;
  const Oid owner = reinterpret_cast<Form_pg_namespace>(GETSTRUCT(tuple))->nspowner;
  ReleaseSysCache(tuple);
  return owner;
}

Oid RequireExtension() {
  const Oid owner = ExtensionOwner();
  if (!OidIsValid(owner))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("extension privacy_score is not in this database"),
                    errhint("Run CREATE EXTENSION privacy_score.")));
  return owner;
}

bool ExtensionIsCurrent() {
  ::Relation relation = table_open(ExtensionRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum("privacy_score"));
  SysScanDesc scan = systable_beginscan(relation, ExtensionNameIndexId, true, nullptr, 1, &key);
  HeapTuple tuple = systable_getnext(scan);
  bool same = false;
  if (HeapTupleIsValid(tuple)) {
    bool null;
    const Datum version = heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(relation), &null);
    same = !null && strcmp(TextDatumGetCString(version), PS_EXTENSION_VERSION) == 0;
  }
  systable_endscan(scan);
  table_close(relation, AccessShareLock);
  return same;
}

int NotCurrentMessage() {
  errmsg("extension privacy_score of this database is not of version %s", PS_EXTENSION_VERSION);
  errdetail("What sessions do is kept in memory until it is.");
  return errhint("Run ALTER EXTENSION privacy_score UPDATE.");
}

void RequireCurrentExtension() {
  if (!ExtensionIsCurrent()) ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), NotCurrentMessage()));
}

void RequirePrimary(const char* function) {
  if (RecoveryInProgress())
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot execute %s() on a standby", function),
                    errhint("Run it on the primary: what it writes is replicated.")));
}

void RequireReadCommitted(const char* function) {
  if (IsolationUsesXactSnapshot())
    ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                    errmsg("%s() must be called in a transaction of isolation level READ COMMITTED", function),
                    errhint("BEGIN ISOLATION LEVEL READ COMMITTED.")));
}

}  // namespace privacy_score
