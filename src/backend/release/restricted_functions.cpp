/*
 * restricted_functions.cpp - restricted_count(): counts under set-size control, with the rights of the caller.
 *
 * A count is refused when the records that satisfy the condition, or those that do not, are fewer than a minimum: the
 * count of all less the one of the complement would tell as much. The condition is parsed and rebuilt, never spliced,
 * and no error depends on a row (dp_predicate.hpp).
 */
extern "C" {
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/dp/dp_predicate.hpp"
#include "backend/server/wire.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_restricted_count);
}

// restricted_count(relation, predicate, min_set_size)
Datum ps_restricted_count(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  RequireArgument(fcinfo, 1, "predicate");
  RequireArgument(fcinfo, 2, "min_set_size");
  const int64 least = PG_GETARG_INT64(2);
  if (least < 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("min_set_size must be at least 1, not " INT64_FORMAT, least),
                    errhint("Sets of fewer records, and those whose complement is smaller, have no answer.")));
  const ConditionQuery* condition = BindCondition(relation, PG_GETARG_TEXT_PP(1), 0);
  const char* sql = psprintf("SELECT pg_catalog.count(*) FILTER (WHERE %s), pg_catalog.count(*) FROM %s r",
                             condition->sql, QuotedRelation(relation));
  ConnectSpi();
  if (SPI_execute_with_args(sql, condition->nargs, condition->types, condition->values, nullptr, true, 0) !=
          SPI_OK_SELECT ||
      SPI_processed != 1)
    elog(ERROR, "could not count the records of a condition");
  const int64 set = FieldNumber(0, 0);
  const int64 all = FieldNumber(0, 1);
  SPI_finish();
  if (set < least || all - set < least) PG_RETURN_NULL();
  PG_RETURN_INT64(set);
}

}  // namespace privacy_score
