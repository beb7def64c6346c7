/*
 * explain_option.hpp - EXPLAIN (PRIVACY).
 */
#pragma once

namespace privacy_score {

// Adds the option where EXPLAIN takes options of extensions. Called from _PG_init, preloaded or not.
void InstallExplainOption();

}  // namespace privacy_score
