/*
 * estimate_functions.cpp - estimate_count(): counts from a release, as its readers can make them.
 *
 * Each record of a bucket has each value of the bucket with the same probability, so that the count of a condition is
 * expected to be the number of pairs of a record and a value of a bucket that satisfy it, by the values of the bucket,
 * over all buckets [Anatomy]. With the rights of the caller.
 */
extern "C" {
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

#include <cmath>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/dp/dp_predicate.hpp"
#include "backend/release/release_shape.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_estimate_count);
}

namespace {

// How many values a row of the second table stands for.
const char* WeightOf(const ReleaseShape* shape) {
  if (shape->count == InvalidAttrNumber) return "pg_catalog.count(*)";
  return psprintf("pg_catalog.sum(s.%s::pg_catalog.int8)", QuotedColumn(shape->st, shape->count));
}

// Shares of buckets add up to 964.0999999999998 in one order and to 964.1 in another: what is beyond their precision
// goes.
double WithoutDust(double estimate) {
  constexpr double kSteps = 1e8;
  constexpr double kMost = 1e7;  // beyond it steps would be finer than doubles are
  return std::abs(estimate) < kMost ? std::rint(estimate * kSteps) / kSteps : estimate;
}

}  // namespace

// estimate_count(qit, st, predicate)
Datum ps_estimate_count(PG_FUNCTION_ARGS) {
  const Oid qit = RelationArgument(fcinfo, 0, "qit");
  const Oid st = RelationArgument(fcinfo, 1, "st");
  RequireArgument(fcinfo, 2, "predicate");
  const ReleaseShape shape = ShapeOfRelease(qit, st);
  const ConditionTable tables[] = {{qit, "q"}, {st, "s"}};
  const ConditionQuery* condition = BindCondition(tables, 2, PG_GETARG_TEXT_PP(2), 0);
  const char* weight = WeightOf(&shape);
  const char* q_bid = QuotedColumn(qit, shape.qit_bid);
  const char* s_bid = QuotedColumn(st, shape.st_bid);
  const char* sql = psprintf(
      "SELECT pg_catalog.sum(m.n OPERATOR(pg_catalog./) t.n) FROM (SELECT s.%s AS b, %s::pg_catalog.float8 AS n "
      "FROM %s q JOIN %s s ON q.%s OPERATOR(pg_catalog.=) s.%s WHERE %s GROUP BY s.%s) m "
      "JOIN (SELECT s.%s AS b, %s::pg_catalog.float8 AS n FROM %s s GROUP BY s.%s) t ON m.b OPERATOR(pg_catalog.=) t.b",
      s_bid, weight, shape.qit_name, shape.st_name, q_bid, s_bid, condition->sql, s_bid, s_bid, weight, shape.st_name,
      s_bid);
  ConnectSpi();
  // Few buckets are expected where a release was not analyzed, or where conditions go together: then a nested loop
  // takes the square of the time, and nowhere is it much faster.
  const int nest_level = NewGUCNestLevel();
  SetWithin("enable_nestloop", "off");
  if (SPI_execute_with_args(sql, condition->nargs, condition->types, condition->values, nullptr, true, 0) !=
          SPI_OK_SELECT ||
      SPI_processed != 1)
    elog(ERROR, "could not read a release");
  bool null;
  const Datum sum = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null);
  const double estimate = null ? 0 : DatumGetFloat8(sum);
  AtEOXact_GUC(false, nest_level);
  SPI_finish();
  PG_RETURN_FLOAT8(WithoutDust(estimate));
}

}  // namespace privacy_score
