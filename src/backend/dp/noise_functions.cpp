/*
 * noise_functions.cpp - SQL functions for noise and for what noisy answers tell.
 *
 * They read no table and spend no budget. Arguments of type numeric reach core as the decimal they print, so no double
 * stands between the epsilon that was written and the law that is drawn from.
 */
#include "backend/server/cancellable_call.hpp"
#include "backend/server/core_call.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
}

#include <cstring>
#include <string>
#include <vector>

#include "backend/catalog/function_arguments.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/strong_random.hpp"
#include "backend/server/wire.hpp"
#include "core/noise/discrete_laplace.hpp"
#include "core/noise/exponential_mechanism.hpp"
#include "core/noise/laplace.hpp"
#include "core/noise/noise_measures.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_discrete_laplace);
PG_FUNCTION_INFO_V1(ps_laplace_noise);
PG_FUNCTION_INFO_V1(ps_laplace_step);
PG_FUNCTION_INFO_V1(ps_dp_choose);
PG_FUNCTION_INFO_V1(ps_dp_kl_divergence);
PG_FUNCTION_INFO_V1(ps_dp_inference_ratio);
}

namespace ps = privacy_score;

namespace {

// The law of the last call of an expression, kept while its scale stays the same.
struct LawCache {
  CoreHolder<ps::DiscreteLaplace>* law;
  char* scale;
};

}  // namespace

// discrete_laplace(scale)
Datum ps_discrete_laplace(PG_FUNCTION_ARGS) {
  const char* scale = DecimalArgument(fcinfo, 0, "scale");
  MemoryContext keep = fcinfo->flinfo->fn_mcxt;
  auto* cache = static_cast<LawCache*>(fcinfo->flinfo->fn_extra);
  if (cache == nullptr) {
    cache = static_cast<LawCache*>(MemoryContextAllocZero(keep, sizeof(LawCache)));
    cache->law = NewCoreHolder<ps::DiscreteLaplace>(keep);
    fcinfo->flinfo->fn_extra = cache;
  }
  if (cache->scale == nullptr || std::strcmp(cache->scale, scale) != 0) {
    CallCoreOrRaise([&] { cache->law->Reset(new ps::DiscreteLaplace(ps::ParseScale(scale))); });
    if (cache->scale != nullptr) pfree(cache->scale);
    cache->scale = nullptr;
    cache->scale = MemoryContextStrdup(keep, scale);
  }
  int64 noise = 0;
  CallCoreOrRaise([&] { noise = cache->law->object->Draw(StrongRandom()); });
  PG_RETURN_INT64(noise);
}

// laplace_noise(scale)
Datum ps_laplace_noise(PG_FUNCTION_ARGS) {
  RequireArgument(fcinfo, 0, "scale");
  const double scale = PG_GETARG_FLOAT8(0);
  double noise = 0;
  CallCoreOrRaise([&] { noise = ps::DrawLaplace(scale, StrongRandom()); });
  PG_RETURN_FLOAT8(noise);
}

// laplace_step(scale)
Datum ps_laplace_step(PG_FUNCTION_ARGS) {
  const double scale = PG_GETARG_FLOAT8(0);
  double step = 0;
  CallCoreOrRaise([&] { step = ps::LaplaceStep(scale); });
  PG_RETURN_FLOAT8(step);
}

// dp_choose(options, utilities, epsilon, sensitivity)
Datum ps_dp_choose(PG_FUNCTION_ARGS) {
  const ElementList options = ElementsArgument(fcinfo, 0, "options");
  const ElementList utilities = ElementsArgument(fcinfo, 1, "utilities");
  const char* epsilon = DecimalArgument(fcinfo, 2, "epsilon");
  const char* sensitivity = DecimalArgument(fcinfo, 3, "sensitivity");
  if (options.count == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("options must not be empty"),
                    errhint("There must be something to choose.")));
  if (options.count != utilities.count)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("there must be one utility for each option, not %d for %d", utilities.count, options.count),
                    errhint("Give one utility for each option, in the same order.")));
  std::size_t chosen = 0;
  RunCancellable([&] {
    std::vector<double> values;
    for (int i = 0; i < utilities.count; ++i) values.push_back(DatumGetFloat8(utilities.values[i]));
    chosen = ps::ChooseExponential(values, ps::ParseEpsilon(epsilon), ps::ParseRational("sensitivity", sensitivity),
                                   StrongRandom(), StatementEnds);
  });
  PG_RETURN_DATUM(options.values[chosen]);
}

// dp_kl_divergence(epsilon, mechanism)
Datum ps_dp_kl_divergence(PG_FUNCTION_ARGS) {
  const double epsilon = PG_GETARG_FLOAT8(0);
  const char* mechanism = text_to_cstring(PG_GETARG_TEXT_PP(1));
  double divergence = 0;
  CallCoreOrRaise([&] { divergence = ps::NeighbourDivergence(epsilon, mechanism); });
  PG_RETURN_FLOAT8(divergence);
}

// dp_inference_ratio(x, y, epsilon)
Datum ps_dp_inference_ratio(PG_FUNCTION_ARGS) {
  const double x = PG_GETARG_FLOAT8(0);
  const double y = PG_GETARG_FLOAT8(1);
  const double epsilon = PG_GETARG_FLOAT8(2);
  ps::InferenceRatio ratio = {};
  CallCoreOrRaise([&] { ratio = ps::InferNoisyRatio(x, y, epsilon); });
  InitMaterializedSRF(fcinfo, 0);
  Datum values[3] = {Float8GetDatum(ratio.true_ratio), Float8GetDatum(ratio.expected_ratio),
                     Float8GetDatum(ratio.variance)};
  bool nulls[3] = {};
  PutResultRow(fcinfo, values, nulls);
  return Datum(0);
}

}  // namespace privacy_score
