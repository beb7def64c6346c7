/*
 * private_blind.hpp - planning a private part without what is known of its rows.
 *
 * A plan that cannot be made should cost nothing, but what the planner reads of rows, the statistics of columns, may
 * only be read once it is paid. So a private part is planned twice: before it is paid without statistics, to see that
 * it can be planned; and then with them, to run. How many rows and blocks a relation has the first plan knows, as
 * everybody does.
 */
#pragma once

namespace privacy_score {

// Whether statistics are out of sight from now on; returns whether they were.
bool PlanBlindly(bool blind);

// Called once from _PG_init when preloaded.
void InstallBlindness();

}  // namespace privacy_score
