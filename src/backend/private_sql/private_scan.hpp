/*
 * private_scan.hpp - the scan of a level's noisy rows: a custom scan in the place of a placeholder.
 *
 * The first row that is fetched asks all levels of the plan, pays, and has all rows computed; from then on they are
 * given again for nothing, as often as the plan wants them. EXPLAIN shows what it would cost and spends nothing.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
}

namespace privacy_score {

// The levels behind the placeholders of the query that is being planned, a list of PrivateLevel; returns those before.
List* UseLevels(List* levels);
bool LevelsInUse();

void InstallNoisyScan();

}  // namespace privacy_score
