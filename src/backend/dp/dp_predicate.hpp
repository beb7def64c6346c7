/*
 * dp_predicate.hpp - the condition of a noisy question, bound to a relation.
 *
 * All that can go wrong with a predicate goes wrong here, before any row is read, and depends on the text and the
 * catalogs only: an error on a row would answer a question for free.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
}

namespace privacy_score {

// The SQLSTATE of a question that is not answered whatever the rows are.
inline constexpr int kQuestionRefused = MAKE_SQLSTATE('P', 'S', '0', '0', '3');

// A relation whose columns a condition may name, and its alias in the query.
struct ConditionTable {
  Oid relation;
  const char* alias;
};

// A condition for a query in which the relations have their aliases. Lives in the memory context of BindCondition().
struct ConditionQuery {
  const char* sql;  // "true" without a predicate
  int nargs;
  Oid* types;
  Datum* values;          // none is NULL
  const char* canonical;  // for Question
  const char* shape;      // likewise; null without a predicate
  List* columns;          // names of those that it reads, each once
};

// Binds the text of a predicate (null: none) to relations that are locked; a column is that of the first that has one
// of its name. Constants become parameters, numbered after `parameters_before`, for which the arrays have room in
// front. Raises PS003 for what a predicate must not contain, 42703 for unknown columns, and what the type of a column
// raises for a constant that it cannot read. `steady`: no comparison that takes long, or of many, depends on the
// others.
ConditionQuery* BindCondition(const ConditionTable* tables, int count, const text* predicate, int parameters_before,
                              bool steady = false);

// The same for one relation, which has the alias r.
inline ConditionQuery* BindCondition(Oid relation, const text* predicate, int parameters_before, bool steady = false) {
  const ConditionTable table = {relation, "r"};
  return BindCondition(&table, 1, predicate, parameters_before, steady);
}

}  // namespace privacy_score
