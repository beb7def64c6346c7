/*
 * hooks.hpp - installing the server's hooks.
 */
#pragma once

namespace privacy_score {

// Chains planner, executor, utility and shared memory hooks. Called from _PG_init when preloaded.
void InstallHooks();

}  // namespace privacy_score
