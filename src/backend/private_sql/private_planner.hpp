/*
 * private_planner.hpp - where plain SQL of `dp only` roles is turned into a plan that answers privately.
 *
 * A planner hook around all others, so that what is recorded and judged is what is left: a query on noisy rows. It acts
 * for a role labelled `dp only` that has a budget for persons and reads a protected relation; any other statement
 * passes after a few comparisons. A level that is answered is a placeholder function in the query that is planned,
 * which becomes a scan of the noisy rows (private_scan.hpp). Nothing that can be called takes a query.
 */
#pragma once

namespace privacy_score {

// Called once from _PG_init when preloaded, after all other hooks.
void InstallPrivatePlanner();

}  // namespace privacy_score
