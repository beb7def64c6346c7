/*
 * private_split.hpp - splitting a level that aggregates rows of persons into its private part and what reads the
 * answer.
 */
#pragma once

#include "backend/private_sql/private_level.hpp"

namespace privacy_score {

// The rows of persons of a level, or of an item of its FROM.
struct PersonItem {
  Oid home;
  List* columns;  // Vars of the level that tell persons apart, in the order of the home's columns
  bool one_row_a_person;
  List* relations;     // OIDs of the protected relations behind it
  List* same;          // lists of Vars that are equal to `columns` in every row
  List* held;          // lists of Vars that are where they are not NULL
  List* single_items;  // items, by number, with one row a person
  List* null_side;     // items, by number, that public rows may lack: all groups are shown then (private_persons.hpp)
};

// Splits the level in place: it reads its noisy rows from a placeholder with that number afterwards. Raises PS003.
PrivateLevel* SplitLevel(::Query* query, const PersonItem* item, int number);

// The targets by which a level groups, or tells rows apart. Its aliases are flat.
List* GroupingTargets(const ::Query* query);

// Whether a level aggregates its rows.
bool Aggregates(const ::Query* query);

// The function that stands for the noisy rows of a level in a query that is being planned, and the number of that
// level; -1 for any other entry of a range table.
Oid PlaceholderFunction();
int LevelOfPlaceholder(const RangeTblEntry* rte);

}  // namespace privacy_score
