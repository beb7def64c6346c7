/*
 * private_price_functions.cpp - dp_price(): what a query in plain SQL would cost.
 */
#include "backend/private_sql/private_answer.hpp"

extern "C" {
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/private_sql/private_classes.hpp"
#include "backend/private_sql/private_errors.hpp"
#include "backend/private_sql/private_refusals.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/server/compat.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_dp_price);
}

namespace {

// The levels of a SELECT that would be answered. Raises PS003, and 22023 for anything but one SELECT.
List* LevelsOfText(const char* text) {
  List* statements = pg_parse_query(text);
  if (list_length(statements) != 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("dp_price() takes one statement, not %d", list_length(statements)),
                    errhint("Ask for one query at a time.")));
  ::Query* query = AnalyzeStatement(linitial_node(RawStmt, statements), text);
  List* rewritten = query->commandType == CMD_UTILITY ? NIL : QueryRewrite(query);
  if (list_length(rewritten) != 1 || AsQuery(linitial(rewritten))->commandType != CMD_SELECT)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("dp_price() takes a SELECT"),
                    errhint("Give the text of a query, such as SELECT count(*) FROM ....")));
  List* levels = AnswerLevels(AsQuery(linitial(rewritten)));
  RequireKnownErrors(AsQuery(linitial(rewritten)));
  return levels;
}

Datum NamesOfRelations(const List* relations) {
  StringInfoData names;
  initStringInfo(&names);
  const ListCell* cell;
  foreach (cell, relations)
    appendStringInfo(&names, "%s%s", names.len == 0 ? "" : ", ", get_rel_name(lfirst_oid(cell)));
  return CStringGetTextDatum(names.data);
}

}  // namespace

// dp_price(sql)
Datum ps_dp_price(PG_FUNCTION_ARGS) {
  RequireArgument(fcinfo, 0, "sql");
  const char* sql = text_to_cstring(PG_GETARG_TEXT_PP(0));
  InitMaterializedSRF(fcinfo, 0);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const char* before = LookAtText(sql);
  PG_TRY();
  {
    int number = 0;
    const ListCell* cell;
    foreach (cell, LevelsOfText(sql)) {
      const auto* level = static_cast<PrivateLevel*>(lfirst(cell));
      const PrivateCost cost = CostOfLevel(level, nullptr);
      Datum values[] = {Int32GetDatum(++number),
                        NamesOfRelations(level->relations),
                        NumericOf(cost.repeated ? "0" : cost.epsilon),
                        cost.once == nullptr ? NumericOf("0") : NumericOf(cost.once),
                        cost.delta == nullptr || cost.repeated ? NumericOf("0") : NumericOf(cost.delta),
                        BoolGetDatum(cost.repeated),
                        NumericOf(cost.epsilon_left)};
      bool nulls[lengthof(values)] = {};
      tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
  }
  PG_FINALLY();
  { (void)LookAtText(before); }
  PG_END_TRY();
  return Datum(0);
}

}  // namespace privacy_score
