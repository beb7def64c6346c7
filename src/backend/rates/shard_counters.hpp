/*
 * shard_counters.hpp - how many rows the shards of distributed relations have and have had modified, by the statistics
 * of the nodes of Citus that they are on. The worker copies them, so that nobody else waits for a node; the relation
 * itself has no rows, and its own counters stay 0.
 */
#pragma once

namespace privacy_score {

// Whether Citus is in this database, in a transaction.
bool HasShards();

// Copies the counters of the relations that rates were computed from. Of one with a shard on a node that does not
// answer within node_timeout they stay as they were. Only where Citus is; may raise what Citus does.
void CopyShardCounters();

}  // namespace privacy_score
