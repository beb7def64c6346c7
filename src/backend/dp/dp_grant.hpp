/*
 * dp_grant.hpp - entering a budget: what dp_grant() and dp_grant_person() have in common.
 *
 * A grant is an ordinary row of the owner's transaction: it counts once that is committed, since the accountant,
 * another process, has to see it. What was spent under a name is never forgotten: a role or relation that was dropped
 * and made again goes on with the budget of its predecessor when it is granted one.
 */
#pragma once

#include "backend/dp/dp_budget.hpp"

extern "C" {
#include "fmgr.h"
}

namespace privacy_score {

// A budget as it is to be entered.
struct GrantRequest {
  const char* role;
  Oid role_oid;
  Oid relation;  // of scope person: where the subject is at home
  BudgetScope scope;
  const char* epsilon;
  const char* period;  // null: given once
  const char* unit;    // null: a row; of scope person, the person
  int32 max_rows_per_unit;
  const char* delta;  // null: no limit
  bool constant_work;
};

// Arguments as a budget keeps them, null for NULL. Raise 22023.
const char* PeriodArgument(FunctionCallInfo fcinfo, int number);  // from a second to a hundred years
const char* DeltaArgument(FunctionCallInfo fcinfo, int number);   // a decimal; zero allows none

// Raises 42809 unless noisy questions can be asked about a relation of this kind.
void RequireAnswerable(Oid relation);

// Enters or changes the budget, never what was spent; the caller's name is kept with it.
void EnterBudget(const GrantRequest* request);

// Takes back a live budget; false when there is none.
bool TakeBackBudget(Oid role, Oid relation, BudgetScope scope);

// Whether EnterBudget() is entering one: any other row that is inserted comes out of a dump.
bool EntersBudget();

// A database other than this one has other OIDs.
char* DatabaseIdentity();

// The name of a scope in the ledger.
const char* NameOfScope(BudgetScope scope);

}  // namespace privacy_score
