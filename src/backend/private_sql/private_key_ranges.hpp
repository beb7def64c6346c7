/*
 * private_key_ranges.hpp - keys that have a value for each step between two bounds: whole numbers, dates, times cut off
 * at a unit, parts of dates.
 *
 * Bounds come from WHERE, or from a declaration by dp_domain(), and pass through what keeps or turns the order of
 * values: arithmetic with constants, rounding, casts, the year of a time.
 */
#pragma once

#include "backend/private_sql/private_level.hpp"

namespace privacy_score {

// The values of whole numbers and dates between bounds, and of a call of extract(), date_trunc(), width_bucket(), as
// lists of Const; NIL where they are not known, or too many.
List* ValuesBetween(const PrivateLevel* level, const ::Query* part, Node* expression);
List* ValuesOfCall(const PrivateLevel* level, const ::Query* part, FuncExpr* call);

// A value of a type, and a list of them with NULL.
Const* ConstOf(Oid type, Datum value);
List* WithNull(List* values, Oid type);

}  // namespace privacy_score
