/*
 * private_joins.hpp - a private part stores no row of persons where others could see it.
 *
 * What a join stores and spills would depend on which rows of persons match: by the size of a tablespace everybody sees
 * one row more. So rows of persons only stream through joins with public rows: they are never on the inner side, which
 * is hashed or kept. All else that is joined is public, and so is what is stored of it. Where rows of persons are
 * joined with one another, one side is hashed, and where a sub-select aggregates those of each person, they are: in
 * memory, whatever it takes (work_mem is the greatest there is), so that nothing of them ever comes to a disk. While a
 * private part is planned, paths that do otherwise are taken out as soon as they are offered.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
#include "nodes/plannodes.h"
}

namespace privacy_score {

// The OIDs of relations whose rows stream while a query is planned; NIL: none. Returns those before.
List* StreamRelations(List* relations);

// Whether a query reads several items with rows of these relations, in one level or in several.
bool ReadsSeveral(::Query* query, List* relations);

// Changes a query that reads several so that the planner keeps the conditions that make their persons equal.
void KeepEqualPersons(::Query* query);

// Raises XX000 when rows of these relations are stored in the plan after all.
void RequireStreaming(const PlannedStmt* plan, const List* relations);

void InstallJoinOrder();

}  // namespace privacy_score
