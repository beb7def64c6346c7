/*
 * constants.hpp - the constants of a statement, from the planner to its executions, as keyed hashes only.
 *
 * When a statement is planned, its constants are hashed and what core finds of comparisons
 * (core/statement/comparisons.hpp) is tied to the plan as words of 32 bits; the plan cache copies them with the plan.
 * When it is executed, the values of its parameters are added. The key lives in shared memory, is made at start and
 * shown to nobody.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/params.h"
}

#include "backend/query/plan_mark.hpp"
#include "backend/query/query_key.hpp"
#include "core/statement/comparisons.hpp"

namespace privacy_score {

// The hash of a value that is not NULL: of its text, a number's of the number, so that 5, 5::bigint and '5' are the
// same; an array's is that of its bytes. Raises nothing but a cancel: what has no text gets one hash for all.
uint64 HashOfDatum(Oid type, Datum value);

// Hashes of the elements of an array that are not NULL, at most kMostComparedValues, palloc'd; null for another type.
uint64* HashesOfElements(Oid type, Datum value, int* count);

// The same of a constant; of NULL what is given.
uint64 HashOfConstant(const Const* constant, uint64 of_null);

// Takes what is known of the constants of an analysed query, of which `statement` is the translation: for a query that
// was just translated with recipes (value_recipes.hpp) from its key, else from the query. The words are valid until the
// next call; none when core has failed.
struct ConstantWordsView {
  const uint32* words;
  int count;
};
ConstantWordsView EncodeConstants(::Query* query, const privacy_score::Statement& statement, const QueryKey* key);

// The vector of a query's literals, whose hashes, with 0 for NULL, are given.
uint64 VectorOfLiterals(const uint64* hashes, const QueryKey* key);

// The constants of one execution: those of the plan, and the parameters that they ask for. A plan that was made
// unwatched (null) is known by its parameters alone. Valid until the next call. Raises nothing but a cancel: a
// parameter that cannot be read is not given.
privacy_score::BoundConstants ConstantsOfExecution(const PlanMark* mark, ParamListInfo given);

// What tells an execution from others of its statement, which differ in constants; 0 when that is not known.
uint64 VectorOfExecution(const privacy_score::BoundConstants& constants);

// The hash of a parameter that is given: false when it is not, 0 for NULL. Raises nothing but a cancel.
bool HashOfParameter(ParamListInfo given, int number, uint64* hash);

// When an execution has one constant in all, which one column is compared with, and that is a hash or a plain number:
// says which, and returns true. The common case of ConstantsOfExecution() without its cost; raises nothing.
struct OneConstant {
  privacy_score::ComparedColumn column;
  uint64 hash;
};
bool OneConstantOfExecution(const PlanMark* mark, ParamListInfo given, OneConstant* constant);

}  // namespace privacy_score
