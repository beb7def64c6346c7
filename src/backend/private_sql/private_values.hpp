/*
 * private_values.hpp - values of persons' rows as core takes them: keys as bytes and text, numbers as steps of a grid.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/nodes.h"
}

#include <cstdint>

namespace privacy_score {

// How numbers of a column become whole steps. The grid follows from the column's type, not from its rows: 1 for
// integers, 10^-s for numeric(p, s), else 10^-6.
struct ValueGrid {
  Oid type;      // InvalidOid: only whether a value is NULL matters
  int decimals;  // a step is 10^-decimals
};
ValueGrid ColumnGrid(const Node* expression, bool summed);

// The value in steps, rounded to the nearest and held within +-2^62; kNullSteps for NaN and infinities.
std::int64_t StepsOfValue(const ValueGrid* grid, Datum value);

// Whether groups may be made by values of a type: the server's own scalar ones, and enums.
bool CanBeKey(Oid type);

// Bytes that are the same for equal values of a key, and for no others.
void AppendKeyImage(StringInfo bytes, Oid type, Datum value, bool is_null);

// The value as text, in one way for all equal ones and whatever the settings; null for NULL. And back.
const char* TextOfKey(Oid type, Datum value, bool is_null);
Datum KeyOfText(Oid type, const char* text);

}  // namespace privacy_score
