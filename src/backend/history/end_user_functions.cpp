/*
 * end_user_functions.cpp - limits of end users, and forgetting one.
 */
#include "backend/state/end_user.hpp"
#include "backend/state/flush_request.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/principal_session.hpp"

extern "C" {
#include "access/xact.h"
#include "fmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(ps_forget_end_user);
PG_FUNCTION_INFO_V1(ps_set_limit);
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/watching.hpp"

namespace {

// The text of a limit that is given, null for none; raises on one that is none.
const char* LimitText(FunctionCallInfo fcinfo, int argument, const char* name) {
  if (PG_ARGISNULL(argument)) return nullptr;
  const double limit = PG_GETARG_FLOAT8(argument);
  constexpr double kLargest = 1e12;
  if (!(limit >= 0 && limit <= kLargest))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be from 0 to 1e12, not %g", name, limit),
                    errhint("NULL: that of the role holds.")));
  return psprintf("%.17g", limit);
}

}  // namespace

// set_limit(role, end_user, session_limit, daily_limit)
Datum ps_set_limit(PG_FUNCTION_ARGS) {
  RequirePrimary("set_limit");
  RequireArgument(fcinfo, 0, "role");
  RequireArgument(fcinfo, 1, "end_user");
  const char* args[] = {NameStr(*PG_GETARG_NAME(0)), text_to_cstring(PG_GETARG_TEXT_PP(1)),
                        LimitText(fcinfo, 2, "session_limit"), LimitText(fcinfo, 3, "daily_limit")};
  get_role_oid(args[0], false);
  const bool stands_for_some =
      strcmp(args[1], privacy_score::kInvalidEndUser.data()) == 0 || strcmp(args[1], kOverflowEndUser) == 0;
  const bool as_found = args[1][0] != '\0' && (stands_for_some || strcmp(args[1], CheckedName(args[1])) == 0);
  if (!as_found)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("no end user is called \"%s\"", args[1]),
                    errdetail("A name has 1 to %zu bytes, no space around it and no control characters.",
                              privacy_score::kMostEndUserBytes),
                    errhint("Limits of the role hold where there is no end user.")));
  InternalScope scope;
  EnterInternal(&scope);
  if (args[2] == nullptr && args[3] == nullptr)
    RunInternal("DELETE FROM privacy_score.end_user_limit WHERE role = $1::pg_catalog.name AND end_user = $2", 2, args);
  else
    RunInternal(
        "INSERT INTO privacy_score.end_user_limit (role, end_user, session_limit, daily_limit) VALUES "
        "($1::pg_catalog.name, $2, $3::pg_catalog.float8, $4::pg_catalog.float8) ON CONFLICT (role, end_user) DO "
        "UPDATE "
        "SET session_limit = EXCLUDED.session_limit, daily_limit = EXCLUDED.daily_limit",
        4, args);
  LeaveInternal(&scope);
  ConcernName(Concern::kRole, args[0]);
  NoteDeclaration();
  WarnUnlessPreloaded();
  PG_RETURN_VOID();
}

// forget_end_user(role, end_user): first what is still in memory, lest it be written afterwards.
Datum ps_forget_end_user(PG_FUNCTION_ARGS) {
  RequirePrimary("forget_end_user");
  // What was written since the snapshot would stay.
  if (IsolationUsesXactSnapshot())
    ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                    errmsg("forget_end_user() must be called in a transaction of isolation level READ COMMITTED"),
                    errhint("BEGIN ISOLATION LEVEL READ COMMITTED.")));
  const char* args[] = {NameStr(*PG_GETARG_NAME(0)), text_to_cstring(PG_GETARG_TEXT_PP(1))};
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot != nullptr) {
    DiscardEndUser(slot, args[0], args[1]);
    AwaitFlush(slot);
  }
  InternalScope scope;
  EnterInternal(&scope);
  const char* sessions = InternalValue(
      "WITH s AS (DELETE FROM privacy_score.session WHERE role = $1::pg_catalog.name AND end_user = $2 RETURNING id), "
      "p AS (DELETE FROM privacy_score.session_part d USING s WHERE d.session_id = s.id), "
      "d AS (DELETE FROM privacy_score.principal_day WHERE role = $1::pg_catalog.name AND end_user = $2), "
      "k AS (DELETE FROM privacy_score.principal_subjects WHERE role = $1::pg_catalog.name AND end_user = $2), "
      "a AS (DELETE FROM privacy_score.alert WHERE role = $1::pg_catalog.name AND end_user = $2), "
      "l AS (DELETE FROM privacy_score.end_user_limit WHERE role = $1::pg_catalog.name AND end_user = $2) "
      "SELECT pg_catalog.count(*) FROM s",
      2, args);
  LeaveInternal(&scope);
  ConcernName(Concern::kRole, args[0]);
  NoteDeclaration();
  PG_RETURN_INT64(strtoll(sessions, nullptr, 10));
}
