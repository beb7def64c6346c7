/*
 * private_domains.hpp - the values that columns have by dp_domain(), as their owner declares them.
 *
 * A declaration says what is known of a column without its rows: bounds, or a list. It makes groups public, and a value
 * that it does not have counts as the nearest bound, or as NULL, wherever a level groups by the column or aggregates
 * it. Conditions (WHERE, FILTER, CASE WHEN) see values as they are, so that no view shows more rows than its owner
 * meant, and so do joins and what tells persons apart: what unique keys prove stays true.
 *
 * Neighbours: what a value is turned into depends on the declaration and on the value alone. So one person still
 * changes no rows but her own, and how much of her counts is bounded as ever by what she has (core/private_sql). The
 * clamped expression is a part of the question, so another declaration is another question.
 */
#pragma once

#include "backend/private_sql/private_level.hpp"

extern "C" {
#include "access/attnum.h"
}

namespace privacy_score {

// Bounds, of which one may be missing, or a list of all values.
struct ColumnDomain {
  AttrNumber number;
  Const* low;    // null: none
  Const* high;   // null: none
  List* values;  // of Const; NIL: bounds
};

// The declared domain of a column that is in force, palloc'd; null: none.
const ColumnDomain* DomainOf(Oid relation, AttrNumber number);

// Whether a column of a type can have bounds, or a list of values.
bool CanHaveBounds(Oid type);
bool CanHaveList(Oid type);

// A value of such a type as text that depends on no setting, which the type reads under any.
const char* TextOfDomainValue(Oid type, Datum value);

// Puts the values that declarations give to rows in the place of those that the keys and values of a level's part have.
void ClampToDomains(const PrivateLevel* level, ::Query* part);

}  // namespace privacy_score
