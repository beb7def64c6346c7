/*
 * dp_rows.hpp - where the rows of a noisy question come from, in SQL: all of the relation, whatever the predicate says.
 *
 * What an answer reads, sorts and spills must not depend on the predicate: by the size of a tablespace everybody sees
 * that one more row was sorted. So rows are grouped, and those of a unit sorted, before the predicate has chosen any:
 * it is computed for each row, as a column that is true or false. A condition alone, which stores nothing, may choose
 * rows as they are read.
 *
 * Where reading a column may read more than the row (values out of line, expressions of a view, another server), its
 * values are made whole for all rows before the predicate sees them; else `a = 1 AND b = 2` reads b of the rows where a
 * is 1. Budgets that were granted with constant_work => false do without all this, so that indexes are used.
 */
#pragma once

#include "backend/dp/dp_predicate.hpp"

namespace privacy_score {

struct Budget;

// Parts of a SELECT. A row belongs to the question when `where` and `matches` hold; unless work is constant the latter
// always does.
struct RowsInSql {
  const char* from;       // with the alias r
  const char* where;      // a condition over r
  const char* matches;    // likewise, never NULL
  const char* condition;  // all that makes a row belong to the question
};

// For the rows that satisfy the condition and `restriction` (null: none); `column` (null: none) is read besides those
// of the condition and the unit.
RowsInSql SourceOfRows(const Budget* budget, const ConditionQuery* condition, const char* restriction,
                       const char* column);

}  // namespace privacy_score
