/*
 * fleet_worker.hpp - the processes of a hub.
 *
 * One is made when the server starts, in the database that privacy_score.fleet_database names; it starts a collector
 * for each member and starts it again when it has ended. A collector asks its member every fleet_interval, in a
 * transaction each time: what it cannot reach keeps nobody waiting but itself, and everything that was copied stays.
 */
#pragma once

namespace privacy_score {

// Has the server start the first of them, where this is a hub. Called from _PG_init while libraries are preloaded.
void RegisterHub();

}  // namespace privacy_score
