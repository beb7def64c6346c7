/*
 * dp_grant.cpp - see dp_grant.hpp.
 */
#include "backend/dp/dp_grant.hpp"

extern "C" {
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/dp/dp_settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

constexpr int kLongestPeriodMonths = 1200;

bool entering = false;

// Raises unless the period is from a second to a hundred years, and no part of it is negative.
void RequirePeriod(const Interval* period) {
  const bool negative = period->month < 0 || period->day < 0 || period->time < 0;
  const bool short_one = period->month == 0 && period->day == 0 && period->time < USECS_PER_SEC;
  const double months = period->month + period->day / 30.0 + static_cast<double>(period->time) / (30.0 * USECS_PER_DAY);
  if (negative || short_one || months > kLongestPeriodMonths)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("period must be from 1 second to 100 years, not %s",
                           DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(period)))),
                    errhint("After each period the budget is whole again; without one it is given once.")));
}

// Lets a budget under the same names, whose role or relation is gone, go on as that of the new ones. What was answered
// before is about other rows or was told to somebody else: it is not repeated.
const char* const kTakeOver =
    "WITH old AS (SELECT b.id FROM privacy_score.budget b WHERE b.role = $1 AND b.relation_name = $3 AND b.scope = $6 "
    "AND (b.role_oid = 0 OR b.relation_oid = 0) AND b.role_oid IN (0, $2::pg_catalog.oid) "
    "AND b.relation_oid IN (0, $4::pg_catalog.oid) AND NOT EXISTS (SELECT FROM privacy_score.budget o "
    "WHERE o.role_oid = $2::pg_catalog.oid AND o.relation_oid = $4::pg_catalog.oid AND o.origin = $5 AND o.scope = $6) "
    "ORDER BY b.spent DESC LIMIT 1), "
    "forgotten AS (UPDATE privacy_score.release r SET answer = NULL FROM old WHERE r.budget_id = old.id "
    "AND r.answer IS NOT NULL) "
    "UPDATE privacy_score.budget b SET role_oid = $2::pg_catalog.oid, relation_oid = $4::pg_catalog.oid, origin = $5 "
    "FROM old WHERE b.id = old.id";

// Another period begins now, or, by a clock that was set back, when it was latest; with what was spent in the current
// one. Without one all that was ever spent counts.
const char* const kGrant =
    "INSERT INTO privacy_score.budget AS b (role, role_oid, relation_name, relation_oid, origin, epsilon, period, "
    "period_anchor, latest, unit, max_rows_per_unit, granted_by, granted_at, delta, settings, constant_work, scope) "
    "VALUES ($1, $2::pg_catalog.oid, $3, $4::pg_catalog.oid, $5, $6::pg_catalog.numeric, $7::pg_catalog.interval, "
    "pg_catalog.clock_timestamp(), pg_catalog.clock_timestamp(), $8, $9::pg_catalog.int4, $10, "
    "pg_catalog.clock_timestamp(), $11::pg_catalog.numeric, $12::text[], "
    "$13::pg_catalog.bool, $14) "
    "ON CONFLICT (relation_oid, role_oid, origin, scope) WHERE relation_oid <> 0 AND role_oid <> 0 DO UPDATE SET "
    "epsilon = EXCLUDED.epsilon, delta = EXCLUDED.delta, unit = EXCLUDED.unit, max_rows_per_unit = "
    "EXCLUDED.max_rows_per_unit, "
    "granted_by = EXCLUDED.granted_by, granted_at = EXCLUDED.granted_at, revoked_at = NULL, period = EXCLUDED.period, "
    "settings = EXCLUDED.settings, constant_work = EXCLUDED.constant_work, "
    "period_anchor = CASE WHEN b.period::text IS NOT DISTINCT FROM EXCLUDED.period::text THEN b.period_anchor "
    "ELSE GREATEST(EXCLUDED.period_anchor, b.latest) END, "
    "period_number = CASE WHEN b.period::text IS NOT DISTINCT FROM EXCLUDED.period::text THEN b.period_number ELSE 0 "
    "END, "
    "spent_before = CASE WHEN EXCLUDED.period IS NULL THEN 0 "
    "WHEN b.period::text = EXCLUDED.period::text THEN b.spent_before "
    "ELSE (SELECT n.spent - n.spent_now FROM privacy_score.budget_now n WHERE n.id = b.id) END, "
    "delta_before = CASE WHEN EXCLUDED.period IS NULL THEN 0 "
    "WHEN b.period::text = EXCLUDED.period::text THEN b.delta_before "
    "ELSE (SELECT n.delta_spent - n.delta_now FROM privacy_score.budget_now n WHERE n.id = b.id) END";

