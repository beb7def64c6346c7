/*
 * dp_sum_functions.cpp - dp_sum() and dp_avg().
 *
 * Values are clamped to declared bounds and rounded to a decimal grid, in exact numeric arithmetic, so that the sum is
 * a whole number of steps and its noise is discrete (core/noise/sum_grid.hpp). Bounds are never taken from the data:
 * they would tell of it. An average is a noisy sum of what the values differ from the middle of the bounds, divided by
 * a noisy count; each has half of epsilon.
 */
#include "backend/server/core_call.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/numeric.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/value_types.hpp"
#include "backend/dp/dp_column_question.hpp"
#include "backend/dp/dp_count_noise.hpp"
#include "backend/server/strong_random.hpp"
#include "backend/server/wire.hpp"
#include "core/noise/discrete_laplace.hpp"
#include "core/noise/sum_grid.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_dp_sum);
PG_FUNCTION_INFO_V1(ps_dp_avg);
}

namespace ps = privacy_score;

namespace {

constexpr ColumnArguments kArguments = {4, 5, 6};
constexpr int kLower = 2;
constexpr int kUpper = 3;

// A question about numbers within bounds.
struct BoundedQuestion {
  ColumnQuestion asked;
  const char* lower;  // decimals
  const char* upper;
};

// What is read for it.
struct SumAndCount {
  const char* sum;
  int64 count;
};

Datum Calculate(PGFunction operation, Datum left, Datum right) { return DirectFunctionCall2(operation, left, right); }

// A bound as a decimal; raises 22023 when it is missing or no number.
const char* BoundArgument(FunctionCallInfo fcinfo, int number, const char* name) {
  if (PG_ARGISNULL(number))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be given", name),
             errhint("The noise follows from the bounds. They must not come from the data: choose them from what "
                     "the column means.")));
  return DecimalArgument(fcinfo, number, name);
}

void RequireNumber(const BoundColumn* column) {
  if (!IsNumberType(column->type))
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("column \"%s\" must hold numbers, not values of type %s", column->name,
                           format_type_be(column->type)),
                    errhint("Sums and averages are of integer, real and numeric columns.")));
}

// The decimals that the column's type keeps; -1 where that is not said.
int TypeDecimals(const BoundColumn* column) {
  if (IsIntegerType(column->type)) return 0;
  if (column->type != NUMERICOID || column->modifier < static_cast<int32>(VARHDRSZ)) return -1;
  // As numeric.c has it; a negative scale, which later versions allow, keeps no decimals.
  const int scale = ((column->modifier - static_cast<int32>(VARHDRSZ)) & 0x7ff) ^ 1024;
  return Max(scale - 1024, 0);
}

// Reads the arguments; the first parameters of the query are lower, upper, centre and decimals. `may_meet`: whether the
// bounds may be equal.
BoundedQuestion AskWithinBounds(FunctionCallInfo fcinfo, const char* function, const char* kind, bool may_meet) {
  BoundedQuestion bounded = {};
  bounded.lower = BoundArgument(fcinfo, kLower, "lower");
  bounded.upper = BoundArgument(fcinfo, kUpper, "upper");
  CallCoreOrRaise([&] {
    const ps::Rational lower = ps::ParseRational("lower", bounded.lower);
    const ps::Rational upper = ps::ParseRational("upper", bounded.upper);
    const char* hint = "They are the least and the greatest value that counts.";
    if (lower > upper) throw ps::InvalidValue("lower must not be greater than upper", hint);
    if (lower == upper && !may_meet) throw ps::InvalidValue("lower must be less than upper", hint);
  });
  bounded.asked = AskAboutColumn(fcinfo, function, kind, kArguments, 4);
  RequireNumber(&bounded.asked.column);
  CompleteQuestion(&bounded.asked, psprintf("lower %s upper %s", bounded.lower, bounded.upper));
  return bounded;
}

void TakeSum(void* argument) {
  auto* result = static_cast<SumAndCount*>(argument);
  result->sum = FieldText(0, 0);
  result->count = FieldNumber(0, 1);
}

// The exact sum of what the clamped values differ from `centre`, on the grid, and how many values there are.
bool ReadSum(Debit* debit, const BoundedQuestion* bounded, Datum centre, int decimals, SumAndCount* result) {
  const ColumnQuestion* asked = &bounded->asked;
  const Datum values[] = {NumericOf(bounded->lower), NumericOf(bounded->upper), centre, Int32GetDatum(decimals)};
  const Oid types[] = {NUMERICOID, NUMERICOID, NUMERICOID, INT4OID};
  for (int i = 0; i < 4; ++i) {
    asked->condition->types[i] = types[i];
    asked->condition->values[i] = values[i];
  }
  const char* column = psprintf("r.%s", quote_identifier(asked->column.name));
  // NaN is the greatest of numbers to LEAST: it counts as the upper bound.
  // The width of what is clamped depends on the bounds, so rows are sorted with the column as it is.
  const char* sql = psprintf(
      "SELECT COALESCE(pg_catalog.sum(pg_catalog.round(GREATEST(LEAST(u.value::pg_catalog.numeric, $2), $1) "
      "OPERATOR(pg_catalog.-) $3, $4)), 0), pg_catalog.count(*) FROM %s WHERE u.counts",
      RowsThatCount(asked, psprintf("%s IS NOT NULL", column)));
  return ReadForQuestion(debit, asked, sql, {false, 0}, TakeSum, result);
}

