/*
 * private_persons.hpp - whose rows FROM gives: several relations of persons in one level, and outer joins.
 *
 * Two relations of persons may be joined where conditions make their persons equal, so that each row is still a row of
 * one person and depends on rows of hers only. That holds of inner joins, where the condition may stand in any ON or in
 * WHERE, and of outer joins from persons to persons, where it must stand in their own ON (or hold for all rows that are
 * left): whether a row of hers is there without a partner then depends on no rows but hers, too. One person's absence
 * takes away the rows of that person and changes no others, as with one relation.
 *
 * An outer join from public rows to rows of persons becomes an inner one where what it adds says nothing: public rows
 * without partner count for nothing when all aggregates are over what is NULL there, and their groups are known from
 * public rows, so that all of them are shown. Which groups there are then depends on nobody; what is measured of them
 * are rows of persons only, as in an inner join.
 */
#pragma once

#include "backend/private_sql/private_split.hpp"

namespace privacy_score {

// An item of FROM with rows of persons.
struct PersonSource {
  int index;  // in the range table
  PersonItem item;
};

// What FROM gives. `sources`: a list of PersonSource, not NIL. Changes outer joins from public rows to inner ones in
// the query. Raises PS003 where a row may be of several persons, or of none.
PersonItem JoinPersons(::Query* query, List* sources);

// PS003 for rows that an outer join keeps and that are nobody's.
[[noreturn]] void RefuseLostRows();

// For a level with items that public rows may lack. Both raise PS003: unless keys are public; unless an aggregate is of
// nothing where those rows are missing (`value`: what its measure is of, null for rows).
void RequirePublicKey(const PersonItem* item, Node* key);
void RequireNullWithout(const PersonItem* item, const Aggref* aggregate, PrivateAggregate kind, Node* value);

}  // namespace privacy_score
