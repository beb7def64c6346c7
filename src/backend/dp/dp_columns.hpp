/*
 * dp_columns.hpp - the columns and constants of noisy questions.
 *
 * Comparisons are those of the default B-tree operator class of the column's type, in pg_catalog, and of types that
 * have been there from the beginning (or enums, and arrays of both): these operators fail on no value. Constants are
 * read by the type's own input function, without the constraints of a domain, whose CHECK is somebody's code.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "lib/stringinfo.h"
}

namespace privacy_score {

struct BoundColumn {
  const char* name;
  AttrNumber number;
  Oid type;     // without domains
  Oid operand;  // as the operators take it: text for varchar; InvalidOid when it cannot be compared
  Oid collation;
  int32 modifier;  // -1: none
};

// The column of that name, palloc'd parts; raises 42703 when there is none. System columns are for the caller to
// refuse.
BoundColumn BindColumn(Oid relation, const char* name);

// The type that the operators of the default B-tree class take for values of `type`; InvalidOid when it has none that
// may be used.
Oid ComparableOperand(Oid type);

// A value from its text; raises what the type's input function raises.
Datum ReadValue(Oid type, const char* text);

// The value as text; a number without zeros that say nothing, so that 1.0 can be read as an integer.
const char* TextOfValue(Oid type, Datum value);

// Bytes that are the same for equal values, as far as that is known of the type, and for no others. They depend on no
// setting, and outlive a dump.
void AppendImage(StringInfo bytes, Oid type, Datum value);

}  // namespace privacy_score
