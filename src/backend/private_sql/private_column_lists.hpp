/*
 * private_column_lists.hpp - lists of the values that a column may have: in conditions, CHECKs, and by foreign keys.
 */
#pragma once

#include "backend/private_sql/private_level.hpp"

namespace privacy_score {

// The constants that a condition says an expression is one of (IN, =, OR of both); NIL when it does not.
List* ListedValues(Node* condition, const Node* expression);

// The values of a column of a base relation, which a sub-select may hand on: by dp_domain(), by a CHECK, or by a
// foreign key to a public relation of which the current user may read the column. NIL when there is none.
List* ValuesOfColumn(const PrivateLevel* level, const ::Query* part, const Var* column);

// What dp_domain() declares of the column of persons' rows that a column is; null: nothing.
struct ColumnDomain;
const ColumnDomain* DomainOfColumn(const PrivateLevel* level, const ::Query* part, const Var* column);

// What a column of a sub-select with rows of persons is in that sub-select; null for any other expression.
Node* TargetBehind(const PrivateLevel* level, const ::Query* part, const Node* column, ::Query** within);

// The values of a query's only column, as Const; $1 and $2 are the constants given. NIL for too many.
List* ValuesOfSql(const char* sql, Oid type, const Const* first, const Const* second);

// An expression without columns as a Const, or what is left of it.
Node* FoldForKeys(Node* expression);

}  // namespace privacy_score
