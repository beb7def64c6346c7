/*
 * shard_counters.cpp - see shard_counters.hpp.
 *
 * Each node is asked once for all its shards. A reference table has the same rows on each node, so a shard counts by
 * the greatest of its placements. What has not changed is not written.
 */
#include "backend/rates/shard_counters.hpp"

extern "C" {
#include "postgres.h"

#include "catalog/pg_namespace.h"
#include "utils/lsyscache.h"
}

#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

bool HasShards() { return OidIsValid(get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE)); }

void CopyShardCounters() {
  RunInternal(
      "DELETE FROM privacy_score.shard_counter c WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_dist_partition p "
      "WHERE p.logicalrelid = c.relation)");
  SetWithin("citus.node_connection_timeout", TextOfInteger(ps_settings.node_timeout));
  const char* args[] = {
      "SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', s.shard, pg_catalog.pg_stat_get_live_tuples(s.relation), "
      "pg_catalog.pg_stat_get_tuples_inserted(s.relation) + pg_catalog.pg_stat_get_tuples_updated(s.relation) "
      "+ pg_catalog.pg_stat_get_tuples_deleted(s.relation)), ',') "
      "FROM (SELECT v.shard, pg_catalog.to_regclass(v.name) FROM (VALUES %s) v(shard, name)) s(shard, relation) "
      "WHERE s.relation IS NOT NULL"};
  RunInternal(
      "WITH RECURSIVE member(relation) AS ("
      "SELECT pg_catalog.to_regclass(u.name)::pg_catalog.oid FROM privacy_score.rate r, pg_catalog.unnest(r.sources) "
      "u(name) "
      "UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN member m ON i.inhparent = m.relation), "
      "shard AS MATERIALIZED (SELECT s.logicalrelid AS relation, s.shardid FROM pg_catalog.pg_dist_shard s "
      "JOIN member m ON m.relation = s.logicalrelid), "
      "node AS (SELECT p.nodename, p.nodeport, pg_catalog.format($1, pg_catalog.string_agg(pg_catalog.format('(%s, "
      "%L)', "
      "s.shardid, pg_catalog.shard_name(s.relation, s.shardid)), ', ')) AS command "
      "FROM shard s JOIN pg_catalog.pg_dist_shard_placement p ON p.shardid = s.shardid GROUP BY p.nodename, "
      "p.nodeport), "
      "answer AS (SELECT pg_catalog.string_to_array(c.counters, ' ')::bigint[] AS counters FROM ("
      "SELECT pg_catalog.array_agg(n.nodename::text) AS names, pg_catalog.array_agg(n.nodeport::int) AS ports, "
      "pg_catalog.array_agg(n.command) AS commands FROM node n HAVING pg_catalog.count(*) > 0) n, "
      "LATERAL pg_catalog.master_run_on_worker(n.names, n.ports, n.commands, true) r, "
      "LATERAL pg_catalog.string_to_table(r.result, ',') c(counters) WHERE r.success), "
      "counted AS (SELECT a.counters[1] AS shardid, pg_catalog.max(a.counters[2]) AS rows, "
      "pg_catalog.max(a.counters[3]) AS modifications FROM answer a GROUP BY 1) "
      "INSERT INTO privacy_score.shard_counter AS o (relation, rows, modifications) "
      "SELECT s.relation, pg_catalog.sum(c.rows), pg_catalog.sum(c.modifications) "
      "FROM shard s LEFT JOIN counted c USING (shardid) GROUP BY s.relation "
      "HAVING pg_catalog.bool_and(c.shardid IS NOT NULL) "
      "ON CONFLICT (relation) DO UPDATE SET rows = EXCLUDED.rows, modifications = EXCLUDED.modifications "
      "WHERE (o.rows, o.modifications) IS DISTINCT FROM (EXCLUDED.rows, EXCLUDED.modifications)",
      1, args);
}

}  // namespace privacy_score
