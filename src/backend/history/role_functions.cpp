/*
 * role_functions.cpp - whether a role is watched, and who may read what was recorded of it.
 */
#include "backend/state/role_access.hpp"
#include "backend/state/shared_state.hpp"
#include "backend/state/watching.hpp"

extern "C" {
#include "fmgr.h"
#include "funcapi.h"
#include "utils/acl.h"
#include "utils/builtins.h"
}

#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_may_read);
PG_FUNCTION_INFO_V1(ps_role_watching);
}

namespace {

constexpr const char* kNotPreloaded = "the library is not preloaded";

}  // namespace

// may_read(role): the role itself, and those who may read all statistics. A role that was dropped has only the latter.
Datum ps_may_read(PG_FUNCTION_ARGS) {
  const Oid role = get_role_oid(NameStr(*PG_GETARG_NAME(0)), true);
  PG_RETURN_BOOL(MayReadRole(role));
}

// role_watching(role): whether the role is watched, and why.
Datum ps_role_watching(PG_FUNCTION_ARGS) {
  const char* name = NameStr(*PG_GETARG_NAME(0));
  const Oid role = ReadableRole(name);
  if (!OidIsValid(role))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role \"%s\" does not exist", name),
                    errhint("pg_roles lists the roles of this server; names are written as they stand there.")));
  const char* reason;
  bool watched = Counts(ClassOfRole(role, &reason));
  if (ps_shared == nullptr) {
    watched = false;
    reason = kNotPreloaded;
  }
  InitMaterializedSRF(fcinfo, 0);
  Datum values[2] = {BoolGetDatum(watched), CStringGetTextDatum(reason)};
  bool nulls[2] = {};
  PutResultRow(fcinfo, values, nulls);
  return Datum(0);
}

}  // namespace privacy_score
