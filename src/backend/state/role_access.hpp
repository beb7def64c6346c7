/*
 * role_access.hpp - of which roles the caller may read what was recorded.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// True when `role` is the current user or the current user has the privileges of pg_read_all_stats.
bool MayReadRole(Oid role);

// Raises 42501 unless the current user has those: `function` tells about all roles.
void RequireMayReadAll(const char* function);

// The role that is called `name`, InvalidOid when there is none: history outlives a role. Raises 42501 when the caller
// may not see its rows, and does not tell then whether it is there.
Oid ReadableRole(const char* name);

// Raises 42704 for a role, of that name and OID, that neither exists nor has a history.
void RequireKnownRole(const char* role, Oid role_id);

}  // namespace privacy_score
