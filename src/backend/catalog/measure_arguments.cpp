/*
 * measure_arguments.cpp - see measure_arguments.hpp.
 */
#include "backend/catalog/measure_arguments.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/value_types.hpp"

namespace privacy_score {

DecimalTexts DecimalsArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
  const ElementList list = ElementsArgument(fcinfo, argument, name);
  DecimalTexts decimals = {list.count, nullptr};
  const Size room = sizeof(char*) * (static_cast<Size>(list.count) + 1);
  decimals.texts = static_cast<const char**>(MemoryContextAllocHuge(CurrentMemoryContext, room));
  for (int i = 0; i < list.count; ++i)
    decimals.texts[i] = DatumGetCString(DirectFunctionCall1(numeric_out, list.values[i]));
  return decimals;
}

std::vector<privacy_score::Decimal> DecimalsOf(const DecimalTexts& texts, const char* name) {
  std::vector<privacy_score::Decimal> values;
  values.reserve(static_cast<std::size_t>(texts.count));
  for (int i = 0; i < texts.count; ++i) values.push_back(privacy_score::ParseDecimal(name, texts.texts[i]));
  return values;
}

NumberRows NumberRowsArgument(FunctionCallInfo fcinfo, int argument, const char* name, int dimensions) {
  if (PG_ARGISNULL(argument)) return {0, 0, nullptr};
  ArrayType* array = PG_GETARG_ARRAYTYPE_P(argument);
  if (ARR_NDIM(array) > dimensions)
    ereport(ERROR,
            (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
             errmsg("%s must have at most %d dimensions, not %d", name, dimensions, ARR_NDIM(array)),
             errhint("Write '{0.5,0.5}'%s.", dimensions > 1 ? ", or a row for each record '{{0.5,0.5},{1,0}}'" : "")));
  RequireNoNulls(array, name, "Write 0 for what is impossible.");
  NumberRows rows = {1, 0, reinterpret_cast<const double*>(ARR_DATA_PTR(array))};
  if (ARR_NDIM(array) == 1) rows.width = ARR_DIMS(array)[0];
  if (ARR_NDIM(array) == 2) {
    rows.rows = ARR_DIMS(array)[0];
    rows.width = ARR_DIMS(array)[1];
  }
  return rows;
}

privacy_score::PriorRows PriorsOf(const NumberRows& rows) {
  privacy_score::PriorRows priors;
  priors.rows = static_cast<std::size_t>(rows.rows);
  priors.width = static_cast<std::size_t>(rows.width);
  priors.probabilities.assign(rows.numbers, rows.numbers + priors.rows * priors.width);
  return priors;
}

void RequireNumericColumn(Oid relation, AttrNumber column) {
  RequireSelect(relation, column);
  if (!IsNumberType(getBaseType(get_atttype(relation, column))))
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("column \"%s\" does not hold numbers", get_attname(relation, column, false)),
                    errhint("Integers, numeric, real and double precision do.")));
}

}  // namespace privacy_score
