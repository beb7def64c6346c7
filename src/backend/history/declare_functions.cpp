/*
 * declare_functions.cpp - protect(), unprotect(), dependencies.
 *
 * Each change is announced at commit (NoteDeclaration), so that the worker rebuilds the model that live scoring reads.
 */
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/catalog/relation_concerns.hpp"
#include "backend/history/declare_notices.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/type_reads.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_protect);
PG_FUNCTION_INFO_V1(ps_protect_literal);
PG_FUNCTION_INFO_V1(ps_unprotect);
PG_FUNCTION_INFO_V1(ps_confirm_dependency);
PG_FUNCTION_INFO_V1(ps_withdraw_dependency);
}

namespace {

// Takes out the declaration of relation $1, or that of a dropped one of its name $2.
const char* const kForget =
    "DELETE FROM privacy_score.protected_relation p WHERE p.relation = $1::pg_catalog.oid OR (p.name = $2 "
    "AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = p.relation))";

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
                    errmsg("determinant and dependent must be two columns, not \"%s\" twice", determinant),
                    errhint("A dependency says that the values of the first column determine those of the second.")));
  const char* args[] = {CanonicalRelationName(relation), determinant, dependent, GetUserNameFromId(GetUserId(), false)};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(sql, 4, args);
  LeaveInternal(&scope);
  ConcernRelation(relation);
  NoteDeclaration();
}

// Raises when the name of one column is a list of several.
void RequireNoList(Oid relation, const char* subject) {
  if (subject[0] == '{' || strchr(subject, ',') == nullptr || get_attnum(relation, subject) > 0) return;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                  errmsg("column \"%s\" of relation \"%s\" does not exist", subject, RequireRelation(relation)),
                  errhint("Several columns are written in braces: '{%s}'.", subject)));
}

}  // namespace

// protect(relation, subject)
Datum ps_protect(PG_FUNCTION_ARGS) {
  RequirePrimary("protect");
  RequireArgument(fcinfo, 0, "relation");
  const Oid relation = PG_GETARG_OID(0);
  RequireOwner(relation);
  RequireProtectable(relation);
  const char* subject = nullptr;
  if (!PG_ARGISNULL(1)) {
    (void)ColumnsArgument(fcinfo, 1, "subject", relation,
                          "Leave subject out for the primary key, or the row where there is none.");
    subject = LiteralOfArray(PG_GETARG_DATUM(1));
  }
  const char* args[] = {TextOfOid(relation), CanonicalRelationName(relation), subject,
                        GetUserNameFromId(GetUserId(), false)};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(kForget, 2, args);
  // A protected relation that has borne this name and was renamed since keeps its protection.
  RunInternal(
      "UPDATE privacy_score.protected_relation p SET name = c.name FROM privacy_score.canonical_relation c "
      "WHERE c.relation = p.relation AND p.name = $2",
      2, args);
  RunInternal(
      "INSERT INTO privacy_score.protected_relation (relation, name, subject, declared_by) "
      "VALUES ($1::pg_catalog.oid::pg_catalog.regclass, $2, $3::pg_catalog.name[], $4)",
      4, args);
  // Rates are against the declared subject, which may be another one now.
  RunInternal("DELETE FROM privacy_score.rate WHERE $2 = ANY (sources)", 2, args);
  if (subject == nullptr) NoteSubject(relation);
  LeaveInternal(&scope);
  ConcernRelation(relation);
  NoteDeclaration();
  WarnOfTypes(relation);
  WarnUnlessPreloaded();
  PG_RETURN_VOID();
}

// protect(relation, subject) with a literal, whose type the parser takes for text: an array's, or the name of a column.
Datum ps_protect_literal(PG_FUNCTION_ARGS) {
  LOCAL_FCINFO(call, 2);
  InitFunctionCallInfoData(*call, fcinfo->flinfo, 2, fcinfo->fncollation, fcinfo->context, fcinfo->resultinfo);
  call->args[0] = fcinfo->args[0];
  call->args[1] = fcinfo->args[1];
  if (!PG_ARGISNULL(1)) {
    const char* subject = text_to_cstring(PG_GETARG_TEXT_PP(1));
    if (!PG_ARGISNULL(0)) RequireNoList(PG_GETARG_OID(0), subject);
    const Datum name = DirectFunctionCall1(namein, CStringGetDatum(subject));
    Datum names[] = {name};
    call->args[1].value = subject[0] == '{'
                              ? OidInputFunctionCall(F_ARRAY_IN, pstrdup(subject), NAMEOID, -1)
                              : PointerGetDatum(construct_array(names, 1, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR));
  }
  return ps_protect(call);
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
  ConcernRelation(relation);
  NoteDeclaration();
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

}  // namespace privacy_score
