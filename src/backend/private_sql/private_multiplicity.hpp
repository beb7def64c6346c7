/*
 * private_multiplicity.hpp - how many rows a level can make of one: what joins repeat, and what gives one row at most.
 *
 * All is proven from unique keys and equalities, never from rows.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

namespace privacy_score {

// Whether a level has at most one row for each row of that item of FROM.
bool KeepsRowsSingle(const ::Query* query, int index);

// Whether a query has at most one row, whatever the rows around it are.
bool HasOneRowAtMost(const ::Query* query);

}  // namespace privacy_score
