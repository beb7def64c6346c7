/*
 * declare_functions.cpp - protect(), unprotect(), dependencies, and the check of security labels.
 *
 * Each change is announced at commit (NoteModelChange), so that the worker rebuilds the model that live scoring reads.
 */
#include "catalog_relations.hpp"
#include "internal.hpp"
#include "watching.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/seclabel.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(ps_protect);
PG_FUNCTION_INFO_V1(ps_unprotect);
PG_FUNCTION_INFO_V1(ps_confirm_dependency);
PG_FUNCTION_INFO_V1(ps_withdraw_dependency);
}

namespace {

// Takes out the declaration of relation $1, or that of a dropped one of its name $2.
const char* const kForget =
    "DELETE FROM privacy_score.protected_relation p WHERE p.relation = $1::pg_catalog.oid OR (p.name = $2 "
    "AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = p.relation))";

// Raises when the relation is of a kind that holds no rows of its own, or is part of another.
void RequireProtectable(Oid relation) {
  const char kind = get_rel_relkind(relation);
  const char* name = get_rel_name(relation);
  if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW &&
      kind != RELKIND_FOREIGN_TABLE)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" cannot be protected", name),
                    errhint("Protect tables, partitioned tables, foreign tables or materialized views; a view is seen "
                            "through to the tables under it.")));
  if (IsCatalogSchema(get_rel_namespace(relation)))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("system catalog \"%s\" cannot be protected", name),
                    errhint("Reading catalogs is not scored.")));
  if (get_rel_relispartition(relation))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("partition \"%s\" cannot be protected by itself", name),
                    errhint("Protect the partitioned table that it belongs to.")));
  if (isAnyTempNamespace(get_rel_namespace(relation)))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("temporary table \"%s\" cannot be protected", name)));
}

// Raises unless every element names a column, none is NULL and none is named twice.
void CheckSubject(Oid relation, ArrayType* subject) {
  Datum* names;
  bool* nulls;
  int count;
  deconstruct_array(subject, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &names, &nulls, &count);
  if (count == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("subject must name at least one column"),
                    errhint("Leave subject out for the primary key, or the row where there is none.")));
  for (int i = 0; i < count; ++i) {
    if (nulls[i]) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("subject must not contain NULL")));
    RequireColumn(relation, NameStr(*DatumGetName(names[i])));
    for (int k = 0; k < i; ++k)
      if (namestrcmp(DatumGetName(names[k]), NameStr(*DatumGetName(names[i]))) == 0)
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
                        errmsg("column \"%s\" is named twice in subject", NameStr(*DatumGetName(names[i])))));
  }
}

// Shared by the two dependency functions: checks the arguments and runs `sql` with (relation, determinant, dependent,
// role).
void ChangeDependency(FunctionCallInfo fcinfo, const char* sql) {
  const Oid relation = PG_GETARG_OID(0);
  const char* determinant = NameStr(*PG_GETARG_NAME(1));
  const char* dependent = NameStr(*PG_GETARG_NAME(2));
  RequireOwner(relation);
  RequireColumn(relation, determinant);
  RequireColumn(relation, dependent);
  if (strcmp(determinant, dependent) == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("determinant and dependent must be two columns, not \"%s\" twice", determinant)));
  const char* args[] = {CanonicalRelationName(relation), determinant, dependent, GetUserNameFromId(GetUserId(), false)};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(sql, 4, args);
  LeaveInternal(&scope);
  NoteModelChange();
}

}  // namespace

