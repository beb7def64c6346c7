/*
 * relation_access.hpp - relations and columns as our tables and callers name them, and who may read or declare them.
 *
 * What is asked of arguments raises with the server's own SQLSTATE; what is asked of names from our tables answers that
 * there is none, for a relation may be gone.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
}

namespace privacy_score {

// The qualified name as abstractions write it, palloc'd; raises 42P01 when the relation is gone.
const char* CanonicalRelationName(Oid relation);

// The qualified name as SQL takes it, palloc'd; raises 42P01 when the relation is gone.
const char* QuotedRelation(Oid relation);

// The name of a column as SQL takes it, palloc'd.
const char* QuotedColumn(Oid relation, int column);

// The relation that abstractions write so, InvalidOid when there is none. Whether the caller may use its schema does
// not matter: the name comes from the extension's own tables.
Oid RelationOfCanonicalName(const char* name);

// Finds what abstractions write as a column: its relation, by `find` (RelationOfCanonicalName or another), and its
// number there; false when one of them is gone.
using RelationFinder = Oid (*)(const char* name);
bool FindCanonicalColumn(const char* column, RelationFinder find, Oid* relation, AttrNumber* number);

// The name of a relation, palloc'd; raises 42P01 when it is gone.
const char* RequireRelation(Oid relation);

// Raises unless the current user owns the relation.
void RequireOwner(Oid relation);

// Whether a relation is of a kind that has rows to be read; the other raises 42809 when not, and 42P01 when it is gone.
bool HasRows(Oid relation);
void RequireRows(Oid relation);

// Raises 42809 when a relation, which is there, is of a kind that holds no rows of its own, or is part of another.
void RequireProtectable(Oid relation);

// The attribute number of a column; raises 42703 when the relation has none of that name.
AttrNumber RequireColumn(Oid relation, const char* column);

// Whether a role may read a column; InvalidAttrNumber: any column.
bool RoleMaySelect(Oid role, Oid relation, AttrNumber column);

// Whether the current user may read some column of a relation.
bool MaySelect(Oid relation);

// Whether the current user may read a column, or the whole relation; the other raises 42501 where that is not so.
bool MaySelect(Oid relation, AttrNumber column);
void RequireSelect(Oid relation, AttrNumber column);

}  // namespace privacy_score
