/*
 * code_comparing.hpp - code that is not trusted in what compares values: operator classes.
 *
 * Sorting, grouping, joins, indexes and the comparison of arrays, rows and ranges call functions that no expression
 * names. Only superusers make operator classes, but of what functions they like, and anybody may own these. The server
 * keeps them ready from call to call, so they need not pass the hooks of code_trust.hpp: they are looked at before
 * anything runs.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

namespace privacy_score {

struct CodeSearch;

// Whether there is such code in what an index compares with.
bool FindInIndexClasses(Oid index, CodeSearch* search);

// In what a query sorts, groups and makes distinct by; not in those within it.
bool FindInClauses(const ::Query* query, CodeSearch* search);

// In what an operator, or an aggregate that sorts, compares with beside its own function.
bool FindInComparison(Node* node, CodeSearch* search);

}  // namespace privacy_score
