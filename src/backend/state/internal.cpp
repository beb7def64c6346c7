/*
 * internal.cpp - see internal.hpp.
 */
#include "backend/state/internal.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "backend/server/compat.hpp"
#include "backend/state/watching.hpp"

Oid ExtensionOwner() {
  HeapTuple tuple = SearchSysCache1(NAMESPACENAME, CStringGetDatum("privacy_score"));
  if (!HeapTupleIsValid(tuple)) return InvalidOid;
  const Oid owner = reinterpret_cast<Form_pg_namespace>(GETSTRUCT(tuple))->nspowner;
  ReleaseSysCache(tuple);
  return owner;
}

bool ExtensionIsCurrent() {
  Relation relation = table_open(ExtensionRelationId, AccessShareLock);
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

Oid RequireExtension() {
  const Oid owner = ExtensionOwner();
  if (!OidIsValid(owner))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("extension privacy_score is not in this database"),
                    errhint("Run CREATE EXTENSION privacy_score.")));
  return owner;
}

void EnterInternal(InternalScope* scope, Oid user) {
  if (!OidIsValid(user)) user = RequireExtension();
  GetUserIdAndSecContext(&scope->user, &scope->security_context);
  SetUserIdAndSecContext(user, scope->security_context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
  scope->guc_nest_level = NewGUCNestLevel();
  SetWithin("search_path", "pg_catalog, pg_temp");
  ConnectSpi();
  scope->uncounted = BeginUncounted(Uncounted::kAll);
}

void LeaveInternal(const InternalScope* scope) {
  EndUncounted(scope->uncounted);
  SPI_finish();
  AtEOXact_GUC(false, scope->guc_nest_level);
  SetUserIdAndSecContext(scope->user, scope->security_context);
}

namespace {

int ExecuteInternal(const char* sql, int nargs, const char* const* args) {
  TextArguments arguments;
  FillTextArguments(&arguments, nargs, args);
  return SPI_execute_with_args(sql, nargs, arguments.types, arguments.values, arguments.nulls, false, 0);
}

}  // namespace

uint64 RunInternal(const char* sql, int nargs, const char* const* args) {
  if (ExecuteInternal(sql, nargs, args) < 0) elog(ERROR, "could not run an internal statement");
  if (SPI_tuptable != nullptr) SPI_freetuptable(SPI_tuptable);
  return SPI_processed;
}

char* InternalValue(const char* sql, int nargs, const char* const* args) {
  if (ExecuteInternal(sql, nargs, args) < 0) elog(ERROR, "could not run an internal query");
  if (SPI_tuptable == nullptr || SPI_processed == 0) return nullptr;
  return FieldText(0, 0);
}

void PutInternalRows(FunctionCallInfo fcinfo, const char* sql, int nargs, const char* const* args) {
  InitMaterializedSRF(fcinfo, 0);
  auto* info = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  InternalScope scope;
  EnterInternal(&scope);
  SetWithin("datestyle", "ISO");
  if (ExecuteInternal(sql, nargs, args) < 0) elog(ERROR, "could not run an internal query");
  for (uint64 row = 0; row < SPI_processed; ++row) tuplestore_puttuple(info->setResult, SPI_tuptable->vals[row]);
  LeaveInternal(&scope);
}

void KeepAbstractions() { RunInternal("LOCK TABLE privacy_score.abstraction IN ROW SHARE MODE"); }

void LockAbstractions() { RunInternal("LOCK TABLE privacy_score.abstraction IN SHARE ROW EXCLUSIVE MODE"); }

void SetWithin(const char* name, const char* value) {
  set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

char* TextOfOid(Oid value) { return psprintf("%u", value); }

char* TextOfInteger(int64 value) { return psprintf(INT64_FORMAT, value); }

char* TextOfDay(DateADT day) { return DatumGetCString(DirectFunctionCall1(date_out, DateADTGetDatum(day))); }

void AppendArrayElement(StringInfo array, const char* text) {
  appendStringInfoString(array, array->len == 1 ? "\"" : ",\"");
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') appendStringInfoChar(array, '\\');
    appendStringInfoChar(array, *c);
  }
  appendStringInfoChar(array, '"');
}

void RequirePrimary(const char* function) {
  if (RecoveryInProgress())
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot execute %s() on a standby", function),
                    errhint("Run it on the primary: what it writes is replicated.")));
}

bool MayReadRole(Oid role) { return role == GetUserId() || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS); }

void RequireMayReadAll(const char* function) {
  if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for function %s", function),
                    errhint("It tells about all roles: members of pg_read_all_stats may call it.")));
}

Oid ReadableRole(const char* name) {
  const Oid role = get_role_oid(name, true);
  if (OidIsValid(role) ? MayReadRole(role) : has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS)) return role;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for the history of role \"%s\"", name),
           errhint("A role reads its own history; pg_read_all_stats reads all.")));
}

void RequireKnownRole(const char* role, Oid role_id) {
  if (OidIsValid(role_id)) return;
  const char* args[] = {role};
  InternalScope scope;
  EnterInternal(&scope);
  const char* known = InternalValue(
      "SELECT 1 WHERE EXISTS (SELECT FROM privacy_score.baseline WHERE role = $1) "
      "OR EXISTS (SELECT FROM privacy_score.session WHERE role = $1)",
      1, args);
  LeaveInternal(&scope);
  if (known == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role \"%s\" does not exist", role),
                    errhint("privacy_score.stat_roles lists the roles that have been recorded.")));
}
