/*
 * setting_notices.cpp - see setting_notices.hpp.
 */
#include "backend/watch/setting_notices.hpp"

extern "C" {
#include "access/xact.h"
#include "commands/extension.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
}

#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

// A setting as a new session of role $1 in this database has it; privacy_score.role_status() says the same with
// reasons.
const char* SettingOf(const char* role, const char* setting) {
  const char* args[] = {role, setting};
  return InternalValue("SELECT value FROM privacy_score.role_status($1::pg_catalog.name) WHERE setting = $2", 2, args);
}

bool IsSet(const char* limit) { return limit != nullptr && atof(limit) >= 0; }

}  // namespace

void NoteRoleSetting(const Node* statement) {
  if (!IsA(statement, AlterRoleSetStmt)) return;
  const auto* alter = reinterpret_cast<const AlterRoleSetStmt*>(statement);
  const VariableSetStmt* set = alter->setstmt;
  if (alter->role == nullptr || set == nullptr || set->name == nullptr || set->kind != VAR_SET_VALUE ||
      pg_strcasecmp(set->name, "privacy_score.mode") != 0)
    return;
  if (!OidIsValid(get_extension_oid("privacy_score", true)) || !ExtensionIsCurrent()) return;
  CommandCounterIncrement();
  const char* role = get_rolespec_name(alter->role);
  InternalScope scope;
  EnterInternal(&scope);
  const char* mode = SettingOf(role, "privacy_score.mode");
  const bool enforces = mode != nullptr && strcmp(mode, "enforce") == 0;
  const bool limited = enforces && (IsSet(SettingOf(role, "privacy_score.session_limit")) ||
                                    IsSet(SettingOf(role, "privacy_score.daily_limit")));
  const char* args[] = {role};
  const char* baseline =
      enforces ? InternalValue("SELECT 1 FROM privacy_score.baseline WHERE role = $1 AND end_user IS NULL AND active",
                               1, args)
               : nullptr;
  LeaveInternal(&scope);
  if (!enforces) return;
  if (!limited)
    ereport(NOTICE,
            (errmsg("mode enforce refuses nothing of role \"%s\" yet: it has no limit", role),
             errhint("ALTER ROLE %s SET privacy_score.session_limit = 1; or daily_limit.", quote_identifier(role))));
  else if (baseline == nullptr)
    ereport(NOTICE,
            (errmsg("role \"%s\" has no baseline: each of its statements is new and counts against the limit", role),
             errhint("Record it in mode observe for some days, then privacy_score.set_baseline(role, from_day, "
                     "to_day).")));
}

}  // namespace privacy_score
