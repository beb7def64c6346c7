/*
 * value_types.hpp - what can be done with the values of a type: order them, count with them.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// Raises 42883 unless the values of a type have an order; `column` is for the message.
void RequireOrder(Oid type, const char* column);

// Integers, numeric and floating point; domains are to be looked through before.
bool IsIntegerType(Oid type);

bool IsNumberType(Oid type);

}  // namespace privacy_score
