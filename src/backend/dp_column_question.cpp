/*
 * dp_column_question.cpp - see dp_column_question.hpp.
 */
#include "dp_column_question.hpp"

extern "C" {
#include "utils/builtins.h"
}

#include "catalog_relations.hpp"
#include "function_arguments.hpp"
#include "relation_access.hpp"

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
  asked.condition = BindCondition(budget->relation, predicate, parameters);
  return asked;
}

void CompleteQuestion(ColumnQuestion* asked, const char* details) {
  const char* column = QuoteName(asked->column.name);
  const char* shape = asked->condition->shape;
  asked->question.canonical =
      psprintf("%s %s\n%s\n%s", column, CanonicalType(asked->column.type), details, asked->condition->canonical);
  asked->question.shape = shape == nullptr ? column : psprintf("%s WHERE %s", column, shape);
}

const char* RowsThatCount(const ColumnQuestion* asked, const char* value, const char* restriction) {
  const Budget* budget = asked->question.budget;
  const char* relation = CanonicalRelationName(budget->relation);
  const char* condition = asked->condition->sql;
  if (restriction != nullptr) condition = psprintf("(%s) AND %s", condition, restriction);
  if (budget->unit == nullptr) return psprintf("(SELECT %s AS value FROM %s r WHERE %s) u", value, relation, condition);
  const char* unit = quote_identifier(budget->unit);
  return psprintf(
      "(SELECT w.value FROM (SELECT %s AS value, pg_catalog.row_number() OVER (PARTITION BY r.%s "
      "ORDER BY pg_catalog.gen_random_uuid()) AS place FROM %s r WHERE (%s) AND r.%s IS NOT NULL) w "
      "WHERE w.place OPERATOR(pg_catalog.<=) %d) u",
      value, unit, relation, condition, unit, budget->max_rows_per_unit);
}

bool ReadForQuestion(Debit* debit, const ColumnQuestion* asked, const char* sql, void (*take)(void*), void* argument) {
  const ConditionQuery* condition = asked->condition;
  const ScanQuery query = {sql, condition->nargs, condition->types, condition->values, nullptr};
  return ReadRelation(debit, &query, take, argument);
}