// protect(relation, subject)
Datum ps_protect(PG_FUNCTION_ARGS) {
  RequirePrimary("protect");
  if (PG_ARGISNULL(0)) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("relation must not be NULL")));
  const Oid relation = PG_GETARG_OID(0);
  RequireOwner(relation);
  RequireProtectable(relation);
  const char* subject = nullptr;
  if (!PG_ARGISNULL(1)) {
    CheckSubject(relation, PG_GETARG_ARRAYTYPE_P(1));
    Oid output;
    bool varlena;
    getTypeOutputInfo(NAMEARRAYOID, &output, &varlena);
    subject = OidOutputFunctionCall(output, PG_GETARG_DATUM(1));
  }
  const char* args[] = {TextOfOid(relation), CanonicalRelationName(relation), subject,
                        GetUserNameFromId(GetUserId(), false)};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(kForget, 2, args);
  // A protected relation that has borne this name and was renamed since keeps its protection.
  RunInternal(
      "UPDATE privacy_score.protected_relation p "
      "SET name = privacy_score.canonical_name(n.nspname) || '.' || privacy_score.canonical_name(c.relname) "
      "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
      "WHERE c.oid = p.relation AND p.name = $2",
      2, args);
  RunInternal(
      "INSERT INTO privacy_score.protected_relation (relation, name, subject, declared_by) "
      "VALUES ($1::pg_catalog.oid::pg_catalog.regclass, $2, $3::pg_catalog.name[], $4)",
      4, args);
  // Rates are against the declared subject, which may be another one now.
  RunInternal("DELETE FROM privacy_score.rate WHERE $2 = ANY (sources)", 2, args);
  LeaveInternal(&scope);
  NoteModelChange();
  PG_RETURN_VOID();
}

// unprotect(relation)
Datum ps_unprotect(PG_FUNCTION_ARGS) {
  RequirePrimary("unprotect");
  const Oid relation = PG_GETARG_OID(0);
  RequireOwner(relation);
  const char* args[] = {TextOfOid(relation), CanonicalRelationName(relation)};
  InternalScope scope;
  EnterInternal(&scope);
  const uint64 removed = RunInternal(kForget, 2, args);
  RunInternal("DELETE FROM privacy_score.rate WHERE $2 = ANY (sources)", 2, args);
  LeaveInternal(&scope);
  if (removed == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("relation \"%s\" is not protected", get_rel_name(relation)),
                    errhint("privacy_score.protected_relations lists the protected ones.")));
  NoteModelChange();
  PG_RETURN_VOID();
}

// confirm_dependency(relation, determinant, dependent)
Datum ps_confirm_dependency(PG_FUNCTION_ARGS) {
  RequirePrimary("confirm_dependency");
  ChangeDependency(fcinfo,
                   "INSERT INTO privacy_score.dependency (relation_name, determinant, dependent, confirmed_by) "
                   "VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING");
  PG_RETURN_VOID();
}

// withdraw_dependency(relation, determinant, dependent)
Datum ps_withdraw_dependency(PG_FUNCTION_ARGS) {
  RequirePrimary("withdraw_dependency");
  ChangeDependency(fcinfo,
                   "DELETE FROM privacy_score.dependency "
                   "WHERE relation_name = $1 AND determinant = $2 AND dependent = $3");
  PG_RETURN_VOID();
}

// Called by the server for every SECURITY LABEL FOR privacy_score; raises when the label cannot be.
void CheckSecurityLabel(const ObjectAddress* object, const char* label) {
  if (object->classId == AuthIdRelationId) {
    if (!superuser())
      ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to label a role"),
                      errhint("Only a superuser decides which roles are watched.")));
    if (label != nullptr && strcmp(label, "watched") != 0 && strcmp(label, "exempt") != 0 &&
        strcmp(label, "dp only") != 0)
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" is not a label of roles", label),
                      errhint("Labels of roles are 'watched', 'exempt' and 'dp only'.")));
    NoteRoleLabelChange();
    return;
  }
  if (object->classId != RelationRelationId || object->objectSubId == 0)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("privacy_score labels columns and roles only"),
                    errhint("Use SECURITY LABEL FOR privacy_score ON COLUMN or ON ROLE.")));
  if (label != nullptr && strcmp(label, "identifier") != 0 && strcmp(label, "quasi-identifier") != 0 &&
      strcmp(label, "sensitive") != 0 && strcmp(label, "public") != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" is not a label of columns", label),
                    errhint("Labels of columns are 'identifier', 'quasi-identifier', 'sensitive' and 'public'.")));
  if (label != nullptr && strcmp(label, "public") == 0)
    RequireOrigins(object->objectId, static_cast<AttrNumber>(object->objectSubId));
  // Whether a copy's column is public is part of what sessions remember of it.
  CacheInvalidateRelcacheByRelid(object->objectId);
  NoteModelChange();
}
