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

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/date.h"
}

#include "backend/server/wire.hpp"
#include "backend/state/watching.hpp"

// What an internal scope restores.
struct InternalScope {
  Oid user;
  int security_context;
  int guc_nest_level;
  UncountedState uncounted;
};

// The owner of the extension's schema, or InvalidOid when the extension is not in this database.
Oid ExtensionOwner();
// The same; raises 55000 when the extension is not in this database.
Oid RequireExtension();

// Whether the objects of the extension in this database are of this library's version, so that its tables are those
// which it writes. Inside a transaction.
bool ExtensionIsCurrent();

// The message, detail and hint of an ereport() that says that they are not.
int NotCurrentMessage();

// Enters the scope as `user` (see above); InvalidOid means the owner of the extension. Raises 55000 when the extension
// is not in this database.
void EnterInternal(InternalScope* scope, Oid user = InvalidOid);
void LeaveInternal(const InternalScope* scope);

// Runs a writing statement with text arguments inside an internal scope; returns the number of rows.
uint64 RunInternal(const char* sql, int nargs = 0, const char* const* args = nullptr);

// The first field of the first row of a query inside an internal scope, palloc'd in the caller's context; null for NULL
// or no row.
char* InternalValue(const char* sql, int nargs = 0, const char* const* args = nullptr);

// Answers a set-returning function with the rows of a query in an internal scope of its own, which sets the statement's
// DateStyle to ISO. The columns are those of the function.
void PutInternalRows(FunctionCallInfo fcinfo, const char* sql, int nargs = 0, const char* const* args = nullptr);

// Inside an internal scope: keeps all abstractions that there are until the transaction ends, for what will refer to
// some.
void KeepAbstractions();

// Locks abstractions inside an internal scope, to wait for the worker rather than meet it row by row.
void LockAbstractions();

// Gives a setting a value until the nest level of settings ends that the caller has begun.
void SetWithin(const char* name, const char* value);

// A moment and a day in SQL, from a parameter in text form: microseconds since 2000, which no DateStyle can misread,
// and days since then.
#define SQL_MOMENT(parameter)                                      \
  "('2000-01-01 00:00:00+00'::pg_catalog.timestamptz + " parameter \
  "::pg_catalog.int8 * '1 microsecond'::pg_catalog.interval)"
#define SQL_DAY(parameter) "('2000-01-01'::pg_catalog.date + " parameter "::pg_catalog.int4)"

// Numbers, and a day in the DateStyle in force, as text, palloc'd.
char* TextOfOid(Oid value);
char* TextOfInteger(int64 value);
char* TextOfDay(DateADT day);

// Adds an element to the literal of a text[] that begins with "{" and is not closed yet.
void AppendArrayElement(StringInfo array, const char* text);

// Raises 25006 on a standby: `function` writes.
void RequirePrimary(const char* function);

// True when `role` is the current user or the current user has the privileges of pg_read_all_stats.
bool MayReadRole(Oid role);

// Raises 42501 unless the current user has those: `function` tells about all roles.
void RequireMayReadAll(const char* function);

// The role that is called `name`, InvalidOid when there is none: history outlives a role. Raises 42501 when the caller
// may not see its rows, and does not tell then whether it is there.
Oid ReadableRole(const char* name);

// Raises 42704 for a role, of that name and OID, that neither exists nor has a history.
void RequireKnownRole(const char* role, Oid role_id);
