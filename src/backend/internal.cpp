/*
 * internal.cpp - see internal.hpp.
 */
#include "internal.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"
}

#include "catalog_relations.hpp"
#include "compat.hpp"
#include "core/abstraction.hpp"
#include "watching.hpp"

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

Oid ReadableRole(const char* name) {
  const Oid role = get_role_oid(name, true);
  if (OidIsValid(role) ? MayReadRole(role) : has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS)) return role;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for the history of role \"%s\"", name),
           errhint("A role reads its own history; pg_read_all_stats reads all.")));
}

const char* CanonicalRelationName(Oid relation) {
  const char* name = RequireRelation(relation);
  return psprintf("%s.%s", CanonicalSchema(get_rel_namespace(relation)), QuoteName(name));
}

const char* QuotedColumn(Oid relation, int column) {
  return quote_identifier(get_attname(relation, static_cast<AttrNumber>(column), false));
}

Oid RelationOfCanonicalName(const char* name) {
  const RangeVar* parts = makeRangeVarFromNameList(QualifiedNameParts(name));
  if (parts->schemaname == nullptr) return RelnameGetRelid(parts->relname);
  const bool is_temporary = strcmp(parts->schemaname, "pg_temp") == 0;
  const Oid schema =
      is_temporary ? LookupExplicitNamespace("pg_temp", true) : get_namespace_oid(parts->schemaname, true);
  return OidIsValid(schema) ? get_relname_relid(parts->relname, schema) : InvalidOid;
}

bool FindCanonicalColumn(const char* column, RelationFinder find, Oid* relation, AttrNumber* number) {
  const Size length = privacy_score::RelationOfColumn(column).size();
  if (length == 0) return false;
  *relation = find(pnstrdup(column, length));
  List* parts = NIL;
  if (!OidIsValid(*relation) || !SplitIdentifierString(pstrdup(column + length + 1), '.', &parts) ||
      list_length(parts) != 1)
    return false;
  *number = get_attnum(*relation, static_cast<char*>(linitial(parts)));
  return *number > 0;
}

const char* RequireRelation(Oid relation) {
  const char* name = get_rel_name(relation);
  if (name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation),
                    errhint("Give an existing relation; this one may have been dropped.")));
  return name;
}

Oid OwnerOfRelation(Oid relation) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return InvalidOid;
  const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
  ReleaseSysCache(tuple);
  return owner;
}

void RequireOwner(Oid relation) {
  const char* name = RequireRelation(relation);
  if (!OwnsRelation(relation, GetUserId())) aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, name);
}

bool HasRows(Oid relation) {
  const char kind = get_rel_relkind(relation);
  return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_MATVIEW ||
         kind == RELKIND_FOREIGN_TABLE || kind == RELKIND_VIEW;
}

void RequireRows(Oid relation) {
  const char* name = RequireRelation(relation);
  if (!HasRows(relation))
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

bool MaySelect(Oid relation) {
  return pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
         pg_attribute_aclcheck_all(relation, GetUserId(), ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK;
}

bool MaySelect(Oid relation, AttrNumber column) {
  return pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
         pg_attribute_aclcheck(relation, column, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

void RequireSelect(Oid relation, AttrNumber column) {
  if (MaySelect(relation, column)) return;
  aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relation)), get_rel_name(relation));
}
