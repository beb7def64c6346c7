/*
 * dp_column_question.cpp - see dp_column_question.hpp.
 */
#include "backend/dp/dp_column_question.hpp"

extern "C" {
#include "utils/builtins.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/dp/dp_rows.hpp"

namespace privacy_score {

ColumnQuestion AskAboutColumn(FunctionCallInfo fcinfo, const char* function, const char* kind,
                              const ColumnArguments& places, int parameters) {
  RequireArgument(fcinfo, 0, "relation");
  RequireArgument(fcinfo, 1, "attribute");
  RequireArgument(fcinfo, places.epsilon, "epsilon");
  RequireArgument(fcinfo, places.fresh, "fresh");
  ColumnQuestion asked = {};
  asked.question.kind = kind;
  asked.question.epsilon = NormalDecimal("epsilon", PG_GETARG_NUMERIC(places.epsilon));
  asked.question.fresh = PG_GETARG_BOOL(places.fresh);
  const Budget* budget = PayingBudget(function, PG_GETARG_OID(0));
  asked.question.budget = budget;
  asked.column = BindColumn(budget->relation, NameStr(*PG_GETARG_NAME(1)));
  if (asked.column.number < 0)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("attribute must not be a system column, but is \"%s\"", asked.column.name),
                    errhint("Name a column of the relation.")));
  const text* predicate = PG_ARGISNULL(places.predicate) ? nullptr : PG_GETARG_TEXT_PP(places.predicate);
  asked.condition = BindCondition(budget->relation, predicate, parameters, budget->constant_work);
  return asked;
}

void CompleteQuestion(ColumnQuestion* asked, const char* details) {
  const char* column = QuoteName(asked->column.name);
  const char* shape = asked->condition->shape;
  asked->question.canonical =
      psprintf("%s %s\n%s\n%s", column, CanonicalType(asked->column.type), details, asked->condition->canonical);
  asked->question.shape = shape == nullptr ? column : psprintf("%s WHERE %s", column, shape);
}

const char* RowsThatCount(const ColumnQuestion* asked, const char* restriction) {
  const Budget* budget = asked->question.budget;
  const RowsInSql rows = SourceOfRows(budget, asked->condition, restriction, asked->column.name);
  const char* column = quote_identifier(asked->column.name);
  if (budget->unit == nullptr)
    return psprintf("(SELECT r.%s AS value, %s AS counts FROM %s WHERE %s) u", column, rows.matches, rows.from,
                    rows.where);
  const char* unit = quote_identifier(budget->unit);
  return psprintf(
      "(SELECT w.value, w.matches AND w.place OPERATOR(pg_catalog.<=) %d AS counts FROM (SELECT m.value, m.matches, "
      "pg_catalog.row_number() OVER (PARTITION BY m.unit ORDER BY m.matches DESC, pg_catalog.gen_random_uuid()) AS "
      "place FROM (SELECT r.%s AS unit, r.%s AS value, %s AS matches FROM %s WHERE %s AND r.%s IS NOT NULL) m) w) u",
      budget->max_rows_per_unit, unit, column, rows.matches, rows.from, rows.where, unit);
}

const char* ValuesThatCount(const ColumnQuestion* asked, const char* value, const char* restriction) {
  return psprintf(
      "(SELECT v.value, v.n FROM (SELECT %s AS value, u.counts, pg_catalog.count(*) AS n FROM %s GROUP BY 1, 2 ORDER "
      "BY "
      "1, 2 OFFSET 0) v WHERE v.counts) g",
      value, RowsThatCount(asked, restriction));
}

bool ReadForQuestion(Debit* debit, const ColumnQuestion* asked, const char* sql, GroupingSteps steps,
                     void (*take)(void*), void* argument) {
  const ConditionQuery* condition = asked->condition;
  const ScanQuery query = {sql, condition->nargs, condition->types, condition->values, steps};
  return ReadRelation(debit, &query, take, argument);
}

}  // namespace privacy_score
