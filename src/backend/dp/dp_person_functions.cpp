/*
 * dp_person_functions.cpp - giving and taking back budgets for persons.
 */
#include "backend/dp/dp_grant.hpp"

extern "C" {
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/dp/dp_persons.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/watch/type_reads.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_dp_grant_person);
PG_FUNCTION_INFO_V1(ps_dp_revoke_person);
}

namespace {

// The live budgets of a role for single relations whose persons are at home there. `rows`: those that protect rows,
// which are not persons.
#define SQL_BELOW                                                                                    \
  "FROM privacy_score.budget_now n WHERE n.role_oid = $1::pg_catalog.oid AND n.scope = 'relation' "  \
  "AND n.revoked_at IS NULL AND n.relation_oid <> 0 AND privacy_score.joint_home(n.relation_oid) = " \
  "$2::pg_catalog.oid "
#define SQL_PROTECTS_PERSONS                                                                                       \
  "(SELECT COALESCE(n.unit = a.attname AND pg_catalog.cardinality(s.s) = 1, n.relation_oid = $2::pg_catalog.oid) " \
  "FROM (SELECT privacy_score.subject_attributes(n.relation_oid)) s(s) "                                           \
  "LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = n.relation_oid AND a.attnum = s.s[1])"

const char* const kBelow =
    "SELECT pg_catalog.string_agg(n.relation_oid::pg_catalog.regclass::text, ', ' ORDER BY n.id) " SQL_BELOW;
const char* const kBelowRows =
    "SELECT pg_catalog.string_agg(n.relation_oid::pg_catalog.regclass::text, ', ' ORDER BY n.id) " SQL_BELOW
    "AND NOT " SQL_PROTECTS_PERSONS;

// All that the relations' budgets have ever spent counts as spent in the current period of the person's when their
// periods are others, else what they have spent in theirs.
const char* const kAbsorb =
    "WITH below AS (SELECT n.id, n.spent, n.spent_now, n.delta_spent, n.delta_now, n.period::text AS period " SQL_BELOW
    "), revoked AS (UPDATE privacy_score.budget b SET revoked_at = pg_catalog.clock_timestamp() FROM below "
    "WHERE b.id = below.id), "
    "total AS (SELECT COALESCE(pg_catalog.sum(w.spent), 0) AS spent, COALESCE(pg_catalog.sum(w.delta_spent), 0) AS "
    "delta, COALESCE(pg_catalog.sum(w.spent - CASE WHEN w.period = $3 THEN w.spent_now ELSE w.spent END), 0) AS "
    "before, "
    "COALESCE(pg_catalog.sum(w.delta_spent - CASE WHEN w.period = $3 THEN w.delta_now ELSE w.delta_spent END), 0) AS "
    "delta_before FROM below w) "
    "UPDATE privacy_score.budget b SET spent = b.spent + t.spent, delta_spent = b.delta_spent + t.delta, "
    "spent_before = b.spent_before + CASE WHEN b.period IS NULL THEN 0 ELSE t.before END, "
    "delta_before = b.delta_before + CASE WHEN b.period IS NULL THEN 0 ELSE t.delta_before END "
    "FROM total t, privacy_score.budget_now n WHERE n.id = b.id AND n.role_oid = $1::pg_catalog.oid "
    "AND n.relation_oid = $2::pg_catalog.oid AND n.scope = 'person' AND n.revoked_at IS NULL";

// The budgets, as names, or null.
char* Named(const char* sql, Oid role, Oid home) {
  const char* args[] = {TextOfOid(role), TextOfOid(home)};
  InternalScope scope;
  EnterInternal(&scope);
  char* names = InternalValue(sql, 2, args);
  LeaveInternal(&scope);
  return names;
}

// Raises unless persons are at home in the relation, so that a budget can protect each of them.
void RequireHome(Oid home) {
  if (HomeOfPersons(home) == home) return;
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("relation \"%s\" is no home of persons", get_rel_name(home)),
           errdetail("A home is a relation declared with privacy_score.protect(), with one row for each value of "
                     "its subject, which refers to no other relation."),
           errhint("Declare it, with a subject that is its primary key, or name the relation that its subject "
                   "refers to.")));
}

// For one role and home there is one budget.
void RequireNothingBelow(const char* role, Oid role_oid, Oid home, bool absorb) {
  const char* below = Named(absorb ? kBelowRows : kBelow, role_oid, home);
  if (below == nullptr) return;
  if (absorb)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("budgets of role \"%s\" protect rows, not persons of \"%s\": %s", role, get_rel_name(home), below),
             errhint("Take them back with privacy_score.dp_revoke() first: what they have told of a person is "
                     "not known.")));
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("role \"%s\" has budgets for relations of persons of \"%s\": %s", role, get_rel_name(home), below),
           errhint("Give absorb => true to make them one, with what they have spent, or take them back with "
                   "privacy_score.dp_revoke() first.")));
}

// Plans that read the home were made for whom the budget was not there.
void ForgetPlans(Oid home) { CacheInvalidateRelcacheByRelid(home); }

}  // namespace

// dp_grant_person(role, home, epsilon, period, delta, absorb)
Datum ps_dp_grant_person(PG_FUNCTION_ARGS) {
  RequirePrimary("dp_grant_person");
  RequireArgument(fcinfo, 0, "role");
  RequireArgument(fcinfo, 1, "home");
  RequireArgument(fcinfo, 2, "epsilon");
  RequireArgument(fcinfo, 5, "absorb");
  const Oid home = PG_GETARG_OID(1);
  RequireOwner(home);
  RequireAnswerable(home);
  RequireHome(home);
  const char* role = NameStr(*PG_GETARG_NAME(0));
  const Oid role_oid = get_role_oid(role, false);
  const char* epsilon = NormalDecimal("epsilon", PG_GETARG_NUMERIC(2));
  const char* period = PeriodArgument(fcinfo, 3);
  const bool absorb = PG_GETARG_BOOL(5);
  const GrantRequest request = {role,   role_oid, home, BudgetScope::kPerson,     epsilon,
                                period, nullptr,  1,    DeltaArgument(fcinfo, 4), true};
  RequireNothingBelow(role, role_oid, home, absorb);
  EnterBudget(&request);
  if (absorb) {
    const char* args[] = {TextOfOid(role_oid), TextOfOid(home), period};
    InternalScope scope;
    EnterInternal(&scope);
    RunInternal(kAbsorb, 3, args);
    LeaveInternal(&scope);
  }
  ForgetPlans(home);
  WarnOfTypes(home);
  PG_RETURN_VOID();
}

// dp_revoke_person(role, home)
Datum ps_dp_revoke_person(PG_FUNCTION_ARGS) {
  RequirePrimary("dp_revoke_person");
  const char* role = NameStr(*PG_GETARG_NAME(0));
  const Oid home = PG_GETARG_OID(1);
  RequireOwner(home);
  if (!TakeBackBudget(get_role_oid(role, false), home, BudgetScope::kPerson))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("role \"%s\" has no privacy budget for persons of \"%s\"", role, get_rel_name(home)),
                    errhint("privacy_score.dp_budget lists the budgets.")));
  ForgetPlans(home);
  PG_RETURN_VOID();
}

}  // namespace privacy_score
