/*
 * dp_payer.cpp - see dp_payer.hpp.
 */
#include "backend/dp/dp_payer.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/code_search.hpp"
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_lock.hpp"
#include "backend/dp/dp_ledger.hpp"
#include "backend/dp/dp_persons.hpp"
#include "backend/server/relation_owner.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

LedgerStatement find_budgets = {
    "SELECT n.id, n.role_oid, n.unit, n.max_rows_per_unit, pg_catalog.array_to_string(n.settings, pg_catalog.chr(1)), "
    "n.constant_work "
    "FROM privacy_score.budget_now n "
    "WHERE n.relation_oid = $1::pg_catalog.oid AND n.role_oid <> 0 AND n.revoked_at IS NULL AND n.scope = $3 "
    "AND n.id = ANY (ARRAY("
    "SELECT b.id FROM privacy_score.budget b WHERE b.relation_oid = $1::pg_catalog.oid AND b.relation_oid <> 0 "
    "UNION SELECT b.id FROM privacy_score.budget b WHERE b.relation_name = $2)) ORDER BY n.id",
    3, nullptr};
LedgerStatement find_person_budgets = {
    "SELECT DISTINCT n.role_oid FROM privacy_score.budget_now n WHERE n.scope = 'person' AND n.role_oid <> 0 "
    "AND n.relation_oid <> 0 AND n.revoked_at IS NULL",
    0, nullptr};

// Raises unless the column that names whom to protect is still there.
void RequireUnitOf(const Budget* budget) {
  if (budget->unit == nullptr || get_attnum(budget->relation, budget->unit) > 0) return;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                  errmsg("column \"%s\" of relation \"%s\", the unit of protection, does not exist", budget->unit,
                         get_rel_name(budget->relation)),
                  errhint("The owner of the relation names another one with privacy_score.dp_grant().")));
}

// Finds the budget that pays, of those for a relation and a scope; false when there is none.
bool FindBudget(Budget* budget, Oid granted_for, BudgetScope budget_scope) {
  const Oid user = WhoAsks();
  budget->granted_for = granted_for;
  budget->scope = budget_scope;
  const char* args[] = {TextOfOid(granted_for), CanonicalRelationName(granted_for),
                        budget_scope == BudgetScope::kPerson ? "person" : "relation"};
  InternalScope scope;
  EnterInternal(&scope);
  RunLedger(&find_budgets, args);
  for (uint64 row = 0; row < SPI_processed; ++row) {
    const Oid role = static_cast<Oid>(LedgerNumber(row, 1));
    const bool own = role == user;
    if (!own && (OidIsValid(budget->role) || !is_member_of_role_nosuper(user, role))) continue;
    budget->id = LedgerNumber(row, 0);
    budget->role = role;
    budget->unit = FieldText(row, 2);
    budget->max_rows_per_unit = static_cast<int32>(LedgerNumber(row, 3));
    budget->settings = FieldText(row, 4);
    budget->constant_work = LedgerFlag(row, 5);
    if (own) break;
  }
  LeaveInternal(&scope);
  return OidIsValid(budget->role);
}

}  // namespace

Oid WhoAsks() {
  return ps_settings.principal == static_cast<int>(Principal::kCurrentUser) ? GetOuterUserId() : GetSessionUserId();
}

void RaiseNoBudget(const char* function, Oid relation) {
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
           errmsg("role \"%s\" has no privacy budget for relation \"%s\"", GetUserNameFromId(WhoAsks(), false),
                  get_rel_name(relation)),
           ps_settings.principal == static_cast<int>(Principal::kCurrentUser)
               ? errdetail("%s() is paid for by the role that is set or a group of it; a grant counts once it is "
                           "committed.",
                           function)
               : errdetail("%s() is paid for by the role that logged in or a group of it; a grant counts once "
                           "it is committed.",
                           function),
           errhint("The owner of the relation gives a budget with privacy_score.dp_grant().")));
}

void RequirePaying(const char* function, bool pays) {
  if (pays) RequirePrimary(function);
  if (IsInParallelMode())
    ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                    errmsg("cannot spend a privacy budget during a parallel operation"),
                    errhint("A function that calls %s() must not be declared PARALLEL SAFE.", function)));
  if (InSecurityRestrictedOperation())
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("cannot spend a privacy budget within a security-restricted operation"),
                    errdetail("Materialized views, indexes and the like run the code of their owner."),
                    errhint("Ask in a statement of its own.")));
}

Budget* PayingBudget(const char* function, Oid relation, bool pays) {
  RequirePaying(function, pays);
  (void)RequireRelation(relation);
  auto* budget = static_cast<Budget*>(palloc0(sizeof(Budget)));
  budget->relation = relation;
  budget->function = function;
  if (!FindBudget(budget, relation, BudgetScope::kRelation)) {
    const Oid home = HomeOfPersons(relation);
    if (!OidIsValid(home) || !FindBudget(budget, home, BudgetScope::kPerson)) RaiseNoBudget(function, relation);
    RequireRowAPerson(function, relation);
  }
  // Only who has a budget may hold up others with a lock.
  LockForReading(relation);
  budget->name = get_rel_name(relation);
  budget->owner = OwnerOfRelation(relation);
  RequireUnitOf(budget);
  return budget;
}

Budget* FindPersonBudget(const char* function, Oid home) {
  auto* budget = static_cast<Budget*>(palloc0(sizeof(Budget)));
  budget->relation = home;
  budget->function = function;
  if (!FindBudget(budget, home, BudgetScope::kPerson)) return nullptr;
  budget->name = get_rel_name(home);
  budget->owner = OwnerOfRelation(home);
  return budget;
}

bool HasAnyPersonBudget() {
  const Oid user = WhoAsks();
  bool any = false;
  InternalScope scope;
  EnterInternal(&scope);
  RunLedger(&find_person_budgets, nullptr);
  for (uint64 row = 0; row < SPI_processed && !any; ++row) {
    const Oid role = static_cast<Oid>(LedgerNumber(row, 0));
    any = role == user || is_member_of_role_nosuper(user, role);
  }
  LeaveInternal(&scope);
  return any;
}

}  // namespace privacy_score
