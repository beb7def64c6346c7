/*
 * internal.hpp - reading and writing the extension's own tables on behalf of any role.
 *
 * Functions that anybody may call check the caller's rights first, then enter an internal scope: the owner of the
 * extension, search_path pg_catalog, SPI connected, statements not counted. Leaving it restores all three; an error
 * restores them too, because the server resets user and settings when it aborts the (sub)transaction.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "lib/stringinfo.h"
}

#include "wire.hpp"

// What an internal scope restores.
struct InternalScope {
  Oid user;
  int security_context;
  int guc_nest_level;
  bool uncounted;
};

// The owner of the extension's schema, or InvalidOid when the extension is not in this database.
Oid ExtensionOwner();
// The same; raises 55000 when the extension is not in this database.
Oid RequireExtension();

// Enters the scope as `user` (see above); InvalidOid means the owner of the extension. Raises 55000 when the extension
// is not in this database.
void EnterInternal(InternalScope* scope, Oid user = InvalidOid);
void LeaveInternal(const InternalScope* scope);

// Runs a writing statement with text arguments inside an internal scope; returns the number of rows.
uint64 RunInternal(const char* sql, int nargs = 0, const char* const* args = nullptr);

// The first field of the first row of a query inside an internal scope, palloc'd in the caller's context; null for NULL
// or no row.
char* InternalValue(const char* sql, int nargs = 0, const char* const* args = nullptr);

// Text of an Oid, an integer, palloc'd.
char* TextOfOid(Oid value);

// Adds an element to the literal of a text[] that begins with "{" and is not closed yet.
void AppendArrayElement(StringInfo array, const char* text);

// Raises 25006 on a standby: `function` writes.
void RequirePrimary(const char* function);

// True when `role` is the current user or the current user has the privileges of pg_read_all_stats.
bool MayReadRole(Oid role);

// The role that is called `name`; raises 42704 when there is none and 42501 when the caller may not see its rows.
Oid ReadableRole(const char* name);

// The qualified name as abstractions write it, palloc'd; raises 42P01 when the relation is gone.
char* CanonicalRelationName(Oid relation);

// The relation that abstractions write so, InvalidOid when there is none. Whether the caller may use its schema does
// not matter: the name comes from the extension's own tables.
Oid RelationOfCanonicalName(const char* name);

// Raises unless the current user owns the relation.
void RequireOwner(Oid relation);

// Raises 42P01 when a relation does not exist and 42809 when it is of a kind that has no rows.
void RequireRows(Oid relation);

// The attribute number of a column; raises 42703 when the relation has none of that name.
AttrNumber RequireColumn(Oid relation, const char* column);
