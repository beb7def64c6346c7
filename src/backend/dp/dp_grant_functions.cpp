/*
 * dp_grant_functions.cpp - giving and taking back budgets, and what identifies them across databases.
 *
 * A grant is an ordinary row of the owner's transaction: it counts once that is committed, since the accountant,
 * another process, has to see it. What was spent under a name is never forgotten: a role or relation that was dropped
 * and made again goes on with the budget of its predecessor when it is granted one.
 */
#include "backend/state/internal.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(ps_dp_grant);
PG_FUNCTION_INFO_V1(ps_dp_revoke);
PG_FUNCTION_INFO_V1(ps_database_identity);
PG_FUNCTION_INFO_V1(ps_budget_restored);
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/dp/dp_budget.hpp"
#include "backend/dp/dp_settings.hpp"
#include "backend/watch/type_reads.hpp"

namespace {

constexpr int kMostRowsPerUnit = 1000000;
constexpr int kLongestPeriodMonths = 1200;

// While dp_grant() enters a budget: any other row that is inserted comes out of a dump.
bool entering = false;

// A database other than this one has other OIDs.
char* DatabaseIdentity() { return psprintf(UINT64_FORMAT "/%u", GetSystemIdentifier(), MyDatabaseId); }

// Raises unless noisy questions can be asked about a relation of this kind.
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

// Raises unless the values of the column have an order, by which rows are sorted.
void RequireUnit(Oid relation, const char* unit) {
  const AttrNumber number = RequireColumn(relation, unit);
  const Oid type = getBaseType(get_atttype(relation, number));
  const TypeCacheEntry* entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
  if (!OidIsValid(entry->eq_opr) || !OidIsValid(entry->lt_opr))
    ereport(ERROR,
            (errcode(ERRCODE_WRONG_OBJECT_TYPE),
             errmsg("column \"%s\" cannot be a unit: values of type %s have no order", unit, format_type_be(type)),
             errhint("Name a column of a type of the server's own that can be compared.")));
}

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

// The limit of delta, of which zero allows none, as a decimal; null for no limit. Raises 22023.
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

// Lets a budget under the same names, whose role or relation is gone, go on as that of the new ones. What was answered
// before is about other rows or was told to somebody else: it is not repeated.
const char* const kTakeOver =
    "WITH old AS (SELECT b.id FROM privacy_score.budget b WHERE b.role = $1 AND b.relation_name = $3 "
    "AND (b.role_oid = 0 OR b.relation_oid = 0) AND b.role_oid IN (0, $2::pg_catalog.oid) "
    "AND b.relation_oid IN (0, $4::pg_catalog.oid) AND NOT EXISTS (SELECT FROM privacy_score.budget o "
    "WHERE o.role_oid = $2::pg_catalog.oid AND o.relation_oid = $4::pg_catalog.oid AND o.origin = $5) "
    "ORDER BY b.spent DESC LIMIT 1), "
    "forgotten AS (UPDATE privacy_score.release r SET answer = NULL FROM old WHERE r.budget_id = old.id "
    "AND r.answer IS NOT NULL) "
    "UPDATE privacy_score.budget b SET role_oid = $2::pg_catalog.oid, relation_oid = $4::pg_catalog.oid, origin = $5 "
    "FROM old WHERE b.id = old.id";

// Another period begins now, or, by a clock that was set back, when it was latest; with what was spent in the current
// one. Without one all that was ever spent counts.
const char* const kGrant =
    "INSERT INTO privacy_score.budget AS b (role, role_oid, relation_name, relation_oid, origin, epsilon, period, "
    "period_anchor, latest, unit, max_rows_per_unit, granted_by, granted_at, delta, settings, constant_work) "
    "VALUES ($1, $2::pg_catalog.oid, $3, $4::pg_catalog.oid, $5, $6::pg_catalog.numeric, $7::pg_catalog.interval, "
    "pg_catalog.clock_timestamp(), pg_catalog.clock_timestamp(), $8, $9::pg_catalog.int4, $10, "
    "pg_catalog.clock_timestamp(), $11::pg_catalog.numeric, $12::text[], "
    "$13::pg_catalog.bool) "
    "ON CONFLICT (relation_oid, role_oid, origin) WHERE relation_oid <> 0 AND role_oid <> 0 DO UPDATE SET "
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

const char* const kRevoke =
    "UPDATE privacy_score.budget b SET revoked_at = pg_catalog.clock_timestamp() FROM privacy_score.budget_now n "
    "WHERE n.id = b.id AND b.revoked_at IS NULL AND n.role_oid = $1::pg_catalog.oid "
    "AND n.relation_oid = $2::pg_catalog.oid";

}  // namespace

