/*
 * noisy_count.cpp - the aggregates noisy_count(epsilon) and noisy_count(value, epsilon).
 *
 * For those who have SELECT; nothing is charged. A group has one noise: it is drawn by the first call of the final
 * function and kept in the state, because the executor may call it again for the same group (a rescan of a hash table).
 * The state is of type bytea with an initial value of zeros, and not internal, so that a group without any row, in
 * which the transition function is never called, has a place for its noise too. Whoever makes an aggregate of these
 * functions may hand them any bytes, so nothing in the state is believed.
 */
#include "backend/server/core_call.hpp"

extern "C" {
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
}

#include <cstring>

#include "backend/catalog/function_arguments.hpp"
#include "backend/server/strong_random.hpp"
#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_noisy_count_transition);
PG_FUNCTION_INFO_V1(ps_noisy_count_final);
}

namespace ps = privacy_score;

namespace {

// The bytes of the state; INITCOND in the script has as many zeros.
struct NoisyCountState {
  char header[VARHDRSZ];
  char is_drawn;
  char epsilon[67];  // as text, ends with a zero; empty before the first row
  int64 count;
  int64 noisy_count;
};
static_assert(sizeof(NoisyCountState) == 88);

NoisyCountState* StateArgument(FunctionCallInfo fcinfo) {
  if (AggCheckCallContext(fcinfo, nullptr) != AGG_CONTEXT_AGGREGATE)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("noisy_count must be called as an aggregate"),
                    errhint("Write SELECT privacy_score.noisy_count(0.1) FROM ....")));
  auto* state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<NoisyCountState*>(PG_GETARG_POINTER(0));
  if (state == nullptr || VARATT_IS_EXTENDED(state) || VARSIZE(state) != sizeof(NoisyCountState))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("state of noisy_count has another form"),
                    errhint("Only noisy_count() makes such states.")));
  state->epsilon[sizeof state->epsilon - 1] = '\0';
  return state;
}

// The text of the epsilon of the last row, which is most often that of all rows: made anew only when the bytes differ.
struct EpsilonCache {
  Size size;
  char* bytes;
  char* text;
};

const char* EpsilonOfRow(FunctionCallInfo fcinfo, int number) {
  RequireArgument(fcinfo, number, "epsilon");
  auto* cache = static_cast<EpsilonCache*>(fcinfo->flinfo->fn_extra);
  MemoryContext keep = fcinfo->flinfo->fn_mcxt;
  if (cache == nullptr)
    fcinfo->flinfo->fn_extra = cache = static_cast<EpsilonCache*>(MemoryContextAllocZero(keep, sizeof(EpsilonCache)));
  auto* epsilon = reinterpret_cast<char*>(PG_GETARG_NUMERIC(number));
  const Size size = VARSIZE_ANY(epsilon);
  if (cache->text != nullptr && cache->size == size && std::memcmp(cache->bytes, epsilon, size) == 0)
    return cache->text;
  const char* text = numeric_normalize(reinterpret_cast<Numeric>(epsilon));
  CallCoreOrRaise([&] { ps::ParseEpsilon(text); });
  if (cache->text != nullptr) {
    pfree(cache->bytes);
    pfree(cache->text);
    cache->text = nullptr;
  }
  cache->bytes = static_cast<char*>(MemoryContextAlloc(keep, size));
  std::memcpy(cache->bytes, epsilon, size);
  cache->size = size;
  cache->text = MemoryContextStrdup(keep, text);
  return cache->text;
}

// The epsilon of a group without rows: the argument's expression, when it does not depend on rows.
const char* EpsilonOfCall(FunctionCallInfo fcinfo) {
  const Aggref* call = AggGetAggref(fcinfo);
  if (call != nullptr) {
    auto* argument = static_cast<TargetEntry*>(list_nth(call->args, list_length(call->aggargtypes) - 1));
    auto* expression = reinterpret_cast<Node*>(argument->expr);
    if (!contain_var_clause(expression) && !contain_subplans(expression)) {
      auto* aggregation = reinterpret_cast<AggState*>(fcinfo->context);
      ExprState* ready = ExecInitExpr(argument->expr, &aggregation->ss.ps);
      bool is_null = false;
      const Datum value = ExecEvalExprSwitchContext(ready, aggregation->ss.ps.ps_ExprContext, &is_null);
      if (is_null) RaiseNullArgument("epsilon");
      return numeric_normalize(DatumGetNumeric(value));
    }
  }
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("epsilon is not known, because no row was counted"),
                  errhint("Give epsilon as a constant.")));
}

}  // namespace

// noisy_count(epsilon) and noisy_count(value, epsilon): a row, or a row whose value is not NULL, counts.
Datum ps_noisy_count_transition(PG_FUNCTION_ARGS) {
  NoisyCountState* state = StateArgument(fcinfo);
  const int last = PG_NARGS() - 1;
  const char* epsilon = EpsilonOfRow(fcinfo, last);
  if (state->epsilon[0] == '\0') {
    strlcpy(state->epsilon, epsilon, sizeof state->epsilon);
  } else if (std::strcmp(state->epsilon, epsilon) != 0) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("epsilon must be the same for all rows, not %s and %s", state->epsilon, epsilon),
                    errhint("A group has one noise; give epsilon as a constant.")));
  }
  if (last == 1 || !PG_ARGISNULL(1)) ++state->count;
  PG_RETURN_POINTER(state);
}

// The noisy count of a group, the same however often it is asked for.
Datum ps_noisy_count_final(PG_FUNCTION_ARGS) {
  NoisyCountState* state = StateArgument(fcinfo);
  if (state->is_drawn == 0) {
    const char* epsilon = state->epsilon[0] != '\0' ? state->epsilon : EpsilonOfCall(fcinfo);
    int64 noise = 0;
    CallCoreOrRaise(
        [&] { noise = ps::DiscreteLaplace(ps::Rational(1) / ps::ParseEpsilon(epsilon)).Draw(StrongRandom()); });
    state->noisy_count = ps::SaturatingAdd(state->count, noise);
    state->is_drawn = 1;
  }
  PG_RETURN_INT64(state->noisy_count);
}

}  // namespace privacy_score
