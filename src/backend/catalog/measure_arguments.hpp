/*
 * measure_arguments.hpp - arguments that the measures of loss share: decimals, probabilities, columns of numbers.
 */
#pragma once

#include "backend/server/core_call.hpp"

extern "C" {
#include "access/attnum.h"
#include "fmgr.h"
}

#include <vector>

#include "core/base/decimal_grid.hpp"
#include "core/loss/record_priors.hpp"

namespace privacy_score {

// Decimals as the server prints them.
struct DecimalTexts {
  int count;
  const char** texts;
};

// An array of numbers; raises 22023 for NULL, 22004 for NULL in it, 2202E for more than one dimension.
DecimalTexts DecimalsArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// For use within CallCore; throws what ParseDecimal does.
std::vector<privacy_score::Decimal> DecimalsOf(const DecimalTexts& texts, const char* name);

// An array of float8 row by row, as it lies in the argument. One dimension is one row; NULL has no rows.
struct NumberRows {
  int rows;
  int width;
  const double* numbers;
};

// Raises 22004 for NULL in it and 2202E for more than `dimensions`.
NumberRows NumberRowsArgument(FunctionCallInfo fcinfo, int argument, const char* name, int dimensions);

privacy_score::PriorRows PriorsOf(const NumberRows& rows);

// Raises 42804 unless the column holds numbers that numeric can hold, and 42501 unless the caller may read it.
void RequireNumericColumn(Oid relation, AttrNumber column);

}  // namespace privacy_score
