/*
 * private_key_values.hpp - what values a key of a level may have, without reading a row of persons.
 */
#pragma once

#include "backend/private_sql/private_level.hpp"

namespace privacy_score {

// The item of FROM, by number, whose columns alone make a key, when it is public; 0: none.
int PublicItemOf(const PrivateLevel* level, const ::Query* part, Node* key);

// The distinct rows of a public query, whose targets these expressions are; more than kMostPublicGroups: too many.
List* TuplesOfQuery(::Query* query, List* expressions);

// The distinct values of expressions over one public item, read as who asks: a list of lists of Const. NIL for too
// many.
List* TuplesOfItem(::Query* part, int item, List* expressions);

// The values of any other key, each as a list of one Const; NIL when they are not known, or too many.
List* ValuesOfKey(const PrivateLevel* level, ::Query* part, Node* key);

// Whether an item of FROM is, or has, rows of persons.
bool HoldsPersons(const RangeTblEntry* rte, const PrivateLevel* level);

}  // namespace privacy_score
