/*
 * key_columns.hpp - which columns keys of relations have, by attribute number.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
}

namespace privacy_score {

// The columns of the key of an index, those below an expression included, which come last; NIL when there is no such
// index. `plain_count` (may be null): how many are the key's columns themselves, -1 when there are expressions.
List* ColumnsOfIndex(Oid index, int* plain_count = nullptr);

// The columns that a constraint is about.
List* ColumnsOfConstraint(Oid constraint);

// A foreign key; false when the constraint is none.
struct ForeignKeyColumns {
  Oid referred;
  List* referring_columns;
  List* referred_columns;
};
bool FindForeignKey(Oid constraint, ForeignKeyColumns* key);

}  // namespace privacy_score
