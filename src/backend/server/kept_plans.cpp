/*
 * kept_plans.cpp - see kept_plans.hpp.
 */
#include "backend/server/kept_plans.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/parsenodes.h"
}

#include "backend/server/wire.hpp"

namespace privacy_score {

namespace {

struct KeptQuery {
  const char* sql;
  SPIPlanPtr plan;
};

constexpr int kMostKept = 32;
KeptQuery queries[kMostKept];

}  // namespace

SPIPlanPtr KeptPlan(const char* sql, int nargs) {
  KeptQuery* place = queries;
  for (; place->sql != nullptr && place->sql != sql; ++place)
    if (place == queries + kMostKept - 1) elog(ERROR, "too many plans are kept");
  if (place->sql == sql) return place->plan;
  Oid types[kMostTextArguments];
  for (int i = 0; i < nargs; ++i) types[i] = TEXTOID;
  SPIPlanPtr plan = SPI_prepare_cursor(sql, nargs, types, CURSOR_OPT_GENERIC_PLAN | CURSOR_OPT_NO_SCROLL);
  if (plan == nullptr || SPI_keepplan(plan) != 0) elog(ERROR, "could not keep the plan of an internal query");
  *place = {sql, plan};
  return plan;
}

}  // namespace privacy_score
