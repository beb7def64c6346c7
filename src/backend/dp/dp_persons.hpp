/*
 * dp_persons.hpp - whose rows those of a protected relation are, for budgets that protect persons.
 *
 * A person is a value of the subject where it is at home: the relation that the subject's foreign keys lead to, with
 * one row for each. All that is asked about relations with one home is paid from one budget, for one person has rows in
 * several of them.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
}

namespace privacy_score {

// Where the persons of a relation that protect() has declared are at home (the relation itself, or one that its subject
// refers to, of the same owner and with one row a person); InvalidOid when they have no such home.
Oid HomeOfPersons(Oid relation);

// The columns that tell the persons of a relation apart, as numbers in the order of those at home that they mean, and
// whether no two of its rows are one person's.
List* PersonColumns(Oid relation, bool* one_row_a_person);

// Whether a role itself has a budget for persons at home there.
bool HasPersonBudget(Oid role, Oid home);

// Raises PS003 unless each row of the relation is another person's.
void RequireRowAPerson(const char* function, Oid relation);

}  // namespace privacy_score
