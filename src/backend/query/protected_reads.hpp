/*
 * protected_reads.hpp - whether a plan reads personal data at all, whoever looks on.
 *
 * Not from the model in shared memory, which the worker makes and which may be late, but from the tables themselves,
 * through the backend's relation cache. May raise on catalog errors; the entries of the relation cache that a caller
 * holds are no longer valid afterwards.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
}

namespace privacy_score {

// True for what protect() has declared (also when it was dropped and created again under its name), and for every
// relation whose rows are those of a declared one: its partitions, inheritance children and copies.
bool RelationIsProtected(Oid relid);

// The same for a relation with its partitions and children: also true for a parent of a declared one.
bool TreeIsProtected(Oid relid);

// Whether keys of a relation tell of rows of a protected one: also of a partitioned table with such a partition.
bool KeysAreProtected(Oid relid);

// True when of relations, by their OIDs, none is protected but shards of protected ones, nor shows statistics of any.
bool ReadsShardsOnly(const List* relations);

// True when the plan reads rows of a protected relation, also of one that the planner put in the place of a function,
// or statistics that show values of one that the current user may read. A relation that is only written is not read.
// An upper bound: what the planner has proved empty still counts.
bool PlanReadsProtected(const PlannedStmt* plan);

// Whether a query reads rows of a protected relation, before it is planned.
bool QueryReadsProtected(::Query* query);

// True when planning the query may hand values of a protected relation, from its statistics, to a function of
// somebody's own: an operator with a selectivity estimator is tried on the most common ones.
bool PlanningShowsProtected(::Query* query);

}  // namespace privacy_score
