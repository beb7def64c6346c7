/*
 * noise_arguments.hpp - arguments of the functions that add noise, as core reads them.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "utils/numeric.h"
}

// The argument as the decimal that it prints, without trailing zeros; NULL raises 22023 with the name of the parameter.
const char* DecimalArgument(FunctionCallInfo fcinfo, int number, const char* parameter);

// Raises 22023.
[[noreturn]] void RaiseNullArgument(const char* parameter);

// Raises 22023 when the argument is NULL.
void RequireArgument(FunctionCallInfo fcinfo, int number, const char* parameter);
