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
}

#include "backend/server/wire.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

// What an internal scope restores.
struct InternalScope {
  Oid user;
  int security_context;
  int guc_nest_level;
  UncountedState uncounted;
};

// Enters the scope as `user` (see above); InvalidOid means the owner of the extension. Raises 55000 when the extension
// is not in this database.
void EnterInternal(InternalScope* scope, Oid user = InvalidOid);
void LeaveInternal(const InternalScope* scope);

// Runs a writing statement with text arguments inside an internal scope; returns the number of rows.
uint64 RunInternal(const char* sql, int nargs = 0, const char* const* args = nullptr);

// The same of a statement that answers with rows: they are read with SPI_processed and FieldText() (wire.hpp) before
// the next one runs.
void QueryInternal(const char* sql, int nargs = 0, const char* const* args = nullptr);

// The first field of the first row of a query inside an internal scope, palloc'd in the caller's context; null for NULL
// or no row.
char* InternalValue(const char* sql, int nargs = 0, const char* const* args = nullptr);

// The same by a plan that is kept (kept_plans.hpp).
char* KeptInternalValue(const char* sql, int nargs, const char* const* args);

// The OID that a query about another one answers, in an internal scope of its own; InvalidOid for NULL or no row.
Oid InternalOid(const char* sql, Oid argument);

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

}  // namespace privacy_score
