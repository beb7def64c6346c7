/*
 * dp_column_question.hpp - noisy questions about a column: what they have in common.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
}

#include "backend/dp/dp_budget.hpp"
#include "backend/dp/dp_columns.hpp"
#include "backend/dp/dp_predicate.hpp"
#include "backend/dp/dp_scan.hpp"

namespace privacy_score {

// A question about a column of the budget's relation. The caller adds to `question` what makes it complete.
struct ColumnQuestion {
  Question question;  // canonical and shape: not yet set
  BoundColumn column;
  ConditionQuery* condition;
};

// The places of arguments in the SQL function; relation is the first and attribute the second.
struct ColumnArguments {
  int epsilon;
  int predicate;
  int fresh;
};

// Reads the arguments, finds who pays (dp_budget.hpp) and binds column and predicate; `parameters` are left free in
// front of those of the predicate. No data is read. Raises 22023 for NULLs, 42703, PS003, and what PayingBudget()
// raises.
ColumnQuestion AskAboutColumn(FunctionCallInfo fcinfo, const char* function, const char* kind,
                              const ColumnArguments& places, int parameters);

// Makes the question complete: `details` is all that tells it from others of its kind about the same column with the
// same predicate. The question is copied by nobody before.
void CompleteQuestion(ColumnQuestion* asked, const char* details);

// A subquery "u" with the columns "value", that of the question, and "counts": whether the row satisfies the predicate
// and `restriction` (null: none) and is, of those of its unit of protection, among max_rows_per_unit. Which of them is
// left to the server's strong random source: were it to follow from the other rows, or from a seed that the caller can
// set, the rows of one unit would move those of others. What is sorted for it does not depend on the predicate.
const char* RowsThatCount(const ColumnQuestion* asked, const char* restriction);

// A subquery "g" of distinct values, an expression over u.value, of rows that count, and their number "n", in the order
// of values. All rows are grouped before those that count are chosen.
const char* ValuesThatCount(const ColumnQuestion* asked, const char* value, const char* restriction);

// Runs a query with the question's parameters; see ReadRelation().
bool ReadForQuestion(Debit* debit, const ColumnQuestion* asked, const char* sql, GroupingSteps steps,
                     void (*take)(void*), void* argument);

}  // namespace privacy_score
