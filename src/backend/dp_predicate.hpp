/*
 * dp_predicate.hpp - the condition of a noisy question, bound to a relation.
 *
 * All that can go wrong with a predicate goes wrong here, before any row is read, and depends on the text and the
 * catalogs only: an error on a row would answer a question for free.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

// A condition for a query in which the relation has the alias r. Lives in the memory context of BindCondition().
struct ConditionQuery {
  const char* sql;  // "true" without a predicate
  int nargs;
  Oid* types;
  Datum* values;          // none is NULL
  const char* canonical;  // for Question
  const char* shape;      // likewise; null without a predicate
};

// Binds the text of a predicate (null: none) to a relation that is locked. Constants become parameters, numbered after
// `parameters_before`, for which the arrays have room in front. Raises PS003 for what a predicate must not contain,
// 42703 for unknown columns, and what the type of a column raises for a constant that it cannot read.
ConditionQuery* BindCondition(Oid relation, const text* predicate, int parameters_before);
