/*
 * equivocation_functions.cpp - SQL functions for what is left to guess of a number, and for the laws that techniques of
 * disclosure control leave.
 */
extern "C" {
#include "postgres.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
}

#include <optional>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/measure_arguments.hpp"
#include "backend/server/cancellable_call.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"
#include "core/loss/equivocation.hpp"
#include "core/loss/technique_posteriors.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_equivocation);
PG_FUNCTION_INFO_V1(ps_equivocation_curve);
PG_FUNCTION_INFO_V1(ps_equivocation_area);
PG_FUNCTION_INFO_V1(ps_disclosure_risk);
PG_FUNCTION_INFO_V1(ps_information_loss);
PG_FUNCTION_INFO_V1(ps_interval_privacy);
PG_FUNCTION_INFO_V1(ps_sampling_probabilities);
PG_FUNCTION_INFO_V1(ps_noise_posterior);
}

namespace ps = privacy_score;

namespace {

constexpr int64 kMostRows = 10000000;
constexpr int32 kMostValues = 10000000;  // some hundred megabytes while they are worked out

// Memory for one call.
struct EquivocationWork {
  std::optional<ps::ValueLaw> law;
  std::optional<ps::EquivocationCurve> curve;
  std::vector<double> numbers;
};

// The law of the first two arguments, vals and probabilities.
EquivocationWork* ReadLaw(FunctionCallInfo fcinfo) {
  const DecimalTexts vals = DecimalsArgument(fcinfo, 0, "vals");
  const NumberRows probabilities = NumberRowsArgument(fcinfo, 1, "probabilities", 1);
  auto* work = NewCoreObject<EquivocationWork>();
  CallCoreOrRaise([&] {
    const std::vector<double> given(probabilities.numbers, probabilities.numbers + probabilities.width);
    work->law.emplace(DecimalsOf(vals, "vals"), probabilities.rows > 0 ? &given : nullptr);
  });
  return work;
}

void FindCurve(EquivocationWork* work) {
  CallCoreOrRaise([&] { work->curve.emplace(*work->law); });
  RunPausing([&](auto interrupted) { return work->curve->Run(ControlOf(interrupted)); });
}

// A decimal as numeric.
Datum NumericOfSteps(ps::Int128 steps, int decimals) {
  char text[64];
  CallCoreOrRaise([&] { strlcpy(text, ps::DecimalText(steps, decimals).c_str(), sizeof text); });
  return NumericOf(text);
}

// The numbers that core has left in `work`, as float8[].
Datum NumbersOf(const EquivocationWork* work) {
  const auto count = static_cast<int>(work->numbers.size());
  auto* elements =
      static_cast<Datum*>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(Datum) * (static_cast<Size>(count) + 1)));
  for (int i = 0; i < count; ++i) elements[i] = Float8GetDatum(work->numbers[static_cast<std::size_t>(i)]);
  return PointerGetDatum(construct_array(elements, count, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

NumberRows RequiredNumbers(FunctionCallInfo fcinfo, int argument, const char* name) {
  RequireArgument(fcinfo, argument, name);
  return NumberRowsArgument(fcinfo, argument, name, 1);
}

void PutStep(FunctionCallInfo fcinfo, Datum epsilon, double entropy) {
  Datum values[2] = {epsilon, Float8GetDatum(entropy)};
  bool nulls[2] = {};
  PutResultRow(fcinfo, values, nulls);
}

// Rows at 0, step, 2 step, ... up to the first at which nothing is left.
void PutRegularSteps(FunctionCallInfo fcinfo, EquivocationWork* work, const char* step_text) {
  ps::Decimal step;
  int64 rows = 0;
  CallCoreOrRaise([&] {
    step = ps::Shortest(ps::ParseDecimal("step", step_text));
    if (step.digits <= 0)
      throw ps::InvalidValue("step must be greater than 0, not " + ps::DecimalText(step.digits, step.decimals),
                             "NULL shows every epsilon at which the curve changes.");
    const double all = ps::DecimalValue(work->curve->steps().front().epsilon, work->law->decimals()) /
                       ps::DecimalValue(step.digits, step.decimals);
    if (all > static_cast<double>(kMostRows))
      throw ps::Error("54000", "the curve would have more than " + std::to_string(kMostRows) + " rows",
                      "Give a greater step, or NULL for every epsilon at which the curve changes.");
  });
  for (bool more = true; more; ++rows) {
    CHECK_FOR_INTERRUPTS();
    double entropy = 0;
    CallCoreOrRaise([&] {
      entropy = work->curve->EntropyAt(ps::EpsilonSteps(*work->law, {step.digits * rows, step.decimals}));
    });
    PutStep(fcinfo, NumericOfSteps(step.digits * rows, step.decimals), entropy);
    more = entropy > 0;
  }
}

}  // namespace

// equivocation(vals, probabilities, epsilon)
Datum ps_equivocation(PG_FUNCTION_ARGS) {
  EquivocationWork* work = ReadLaw(fcinfo);
  RequireArgument(fcinfo, 2, "epsilon");
  const char* text = NumericArgument(fcinfo, 2);
  double entropy = 0;
  RunPausing([&](auto interrupted) {
    return ps::Finishes([&] {
      const int64 epsilon = ps::EpsilonSteps(*work->law, ps::ParseDecimal("epsilon", text));
      entropy = ps::EquivocationAt(*work->law, epsilon, ControlOf(interrupted));
    });
  });
  PG_RETURN_FLOAT8(entropy);
}

// equivocation_curve(vals, probabilities, step)
Datum ps_equivocation_curve(PG_FUNCTION_ARGS) {
  EquivocationWork* work = ReadLaw(fcinfo);
  const char* step = NumericArgument(fcinfo, 2);
  InitMaterializedSRF(fcinfo, 0);
  FindCurve(work);
  if (step != nullptr) {
    PutRegularSteps(fcinfo, work, step);
    return Datum(0);
  }
  const std::vector<ps::EquivocationStep>& steps = work->curve->steps();
  for (std::size_t i = steps.size(); i-- > 0;)
    PutStep(fcinfo, NumericOfSteps(steps[i].epsilon, work->law->decimals()), steps[i].entropy);
  return Datum(0);
}

// equivocation_area(vals, probabilities)
Datum ps_equivocation_area(PG_FUNCTION_ARGS) {
  EquivocationWork* work = ReadLaw(fcinfo);
  FindCurve(work);
  PG_RETURN_FLOAT8(work->curve->Area(work->law->decimals()));
}

// disclosure_risk(probabilities)
Datum ps_disclosure_risk(PG_FUNCTION_ARGS) {
  const NumberRows given = RequiredNumbers(fcinfo, 0, "probabilities");
  double risk = 0;
  CallCoreOrRaise([&] { risk = ps::ReciprocalRisk({given.numbers, given.numbers + given.width}); });
  PG_RETURN_FLOAT8(risk);
}

// information_loss(original, estimated, width)
Datum ps_information_loss(PG_FUNCTION_ARGS) {
  const NumberRows original = RequiredNumbers(fcinfo, 0, "original");
  const NumberRows estimated = RequiredNumbers(fcinfo, 1, "estimated");
  RequireArgument(fcinfo, 2, "width");
  const double width = PG_GETARG_FLOAT8(2);
  double loss = 0;
  CallCoreOrRaise([&] {
    loss = ps::InformationLoss({original.numbers, original.numbers + original.width},
                               {estimated.numbers, estimated.numbers + estimated.width}, width);
  });
  PG_RETURN_FLOAT8(loss);
}

// interval_privacy(vals, probabilities, confidence)
Datum ps_interval_privacy(PG_FUNCTION_ARGS) {
  EquivocationWork* work = ReadLaw(fcinfo);
  RequireArgument(fcinfo, 2, "confidence");
  const double confidence = PG_GETARG_FLOAT8(2);
  int64 width = 0;
  CallCoreOrRaise([&] { width = ps::IntervalPrivacy(*work->law, confidence); });
  return NumericOfSteps(width, work->law->decimals());
}

// sampling_probabilities(domain, matching_in_sample, matching_in_population)
Datum ps_sampling_probabilities(PG_FUNCTION_ARGS) {
  const DecimalTexts domain = DecimalsArgument(fcinfo, 0, "domain");
  const DecimalTexts sample = DecimalsArgument(fcinfo, 1, "matching_in_sample");
  RequireArgument(fcinfo, 2, "matching_in_population");
  const int64 matching = PG_GETARG_INT64(2);
  auto* work = NewCoreObject<EquivocationWork>();
  CallCoreOrRaise([&] {
    const std::vector<ps::Decimal> values = DecimalsOf(domain, "domain");
    const std::vector<std::int64_t> counts = ps::CountsInDomain(values, DecimalsOf(sample, "matching_in_sample"));
    work->numbers = ps::SamplingProbabilities(counts, matching);
  });
  return NumbersOf(work);
}

// noise_posterior(domain_size, released, max_noise)
Datum ps_noise_posterior(PG_FUNCTION_ARGS) {
  RequireArgument(fcinfo, 0, "domain_size");
  const int32 domain_size = PG_GETARG_INT32(0);
  const ElementList released = ElementsArgument(fcinfo, 1, "released");
  RequireArgument(fcinfo, 2, "max_noise");
  const int32 max_noise = PG_GETARG_INT32(2);
  if (domain_size < 1)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("domain_size must be at least 1, not %d", domain_size),
             errhint("It is the number of values, which are numbered from 1.")));
  if (domain_size > kMostValues)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("domain_size can be at most %d, not %d", kMostValues, domain_size),
                    errhint("The answer has a probability for each value. Leave out values that the noise cannot lead "
                            "to from what was released.")));
  if (released.count == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("released must not be empty"),
                    errhint("List the released numbers of the matching records.")));
  auto* work = NewCoreObject<EquivocationWork>();
  RunCancellable([&] {
    std::vector<std::int64_t> numbers;
    for (int i = 0; i < released.count; ++i) numbers.push_back(DatumGetInt32(released.values[i]));
    work->numbers = ps::NoisePosterior(domain_size, numbers, ps::BinomialNoise(max_noise), StatementEnds);
  });
  return NumbersOf(work);
}

}  // namespace privacy_score
