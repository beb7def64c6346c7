/*
 * end_user_argument.hpp - names of end users as arguments of SQL functions.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// Raises 22023 unless somebody can be called that, or it stands for those who give no proper name or have no room.
void RequireEndUser(const char* name, const char* hint);

// The same, and unless it is one person's.
void RequirePerson(const char* name, const char* hint);

// Whose something is, for messages: 'role "app"', or 'end user "x" of role "app"'; none: null.
const char* PrincipalText(const char* role, const char* end_user);

}  // namespace privacy_score
