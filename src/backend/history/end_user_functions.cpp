/*
 * end_user_functions.cpp - limits and labels of end users, and forgetting one.
 */
#include "backend/history/end_user_argument.hpp"
#include "backend/rates/kept_scores.hpp"
#include "backend/state/flush_request.hpp"
#include "backend/state/import_lock.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/principal_session.hpp"

extern "C" {
#include "access/xact.h"
#include "access/xlog.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/label_names.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/standby_file.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_end_user_labels_changed);
PG_FUNCTION_INFO_V1(ps_forget_end_user);
PG_FUNCTION_INFO_V1(ps_label_end_user);
PG_FUNCTION_INFO_V1(ps_set_limit);
}

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

// Raises unless an end user can have the label, which null takes away.
void RequireLabel(const char* end_user, const char* label) {
  if (label != nullptr && strcmp(label, kExemptLabel) != 0 && strcmp(label, kDpOnlyLabel) != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" is not a label of end users", label),
                    errhint("Labels of end users are 'exempt' and 'dp only'; NULL takes the label away.")));
  // Judged is the name that was given, before it is known whether there is room for it.
  if (label != nullptr && strcmp(end_user, kOverflowEndUser) == 0)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("end user \"%s\" cannot be labelled", kOverflowEndUser),
             errhint("Names for which there is no room keep the labels of their own.")));
  if (label != nullptr && strcmp(label, kExemptLabel) == 0 &&
      strcmp(end_user, privacy_score::kInvalidEndUser.data()) == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("end user \"%s\" cannot be labelled \"%s\"", end_user, kExemptLabel),
                    errhint("Whoever gives a name that is none would be exempt.")));
}

}  // namespace

// label_end_user(role, end_user, label)
Datum ps_label_end_user(PG_FUNCTION_ARGS) {
  RequirePrimary("label_end_user");
  RequireArgument(fcinfo, 0, "role");
  RequireArgument(fcinfo, 1, "end_user");
  const char* args[] = {NameStr(*PG_GETARG_NAME(0)), text_to_cstring(PG_GETARG_TEXT_PP(1)),
                        PG_ARGISNULL(2) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(2))};
  get_role_oid(args[0], false);
  RequireEndUser(args[1], "Where there is no end user the label of the role holds.");
  RequireLabel(args[1], args[2]);
  InternalScope scope;
  EnterInternal(&scope);
  if (args[2] == nullptr)
    RunInternal("DELETE FROM privacy_score.end_user_label WHERE role = $1::pg_catalog.name AND end_user = $2", 2, args);
  else
    RunInternal(
        "INSERT INTO privacy_score.end_user_label (role, end_user, label) VALUES ($1::pg_catalog.name, $2, $3) "
        "ON CONFLICT (role, end_user) DO UPDATE SET label = EXCLUDED.label",
        3, args);
  LeaveInternal(&scope);
  WarnUnlessPreloaded();
  PG_RETURN_VOID();
}

// The trigger of the table of labels: restored and replicated rows are announced, too.
Datum ps_end_user_labels_changed(PG_FUNCTION_ARGS) {
  if (!CALLED_AS_TRIGGER(fcinfo))
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("end_user_labels_changed() must be called as a trigger")));
  NoteEndUserLabelChange();
  PG_RETURN_POINTER(nullptr);
}

// set_limit(role, end_user, session_limit, daily_limit)
Datum ps_set_limit(PG_FUNCTION_ARGS) {
  RequirePrimary("set_limit");
  RequireArgument(fcinfo, 0, "role");
  RequireArgument(fcinfo, 1, "end_user");
  const char* args[] = {NameStr(*PG_GETARG_NAME(0)), text_to_cstring(PG_GETARG_TEXT_PP(1)),
                        LimitText(fcinfo, 2, "session_limit"), LimitText(fcinfo, 3, "daily_limit")};
  get_role_oid(args[0], false);
  RequireEndUser(args[1], "Limits of the role hold where there is no end user.");
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

// forget_end_user(role, end_user): first what is still in memory, lest it be written afterwards. On a standby, what ran
// there: the rest comes from the primary.
Datum ps_forget_end_user(PG_FUNCTION_ARGS) {
  if (!RecoveryInProgress()) RequireReadCommitted("forget_end_user");
  const char* args[] = {NameStr(*PG_GETARG_NAME(0)), text_to_cstring(PG_GETARG_TEXT_PP(1))};
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot != nullptr) {
    DiscardEndUser(slot, args[0], args[1]);
    AwaitFlush(slot);
  }
  if (RecoveryInProgress())
    PG_RETURN_INT64(ForgetInStandbyFiles(get_extension_oid("privacy_score", false), args[0], args[1]));
  InternalScope scope;
  EnterInternal(&scope);
  LockImports();
  LockKept();
  // First: the worker, too, takes the row of a day before its subjects.
  RunInternal("DELETE FROM privacy_score.principal_day WHERE role = $1::pg_catalog.name AND end_user = $2", 2, args);
  const char* sessions = InternalValue(
      "WITH s AS (DELETE FROM privacy_score.session WHERE role = $1::pg_catalog.name AND end_user = $2 RETURNING id), "
      "p AS (DELETE FROM privacy_score.session_part d USING s WHERE d.session_id = s.id), "
      "c AS (DELETE FROM privacy_score.kept_day WHERE role = $1::pg_catalog.name AND end_user = $2), "
      "r AS (DELETE FROM privacy_score.kept_role WHERE role = $1::pg_catalog.name), "
      "k AS (DELETE FROM privacy_score.principal_subjects WHERE role = $1::pg_catalog.name AND end_user = $2), "
      "g AS (DELETE FROM privacy_score.principal_session WHERE role = $1::pg_catalog.name AND end_user = $2), "
      "o AS (DELETE FROM privacy_score.baseline WHERE role = $1::pg_catalog.name AND end_user = $2 RETURNING id), "
      "n AS (DELETE FROM privacy_score.baseline_ngram d USING o WHERE d.baseline_id = o.id), "
      "t AS (DELETE FROM privacy_score.baseline_session d USING o WHERE d.baseline_id = o.id), "
      "a AS (DELETE FROM privacy_score.alert WHERE role = $1::pg_catalog.name AND end_user = $2), "
      "e AS (DELETE FROM privacy_score.acceptance WHERE role = $1::pg_catalog.name AND end_user = $2 RETURNING id), "
      "en AS (DELETE FROM privacy_score.acceptance_ngram d USING e WHERE d.acceptance_id = e.id), "
      "ef AS (DELETE FROM privacy_score.acceptance_figure d USING e WHERE d.acceptance_id = e.id), "
      "l AS (DELETE FROM privacy_score.end_user_limit WHERE role = $1::pg_catalog.name AND end_user = $2), "
      "b AS (DELETE FROM privacy_score.end_user_label WHERE role = $1::pg_catalog.name AND end_user = $2) "
      "SELECT pg_catalog.count(*) FROM s",
      2, args);
  LeaveInternal(&scope);
  ConcernName(Concern::kRole, args[0]);
  NoteDeclaration();
  PG_RETURN_INT64(strtoll(sessions, nullptr, 10));
}

}  // namespace privacy_score
