/*
 * utility_hook.hpp - installing the hook that utility statements pass.
 */
#pragma once

void InstallUtilityHook();
