/*
 * dp_settings.hpp - the settings under which rows are read for a noisy answer: none of them is taken from who asks.
 *
 * With a setting of one's own one could have a view fail on chosen rows, choose another plan, or have a sort leave
 * memory one row earlier, which everybody sees by the size of a tablespace. So settings that shape plans have fixed
 * values; how texts are read and written, memory, workers and temporary files are as they were where the budget was
 * granted.
 */
#pragma once

#include "backend/dp/dp_budget.hpp"

namespace privacy_score {

// The settings of this moment that a budget keeps, as the literal of a text[] of NAME=VALUE.
const char* SettingsOfReading();

// The value that a budget has kept, palloc'd; `otherwise` when it has none of that name.
const char* GrantedSetting(const Budget* budget, const char* name, const char* otherwise);

// Which steps a plan may take to group rows.
struct GroupingSteps {
  bool by_hash;   // only where the number of groups is bounded by the question; else all rows are sorted
  int kilobytes;  // of memory beside that of the budget, which these groups cannot fill
};

// Gives a setting a value until the nest level of settings ends, unless it has it: setting one may read files.
void SetUnlessSo(const char* name, const char* value);

// Puts the settings in force until the nest level of settings ends.
void SetForReading(const Budget* budget, GroupingSteps steps);

}  // namespace privacy_score
