/*
 * internal.cpp - see internal.hpp.
 */
#include "internal.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
}

#include "catalog_relations.hpp"
#include "compat.hpp"
#include "watching.hpp"

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

void EnterInternal(InternalScope* scope, Oid user) {
  if (!OidIsValid(user)) user = RequireExtension();
  GetUserIdAndSecContext(&scope->user, &scope->security_context);
  SetUserIdAndSecContext(user, scope->security_context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
  scope->guc_nest_level = NewGUCNestLevel();
  set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "could not connect to SPI");
  scope->uncounted = BeginUncounted();
}

void LeaveInternal(const InternalScope* scope) {
  EndUncounted(scope->uncounted);
  SPI_finish();
  AtEOXact_GUC(false, scope->guc_nest_level);
  SetUserIdAndSecContext(scope->user, scope->security_context);
}

namespace {

int ExecuteInternal(const char* sql, int nargs, const char* const* args, bool read_only) {
  Oid types[12];
  Datum values[12];
  char nulls[12] = {};
  Assert(nargs <= 12);
  for (int i = 0; i < nargs; ++i) {
    types[i] = TEXTOID;
    nulls[i] = args[i] == nullptr ? 'n' : ' ';
    values[i] = args[i] == nullptr ? Datum(0) : CStringGetTextDatum(args[i]);
  }
  return SPI_execute_with_args(sql, nargs, types, values, nulls, read_only, 0);
}

}  // namespace

uint64 RunInternal(const char* sql, int nargs, const char* const* args) {
  if (ExecuteInternal(sql, nargs, args, false) < 0) elog(ERROR, "could not run an internal statement");
  if (SPI_tuptable != nullptr) SPI_freetuptable(SPI_tuptable);
  return SPI_processed;
}

char* InternalValue(const char* sql, int nargs, const char* const* args) {
  if (ExecuteInternal(sql, nargs, args, false) < 0) elog(ERROR, "could not run an internal query");
  if (SPI_tuptable == nullptr || SPI_processed == 0) return nullptr;
  char* value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
  if (value == nullptr) return nullptr;
  char* copy = static_cast<char*>(SPI_palloc(strlen(value) + 1));
  memcpy(copy, value, strlen(value) + 1);
  return copy;
}

char* TextOfOid(Oid value) { return psprintf("%u", value); }

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

Oid ReadableRole(const char* name) {
  const Oid role = get_role_oid(name, true);
  if (OidIsValid(role) ? MayReadRole(role) : has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS)) return role;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for the history of role \"%s\"", name),
           errhint("A role reads its own history; pg_read_all_stats reads all.")));
}

char* CanonicalRelationName(Oid relation) {
  const char* name = get_rel_name(relation);
  const Oid schema = get_rel_namespace(relation);
  const char* schema_name = OidIsValid(schema) ? get_namespace_name(schema) : nullptr;
  if (name == nullptr || schema_name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
  if (isAnyTempNamespace(schema)) schema_name = "pg_temp";
  return psprintf("%s.%s", QuoteName(schema_name), QuoteName(name));
}

Oid RelationOfCanonicalName(const char* name) {
  const RangeVar* parts = makeRangeVarFromNameList(QualifiedNameParts(name));
  if (parts->schemaname == nullptr) return RelnameGetRelid(parts->relname);
  const bool is_temporary = strcmp(parts->schemaname, "pg_temp") == 0;
  const Oid schema =
      is_temporary ? LookupExplicitNamespace("pg_temp", true) : get_namespace_oid(parts->schemaname, true);
  return OidIsValid(schema) ? get_relname_relid(parts->relname, schema) : InvalidOid;
}

void RequireOwner(Oid relation) {
  const char* name = get_rel_name(relation);
  if (name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
  if (!OwnsRelation(relation, GetUserId())) aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, name);
}

void RequireRows(Oid relation) {
  const char* name = get_rel_name(relation);
  if (name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
  const char kind = get_rel_relkind(relation);
  if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW &&
      kind != RELKIND_FOREIGN_TABLE && kind != RELKIND_VIEW)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" has no rows to measure", name),
                    errhint("Name a table, a view, a materialized view or a foreign table.")));
}

AttrNumber RequireColumn(Oid relation, const char* column) {
  const AttrNumber number = get_attnum(relation, column);
  if (number <= 0)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                    errmsg("column \"%s\" of relation \"%s\" does not exist", column, get_rel_name(relation)),
                    errhint("Name columns as they are stored, without quotes.")));
  return number;
}