// The grid for values within `magnitude` of zero. Raises 22023 when there is no law for it.
ps::SumGrid GridOf(const BoundedQuestion* bounded, const ps::Rational& magnitude, const ps::Rational& epsilon,
                   int most_decimals) {
  return ps::ChooseSumGrid(magnitude, bounded->asked.question.budget->max_rows_per_unit, epsilon,
                           most_decimals < 0 ? std::nullopt : std::optional<int>(most_decimals));
}

// The larger of the bounds' magnitudes.
ps::Rational MagnitudeOf(const BoundedQuestion* bounded) {
  const ps::Rational lower = ps::Rational(0) - ps::ParseRational("lower", bounded->lower);
  const ps::Rational upper = ps::ParseRational("upper", bounded->upper);
  return lower > upper ? lower : upper;
}

ps::Rational HalfWidthOf(const BoundedQuestion* bounded) {
  return (ps::ParseRational("upper", bounded->upper) - ps::ParseRational("lower", bounded->lower)) / ps::Rational(2);
}

ps::Rational EpsilonOf(const BoundedQuestion* bounded) { return ps::ParseEpsilon(bounded->asked.question.epsilon); }

const char* CopyOf(const CoreHolder<std::string>* text) { return pstrdup(text->object->c_str()); }

const char* NoisySum(Debit* debit, const BoundedQuestion* bounded, int decimals) {
  SumAndCount exact = {};
  if (!ReadSum(debit, bounded, NumericOf("0"), decimals, &exact)) return nullptr;
  auto* noise = NewCoreHolder<std::string>(CurrentMemoryContext);
  const int most = TypeDecimals(&bounded->asked.column);
  CallCoreOrRaise([&] {
    const ps::SumGrid grid = GridOf(bounded, MagnitudeOf(bounded), EpsilonOf(bounded), most);
    const std::int64_t steps = ps::DiscreteLaplace(grid.scale).Draw(StrongRandom());
    noise->Reset(new std::string(ps::StepsText(steps, grid.decimals)));
  });
  const Datum sum = Calculate(numeric_add, NumericOf(exact.sum), NumericOf(CopyOf(noise)));
  return DatumGetCString(DirectFunctionCall1(numeric_out, sum));
}

// The middle of the bounds, plus noisy deviation over noisy count, within the bounds.
const char* NoisyAverage(Debit* debit, const BoundedQuestion* bounded, int decimals) {
  const Datum lower = NumericOf(bounded->lower);
  const Datum upper = NumericOf(bounded->upper);
  const Datum centre = Calculate(numeric_mul, Calculate(numeric_add, lower, upper), NumericOf("0.5"));
  SumAndCount exact = {};
  if (!ReadSum(debit, bounded, centre, decimals, &exact)) return nullptr;
  auto* noise = NewCoreHolder<std::string>(CurrentMemoryContext);
  int64 count = 0;
  CallCoreOrRaise([&] {
    const ps::Rational half = EpsilonOf(bounded) / ps::Rational(2);
    const ps::SumGrid grid = GridOf(bounded, HalfWidthOf(bounded), half, -1);
    const std::int64_t steps = ps::DiscreteLaplace(grid.scale).Draw(StrongRandom());
    noise->Reset(new std::string(ps::StepsText(steps, grid.decimals)));
    const ps::DiscreteLaplace law = CountLaw(bounded->asked.question.budget, half);
    count = ps::SaturatingAdd(exact.count, law.Draw(StrongRandom()));
  });
  const Datum deviation = Calculate(numeric_add, NumericOf(exact.sum), NumericOf(CopyOf(noise)));
  const Datum divisor = DirectFunctionCall1(int8_numeric, Int64GetDatum(Max(count, 1)));
  Datum average = Calculate(numeric_add, centre, Calculate(numeric_div, deviation, divisor));
  average = Calculate(numeric_larger, lower, Calculate(numeric_smaller, upper, average));
  return DatumGetCString(DirectFunctionCall1(numeric_out, average));
}

}  // namespace

// dp_sum(relation, attribute, lower, upper, epsilon, predicate, fresh)
Datum ps_dp_sum(PG_FUNCTION_ARGS) {
  const BoundedQuestion bounded = AskWithinBounds(fcinfo, "dp_sum", "sum", true);
  const int most = TypeDecimals(&bounded.asked.column);
  int decimals = 0;
  CallCoreOrRaise([&] { decimals = GridOf(&bounded, MagnitudeOf(&bounded), EpsilonOf(&bounded), most).decimals; });
  const Payment payment =
      AnswerOf(&bounded.asked.question, [&](Debit* debit) { return NoisySum(debit, &bounded, decimals); });
  return NumericOf(payment.answer);
}

// dp_avg(relation, attribute, lower, upper, epsilon, predicate, fresh)
Datum ps_dp_avg(PG_FUNCTION_ARGS) {
  const BoundedQuestion bounded = AskWithinBounds(fcinfo, "dp_avg", "avg", false);
  int decimals = 0;
  CallCoreOrRaise([&] {
    const ps::Rational half = EpsilonOf(&bounded) / ps::Rational(2);
    decimals = GridOf(&bounded, HalfWidthOf(&bounded), half, -1).decimals;
    CountLaw(bounded.asked.question.budget, half);
  });
  const Payment payment =
      AnswerOf(&bounded.asked.question, [&](Debit* debit) { return NoisyAverage(debit, &bounded, decimals); });
  return NumericOf(payment.answer);
}

}  // namespace privacy_score
