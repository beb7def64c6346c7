/*
 * dp_payer.hpp - who pays for a noisy answer.
 *
 * The budget that pays is that of the session user, whatever SET ROLE and SECURITY DEFINER functions say: its own when
 * it has one for the relation, else of those of its groups the one that was granted first. There is no second one to
 * fall back on when it is exhausted. Nothing pays within a security-restricted operation (index expressions, REFRESH
 * MATERIALIZED VIEW): code that somebody else has written runs there.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// What a budget is spent on: rows or units of one relation, or persons, in all relations that have their subject at
// home in one.
enum class BudgetScope { kRelation, kPerson };

// A budget as it was found. Lives in the memory context of PayingBudget().
struct Budget {
  int64 id;
  Oid relation;     // that is read
  Oid granted_for;  // the relation that the budget was granted for: of scope person, the home
  BudgetScope scope;
  const char* name;         // of the relation, for errors
  Oid owner;                // of the relation
  Oid role;                 // that the budget was granted to
  const char* unit;         // column whose values are protected; null: each row
  int32 max_rows_per_unit;  // 1 without a unit: the sensitivity of a count
  bool constant_work;       // what is read must not depend on the predicate (dp_rows.hpp)
  char* settings;           // under which it was granted, NAME=VALUE with '\1' between them (dp_settings.hpp)
  const char* function;     // for errors
};

// Who asks: the role that has logged in, or, where statements are those of the current user, the role that is set.
// Functions with SECURITY DEFINER do not change it.
Oid WhoAsks();

// Raises 42501.
[[noreturn]] void RaiseNoBudget(const char* function, Oid relation);

// The budget that pays for questions of this session about the relation, which is locked against being dropped or
// altered until the end of the transaction. Raises 42501 when there is none, 42P01 when the relation is gone, 25006 on
// a standby unless `pays` is false: then nothing is to be spent.
Budget* PayingBudget(const char* function, Oid relation, bool pays = true);

// The same for persons at home in a relation; null when this session has none. Locks nothing.
Budget* FindPersonBudget(const char* function, Oid home);

// Whether this session has a budget for persons, wherever they are at home.
bool HasAnyPersonBudget();

// Raises 25006 on a standby, 25000 and 42501 where nothing may pay.
void RequirePaying(const char* function, bool pays = true);

}  // namespace privacy_score
