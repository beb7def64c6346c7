/*
 * setting_notices.hpp - what who sets a role's mode is told, where it does not do what one would think.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/nodes.h"
}

namespace privacy_score {

// After ALTER ROLE ... SET or ALTER DATABASE ... SET of a setting of ours: a NOTICE where the role is in mode enforce
// without a limit, which refuses nothing, or without a baseline, when everything is new.
void NoteRoleSetting(const Node* statement);

}  // namespace privacy_score