const char* const kMakeKey =
    "INSERT INTO privacy_score.ledger_key (key) SELECT pg_catalog.sha256("
    "pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || "
    "pg_catalog.uuid_send(pg_catalog.gen_random_uuid())) ON CONFLICT DO NOTHING";

}  // namespace

void RequireAnswerable(Oid relation) {
  const char* name = get_rel_name(relation);
  if (!HasRows(relation))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" has no rows that could be counted", name),
                    errhint("Give budgets for tables, partitioned and foreign tables, views and materialized views.")));
  if (IsCatalogSchema(get_rel_namespace(relation)))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is a system catalog", name),
                    errhint("Give budgets for relations with data of persons.")));
  if (isAnyTempNamespace(get_rel_namespace(relation)))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is a temporary table", name),
                    errdetail("Other sessions cannot read it."), errhint("Give a budget for a table that stays.")));
}

const char* PeriodArgument(FunctionCallInfo fcinfo, int number) {
  if (PG_ARGISNULL(number)) return nullptr;
  RequirePeriod(PG_GETARG_INTERVAL_P(number));
  return DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(number)));
}

const char* DeltaArgument(FunctionCallInfo fcinfo, int number) {
  if (PG_ARGISNULL(number)) return nullptr;
  const char* delta = DecimalArgument(fcinfo, number, "delta");
  if (strcmp(delta, "0") == 0) return delta;
  if (strncmp(delta, "0.", 2) != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("delta must be from 0 to below 1, not %s", delta),
                    errhint("It is a probability, and should be well below one over the number of persons.")));
  (void)NormalDecimal("delta", PG_GETARG_NUMERIC(number));
  return delta;
}

void EnterBudget(const GrantRequest* request) {
  const char* args[] = {request->role,
                        TextOfOid(request->role_oid),
                        CanonicalRelationName(request->relation),
                        TextOfOid(request->relation),
                        DatabaseIdentity(),
                        request->epsilon,
                        request->period,
                        request->unit,
                        psprintf("%d", request->max_rows_per_unit),
                        GetUserNameFromId(GetUserId(), false),
                        request->delta,
                        SettingsOfReading(),
                        request->constant_work ? "true" : "false",
                        NameOfScope(request->scope)};
  const char* names[] = {args[0], args[1], args[2], args[3], args[4], args[13]};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(kMakeKey);
  (void)InternalValue("SELECT privacy_score.tidy_budgets()");
  RunInternal(kTakeOver, 6, names);
  PG_TRY();
  {
    entering = true;
    RunInternal(kGrant, 14, args);
  }
  PG_FINALLY();
  { entering = false; }
  PG_END_TRY();
  LeaveInternal(&scope);
}

bool TakeBackBudget(Oid role, Oid relation, BudgetScope budget_scope) {
  const char* args[] = {TextOfOid(role), TextOfOid(relation), NameOfScope(budget_scope)};
  InternalScope scope;
  EnterInternal(&scope);
  const uint64 revoked = RunInternal(
      "UPDATE privacy_score.budget b SET revoked_at = pg_catalog.clock_timestamp() FROM privacy_score.budget_now n "
      "WHERE n.id = b.id AND b.revoked_at IS NULL AND n.role_oid = $1::pg_catalog.oid "
      "AND n.relation_oid = $2::pg_catalog.oid AND n.scope = $3",
      lengthof(args), args);
  LeaveInternal(&scope);
  return revoked > 0;
}

bool EntersBudget() { return entering; }

char* DatabaseIdentity() { return psprintf(UINT64_FORMAT "/%u", GetSystemIdentifier(), MyDatabaseId); }

const char* NameOfScope(BudgetScope scope) { return scope == BudgetScope::kPerson ? "person" : "relation"; }

}  // namespace privacy_score
