/*
 * dp_count_functions.cpp - dp_count(), dp_count_detail(), dp_cost().
 *
 * The true count is not given to anybody: it goes into the noisy one, which is charged before the first row is read.
 */
#include "backend/server/core_call.hpp"

extern "C" {
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/dp/dp_budget.hpp"
#include "backend/dp/dp_count_noise.hpp"
#include "backend/dp/dp_predicate.hpp"
#include "backend/dp/dp_rows.hpp"
#include "backend/dp/dp_scan.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/sql_text.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_dp_count);
PG_FUNCTION_INFO_V1(ps_dp_count_detail);
PG_FUNCTION_INFO_V1(ps_dp_cost);
}

namespace ps = privacy_score;

namespace {

constexpr const char* kConfidence = "0.95";

// The arguments that the three functions share, as a question; nothing is spent and no data is read.
Question AskedQuestion(FunctionCallInfo fcinfo, const char* function, bool pays, const ConditionQuery** condition) {
  RequireArgument(fcinfo, 0, "relation");
  RequireArgument(fcinfo, 2, "epsilon");
  const char* epsilon = NormalDecimal("epsilon", PG_GETARG_NUMERIC(2));
  const Budget* budget = PayingBudget(function, PG_GETARG_OID(0), pays);
  // The law decides whether there is noise of that scale.
  CallCoreOrRaise([&] { CountLaw(budget, ps::ParseEpsilon(epsilon)); });
  const ConditionQuery* query =
      BindCondition(budget->relation, PG_ARGISNULL(1) ? nullptr : PG_GETARG_TEXT_PP(1), 0, budget->constant_work);
  *condition = query;
  return {budget, "count", epsilon, nullptr, query->canonical, query->shape, false};
}

// The query that counts: rows, or of each unit at most max_rows_per_unit of its rows. Which ones are left out makes no
// difference to their number. Rows without a unit belong to nobody whom the cut would protect, and do not count.
const char* CountingQuery(const Budget* budget, const ConditionQuery* condition) {
  const RowsInSql rows = SourceOfRows(budget, condition, nullptr, nullptr);
  if (budget->unit == nullptr)
    return psprintf("SELECT pg_catalog.count(*) FROM %s WHERE %s", rows.from, rows.condition);
  const char* unit = quote_identifier(budget->unit);
  return psprintf(
      "SELECT COALESCE(pg_catalog.sum(LEAST(u.n, %d)) FILTER (WHERE u.matches), 0)::pg_catalog.int8 FROM (SELECT %s AS "
      "matches, pg_catalog.count(*) AS n FROM %s WHERE %s AND r.%s IS NOT NULL GROUP BY 1, r.%s) u",
      budget->max_rows_per_unit, rows.matches, rows.from, rows.where, unit, unit);
}

// The noisy count, as text; null when there is one meanwhile.
const char* NoisyCount(Debit* debit, const ConditionQuery* condition) {
  const Question* question = debit->question;
  int64 count = 0;
  const ScanQuery query = {
      CountingQuery(question->budget, condition), condition->nargs, condition->types, condition->values, {false, 0}};
  if (!ReadRelation(debit, &query, TakeCount, &count)) return nullptr;
  AddCountNoise(question, &count, 1);
  return TextOfInteger(count);
}

Payment AnswerCount(FunctionCallInfo fcinfo, const char* function, Question* question) {
  RequireArgument(fcinfo, 3, "fresh");
  const ConditionQuery* condition;
  *question = AskedQuestion(fcinfo, function, true, &condition);
  question->fresh = PG_GETARG_BOOL(3);
  return AnswerOf(question, [&](Debit* debit) { return NoisyCount(debit, condition); });
}

Datum RowOf(FunctionCallInfo fcinfo, Datum* values) {
  TupleDesc columns;
  if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE) elog(ERROR, "return type is not a row");
  bool nulls[8] = {};
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

}  // namespace

// dp_count(relation, predicate, epsilon, fresh)
Datum ps_dp_count(PG_FUNCTION_ARGS) {
  Question question;
  PG_RETURN_INT64(pg_strtoint64(AnswerCount(fcinfo, "dp_count", &question).answer));
}

// dp_count_detail(relation, predicate, epsilon, fresh)
Datum ps_dp_count_detail(PG_FUNCTION_ARGS) {
  Question question;
  const Payment payment = AnswerCount(fcinfo, "dp_count_detail", &question);
  const int64 count = pg_strtoint64(payment.answer);
  int64 lower = 0;
  int64 upper = 0;
  double scale = 0;
  CallCoreOrRaise([&] {
    const ps::Rational exact = CountLaw(&question).scale();
    const std::int64_t half = ps::DiscreteLaplaceHalfWidth(exact, ps::ParseRational("confidence", kConfidence));
    lower = ps::SaturatingAdd(count, -half);
    upper = ps::SaturatingAdd(count, half);
    scale = ps::ToDouble(exact);
  });
  Datum values[] = {Int64GetDatum(count),
                    Int64GetDatum(lower),
                    Int64GetDatum(upper),
                    Float8GetDatum(strtod(kConfidence, nullptr)),
                    Float8GetDatum(scale),
                    NumericOf(payment.epsilon_spent),
                    NumericOf(payment.epsilon_left),
                    BoolGetDatum(payment.repeated)};
  return RowOf(fcinfo, values);
}

// dp_cost(relation, predicate, epsilon)
Datum ps_dp_cost(PG_FUNCTION_ARGS) {
  const ConditionQuery* condition;
  const Question question = AskedQuestion(fcinfo, "dp_cost", false, &condition);
  const Payment payment = CostOf(&question);
  Datum values[] = {NumericOf(payment.epsilon_spent), NumericOf(payment.epsilon_left), BoolGetDatum(payment.repeated)};
  return RowOf(fcinfo, values);
}

}  // namespace privacy_score
