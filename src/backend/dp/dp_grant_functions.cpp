/*
 * dp_grant_functions.cpp - giving and taking back budgets for a relation, and what identifies budgets across databases.
 */
#include "backend/dp/dp_grant.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/dp/dp_persons.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/watch/type_reads.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_dp_grant);
PG_FUNCTION_INFO_V1(ps_dp_revoke);
PG_FUNCTION_INFO_V1(ps_database_identity);
PG_FUNCTION_INFO_V1(ps_budget_restored);
}

namespace {

constexpr int kMostRowsPerUnit = 1000000;

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

// For one role and home there is one budget.
void RequireNoPersonBudget(Oid role_oid, const char* role, Oid relation) {
  const Oid home = HomeOfPersons(relation);
  if (!OidIsValid(home) || !HasPersonBudget(role_oid, home)) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("role \"%s\" has a privacy budget for persons of \"%s\", which pays for relation \"%s\", too",
                         role, get_rel_name(home), get_rel_name(relation)),
                  errdetail("What is spent on a person is counted in one budget only."),
                  errhint("Change that budget with privacy_score.dp_grant_person(), or take it back with "
                          "privacy_score.dp_revoke_person() first.")));
}

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
  const char* period = PeriodArgument(fcinfo, 3);
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
  RequireNoPersonBudget(role_oid, role, relation);
  const GrantRequest request = {role,   role_oid, relation, BudgetScope::kRelation,   epsilon,
                                period, unit,     max_rows, DeltaArgument(fcinfo, 6), PG_GETARG_BOOL(7)};
  EnterBudget(&request);
  WarnOfTypes(relation);
  PG_RETURN_VOID();
}

// dp_revoke(role, relation)
Datum ps_dp_revoke(PG_FUNCTION_ARGS) {
  RequirePrimary("dp_revoke");
  const char* role = NameStr(*PG_GETARG_NAME(0));
  const Oid relation = PG_GETARG_OID(1);
  RequireOwner(relation);
  if (!TakeBackBudget(get_role_oid(role, false), relation, BudgetScope::kRelation))
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
  if (EntersBudget()) return PointerGetDatum(row);
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

}  // namespace privacy_score
