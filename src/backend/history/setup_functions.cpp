/*
 * setup_functions.cpp - check_setup(), suggest_labels(), prepare_uninstall() and import_policy().
 *
 * What is found is found by views of sql/95_setup.sql and the parts that follow it, which are read with the rights of
 * the extension's owner, so that the statistics of all tables tell. What import_policy() does it does with the
 * caller's.
 */
#include "backend/catalog/relation_access.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/role_access.hpp"

extern "C" {
#include "catalog/pg_authid.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
}

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_check_setup);
PG_FUNCTION_INFO_V1(ps_suggest_labels);
PG_FUNCTION_INFO_V1(ps_prepare_uninstall);
PG_FUNCTION_INFO_V1(ps_import_policy);
}

namespace {

// One statement of a policy.
struct Decision {
  enum Column { kStatement, kState, kProblem, kColumns };
  const char* statement;
  bool wanted;
  const char* row[kColumns];  // as it is shown
};

// Rows of (statement, state, problem), in the order in which they are run.
const char* const kDecisions =
    "WITH here AS MATERIALIZED (SELECT p.statement FROM "
    "privacy_score.policy_statements(privacy_score.export_policy()) p) "
    "SELECT s.statement, CASE WHEN s.problem IS NOT NULL THEN 'not possible' "
    "WHEN EXISTS (SELECT FROM here h WHERE h.statement = s.statement) THEN 'already so' ELSE 'wanted' END, s.problem, "
    "s.shown FROM privacy_score.policy_statements($1::pg_catalog.jsonb) s ORDER BY s.place, s.statement";

// The decisions of a policy, in the caller's memory. SPI is connected.
List* ReadDecisions(const char* policy) {
  const char* args[] = {policy};
  List* decisions = NIL;
  MemoryContext caller = CurrentMemoryContext;
  InternalScope scope;
  EnterInternal(&scope);
  char* const version = InternalValue("SELECT $1::pg_catalog.jsonb->>'version'", 1, args);
  if (version == nullptr || strcmp(version, "1") != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("this is no policy of version 1"),
                    errhint("Take what privacy_score.export_policy() has written.")));
  (void)InternalValue(kDecisions, 1, args);
  SPITupleTable* rows = SPI_tuptable;
  for (uint64 i = 0; i < SPI_processed; ++i) {
    char* fields[4];
    for (int field = 0; field < 4; ++field) fields[field] = SPI_getvalue(rows->vals[i], rows->tupdesc, field + 1);
    MemoryContext inner = MemoryContextSwitchTo(caller);
    auto* decision = static_cast<Decision*>(palloc(sizeof(Decision)));
    decision->statement = pstrdup(fields[0] == nullptr ? "" : fields[0]);
    decision->wanted = strcmp(fields[1], "wanted") == 0;
    decision->row[Decision::kStatement] = fields[3] == nullptr ? nullptr : pstrdup(fields[3]);
    decision->row[Decision::kState] = pstrdup(fields[1]);
    decision->row[Decision::kProblem] = fields[2] == nullptr ? nullptr : pstrdup(fields[2]);
    decisions = lappend(decisions, decision);
    MemoryContextSwitchTo(inner);
  }
  LeaveInternal(&scope);
  return decisions;
}

}  // namespace

// check_setup()
Datum ps_check_setup(PG_FUNCTION_ARGS) {
  RequireMayReadAll("check_setup");
  PutInternalRows(fcinfo,
                  "SELECT f.severity, f.subject, f.finding, f.suggestion FROM privacy_score.setup_finding f "
                  "ORDER BY pg_catalog.array_position('{critical,warning,info}'::text[], f.severity), f.place, "
                  "f.subject COLLATE \"C\", f.finding COLLATE \"C\"");
  return static_cast<Datum>(0);
}

// suggest_labels(relation)
Datum ps_suggest_labels(PG_FUNCTION_ARGS) {
  const Oid relation = PG_GETARG_OID(0);
  RequireRelation(relation);
  if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS)) RequireOwner(relation);
  RequireProtectable(relation);
  const char* args[] = {TextOfOid(relation)};
  PutInternalRows(fcinfo,
                  "SELECT l.attname, l.label, l.reason, l.suggestion FROM privacy_score.label_suggestion l "
                  "WHERE l.relation = $1::pg_catalog.oid ORDER BY l.attnum",
                  1, args);
  return static_cast<Datum>(0);
}

// prepare_uninstall()
Datum ps_prepare_uninstall(PG_FUNCTION_ARGS) {
  RequirePrimary("prepare_uninstall");
  InternalScope scope;
  EnterInternal(&scope);
  int labels = 0;
  // The next column with a label, until there is none.
  while (
      const char* statement = InternalValue(
          "SELECT pg_catalog.format('SECURITY LABEL FOR privacy_score ON COLUMN %s.%I IS NULL', "
          "l.objoid::pg_catalog.regclass, a.attname) FROM pg_catalog.pg_seclabel l "
          "JOIN pg_catalog.pg_attribute a ON a.attrelid = l.objoid AND a.attnum = l.objsubid "
          "WHERE l.provider = 'privacy_score' AND l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass LIMIT 1")) {
    RunInternal(statement);
    CommandCounterIncrement();
    ++labels;
  }
  LeaveInternal(&scope);
  ereport(NOTICE, (errmsg_plural("%d label was taken off a column", "%d labels were taken off columns",
                                 static_cast<unsigned long>(labels), labels)));
  PutInternalRows(
      fcinfo,
      "SELECT pg_catalog.row_number() OVER (ORDER BY s.place, s.statement COLLATE \"C\")::int, s.statement, "
      "s.reason FROM privacy_score.uninstall_step s ORDER BY 1");
  return static_cast<Datum>(0);
}

// import_policy(policy, dry_run)
Datum ps_import_policy(PG_FUNCTION_ARGS) {
  const bool dry_run = PG_GETARG_BOOL(1);
  if (!dry_run) RequirePrimary("import_policy");
  InitMaterializedSRF(fcinfo, 0);
  auto* info = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  AttInMetadata* meta = TupleDescGetAttInMetadata(info->setDesc);
  List* decisions = ReadDecisions(JsonbToCString(nullptr, &PG_GETARG_JSONB_P(0)->root, 0));
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "could not connect to SPI");
  ListCell* cell;
  foreach (cell, decisions) {
    auto* decision = static_cast<Decision*>(lfirst(cell));
    if (decision->wanted && !dry_run) {
      if (SPI_execute(decision->statement, false, 0) < 0) elog(ERROR, "could not run \"%s\"", decision->statement);
      decision->row[Decision::kState] = "done";
    }
    tuplestore_puttuple(info->setResult, BuildTupleFromCStrings(meta, const_cast<char**>(decision->row)));
  }
  SPI_finish();
  return static_cast<Datum>(0);
}

}  // namespace privacy_score
