/*
 * role_access.cpp - see role_access.hpp.
 */
#include "backend/state/role_access.hpp"

extern "C" {
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "utils/acl.h"
}

#include "backend/state/internal.hpp"

namespace privacy_score {

bool MayReadRole(Oid role) { return role == GetUserId() || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS); }

void RequireMayReadAll(const char* function) {
  if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for function %s", function),
                    errhint("It tells about all roles: members of pg_read_all_stats may call it.")));
}

Oid ReadableRole(const char* name) {
  const Oid role = get_role_oid(name, true);
  if (OidIsValid(role) ? MayReadRole(role) : has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS)) return role;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for the history of role \"%s\"", name),
           errhint("A role reads its own history; pg_read_all_stats reads all.")));
}

void RequireKnownRole(const char* role, Oid role_id) {
  if (OidIsValid(role_id)) return;
  const char* args[] = {role};
  InternalScope scope;
  EnterInternal(&scope);
  const char* known = InternalValue(
      "SELECT 1 WHERE EXISTS (SELECT FROM privacy_score.baseline WHERE role = $1) "
      "OR EXISTS (SELECT FROM privacy_score.session WHERE role = $1)",
      1, args);
  LeaveInternal(&scope);
  if (known == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role \"%s\" does not exist", role),
                    errhint("privacy_score.stat_roles lists the roles that have been recorded.")));
}

}  // namespace privacy_score
