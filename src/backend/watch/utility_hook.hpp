/*
 * utility_hook.hpp - installing the hook that utility statements pass.
 */
#pragma once

namespace privacy_score {

void InstallUtilityHook();

}  // namespace privacy_score
