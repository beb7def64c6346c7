/*
 * end_user_argument.cpp - see end_user_argument.hpp.
 */
#include "backend/history/end_user_argument.hpp"

#include "backend/state/end_user.hpp"
#include "backend/state/principal_session.hpp"

namespace privacy_score {

namespace {

bool StandsForSome(const char* name) {
  return strcmp(name, privacy_score::kInvalidEndUser.data()) == 0 || strcmp(name, kOverflowEndUser) == 0;
}

}  // namespace

void RequireEndUser(const char* name, const char* hint) {
  if (name[0] != '\0' && (StandsForSome(name) || strcmp(name, CheckedName(name)) == 0)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("no end user is called \"%s\"", name),
                  errdetail("A name has 1 to %zu bytes, no space around it and no control characters.",
                            privacy_score::kMostEndUserBytes),
                  errhint("%s", hint)));
}

void RequirePerson(const char* name, const char* hint) {
  RequireEndUser(name, hint);
  if (!StandsForSome(name)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("end user \"%s\" is not one person", name),
                  errhint("%s", hint)));
}

const char* PrincipalText(const char* role, const char* end_user) {
  return end_user == nullptr ? psprintf("role \"%s\"", role)
                             : psprintf("end user \"%s\" of role \"%s\"", end_user, role);
}

}  // namespace privacy_score