// dp_grant(role, relation, epsilon, period, unit, max_rows_per_unit, delta, constant_work)
Datum ps_dp_grant(PG_FUNCTION_ARGS) {
  RequirePrimary("dp_grant");
  RequireArgument(fcinfo, 0, "role");
  RequireArgument(fcinfo, 1, "relation");
  if (PG_ARGISNULL(2))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("dp_grant() needs an epsilon"),
                    errhint("privacy_score.dp_grant(role, relation, epsilon => 1): how much all answers together may "
                            "tell of a person; below 1 little, above 10 nearly all. With several rows a person also "
                            "unit => 'column', max_rows_per_unit => 5.")));
  RequireArgument(fcinfo, 5, "max_rows_per_unit");
  RequireArgument(fcinfo, 7, "constant_work");
  const Oid relation = PG_GETARG_OID(1);
  RequireOwner(relation);
  RequireAnswerable(relation);
  const char* role = NameStr(*PG_GETARG_NAME(0));
  const Oid role_oid = get_role_oid(role, false);
  const char* epsilon = NormalDecimal("epsilon", PG_GETARG_NUMERIC(2));
  const char* period = nullptr;
  if (!PG_ARGISNULL(3)) {
    RequirePeriod(PG_GETARG_INTERVAL_P(3));
    period = DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(3)));
  }
  const char* unit = PG_ARGISNULL(4) ? nullptr : NameStr(*PG_GETARG_NAME(4));
  const int32 max_rows = PG_GETARG_INT32(5);
  if (unit != nullptr) RequireUnit(relation, unit);
  if (max_rows < 1 || max_rows > kMostRowsPerUnit)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("max_rows_per_unit must be from 1 to %d, not %d", kMostRowsPerUnit, max_rows),
                    errhint("So many rows of each unit count at most, and noise grows with it.")));
  if (unit == nullptr && max_rows != 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("max_rows_per_unit needs a unit"),
                    errhint("Name the column that tells whose rows they are.")));
  const char* args[] = {role,
                        TextOfOid(role_oid),
                        CanonicalRelationName(relation),
                        TextOfOid(relation),
                        DatabaseIdentity(),
                        epsilon,
                        period,
                        unit,
                        psprintf("%d", max_rows),
                        GetUserNameFromId(GetUserId(), false),
                        DeltaArgument(fcinfo, 6),
                        SettingsOfReading(),
                        PG_GETARG_BOOL(7) ? "true" : "false"};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(kMakeKey);
  (void)InternalValue("SELECT privacy_score.tidy_budgets()");
  RunInternal(kTakeOver, 5, args);
  PG_TRY()
    ;
    {
      entering = true;
      RunInternal(kGrant, 13, args);
    }
    PG_FINALLY();
    { entering = false; }
  PG_END_TRY();
  LeaveInternal(&scope);
  WarnOfTypes(relation);
  PG_RETURN_VOID();
}

// dp_revoke(role, relation)
Datum ps_dp_revoke(PG_FUNCTION_ARGS) {
  RequirePrimary("dp_revoke");
  const char* role = NameStr(*PG_GETARG_NAME(0));
  const Oid relation = PG_GETARG_OID(1);
  RequireOwner(relation);
  const char* args[] = {TextOfOid(get_role_oid(role, false)), TextOfOid(relation)};
  InternalScope scope;
  EnterInternal(&scope);
  const uint64 revoked = RunInternal(kRevoke, 2, args);
  LeaveInternal(&scope);
  if (revoked == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("role \"%s\" has no privacy budget for relation \"%s\"", role, get_rel_name(relation)),
                    errhint("privacy_score.dp_budget lists the budgets.")));
  PG_RETURN_VOID();
}

// database_identity()
Datum ps_database_identity(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  PG_RETURN_TEXT_P(cstring_to_text(DatabaseIdentity()));
}

// Trigger: a row that comes out of a dump is looked up by its names. An OID 0 stays: what was gone there is not what
// bears its name here.
Datum ps_budget_restored(PG_FUNCTION_ARGS) {
  if (!CALLED_AS_TRIGGER(fcinfo)) elog(ERROR, "budget_restored() is a trigger function");
  const auto* trigger = reinterpret_cast<TriggerData*>(fcinfo->context);
  HeapTuple row = trigger->tg_trigtuple;
  TupleDesc columns = RelationGetDescr(trigger->tg_relation);
  if (entering) return PointerGetDatum(row);
  int numbers[] = {SPI_fnumber(columns, "role_oid"), SPI_fnumber(columns, "relation_oid"),
                   SPI_fnumber(columns, "origin")};
  bool nulls[] = {false, false, false};
  Datum values[] = {SPI_getbinval(row, columns, numbers[0], &nulls[0]),
                    SPI_getbinval(row, columns, numbers[1], &nulls[1]), CStringGetTextDatum(DatabaseIdentity())};
  if (DatumGetObjectId(values[0]) != InvalidOid)
    values[0] = ObjectIdGetDatum(get_role_oid(SPI_getvalue(row, columns, SPI_fnumber(columns, "role")), true));
  if (DatumGetObjectId(values[1]) != InvalidOid) {
    const char* name = SPI_getvalue(row, columns, SPI_fnumber(columns, "relation_name"));
    values[1] = ObjectIdGetDatum(RelationOfCanonicalName(name));
  }
  return PointerGetDatum(heap_modify_tuple_by_cols(row, columns, 3, numbers, values, nulls));
}
