/*
 * grouping_sql.hpp - statements that read a relation's rows for the partitions by its columns.
 *
 * Relations and columns stand in them as they are named now, so the server checks the rights of the current user as for
 * any statement.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
}

namespace privacy_score {

// What is read, and how it is named in a statement.
struct RowSource {
  Oid relation;
  // All columns that are asked for. Not all need be read, but the current user must have the right to.
  const Bitmapset* asked;
  // Tables that hold the rows (Oids), when each is to be grouped for itself before they come together; else NIL.
  List* members;
  // In place of a relation: a SELECT that yields the rows, in columns c1, c2, ... of types that can be grouped. The
  // numbers of these are then what is said of attribute numbers.
  const char* query = nullptr;
};

// Whether some of the tables below a relation are foreign.
bool AnyForeignMember(Oid relation);

// The tables that hold the rows of such a relation, so that each server groups its own: the planner does not ask a
// foreign server for a part of a group. NIL when the current user could not read one of them by itself as that user can
// through the relation.
List* MembersOf(Oid relation);

// What GROUP BY takes for a value of a type: itself, or its text where the type cannot be grouped, or, with `ordered`,
// not be ordered. The text is what the type's own output function gives, never a cast, which may run somebody's code.
const char* GroupingExpression(Oid type, const char* value, bool ordered = false);

// One row a row: the columns in the order of their numbers.
char* RowsSql(const RowSource* source, const Bitmapset* columns);

// One row a group: the columns in the order of their numbers, and how many rows it has. Groups may come in parts, also
// empty ones.
char* GroupsSql(const RowSource* source, const Bitmapset* columns);

// One row a size: how large a group by the columns is, and how many are.
char* ClassSizesSql(const RowSource* source, const Bitmapset* columns);

}  // namespace privacy_score
