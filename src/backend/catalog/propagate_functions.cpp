/*
 * propagate_functions.cpp - declarations for the other nodes of Citus, through a function of its own, which runs a
 * statement on each: as the owner of the extension, outside of the transaction. It is looked up when it is called,
 * since Citus need not be there.
 */
#include "backend/state/internal.hpp"

extern "C" {
#include "catalog/pg_namespace.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
}

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_propagate_declarations);
}

// propagate_declarations()
Datum ps_propagate_declarations(PG_FUNCTION_ARGS) {
  if (!OidIsValid(get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE)))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("Citus is not in this database"),
                    errhint("Other servers are members of a fleet (fleet_add), and have declarations of their own.")));
  // Whoever calls this on a node that is new would take the declarations back on all others.
  if (!OidIsValid(InternalOid("SELECT p.logicalrelid::pg_catalog.oid FROM pg_catalog.pg_dist_partition p "
                              "JOIN privacy_score.protected_current c ON c.relation = p.logicalrelid "
                              "WHERE $1 IS NOT NULL LIMIT 1",
                              MyDatabaseId)))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("no distributed relation is protected on this node"),
                    errhint("Call it on the node that has the declarations; unprotect() takes one back on a node.")));
  PutInternalRows(fcinfo,
                  "SELECT r.node_name || ':' || r.node_port, r.success, NULLIF(r.result, '') FROM ("
                  "SELECT pg_catalog.array_agg(n.nodename::text) AS names, pg_catalog.array_agg(n.nodeport) AS ports, "
                  "pg_catalog.array_agg(c.command) AS commands FROM pg_catalog.pg_dist_node n, ("
                  "SELECT pg_catalog.format('SELECT privacy_score.take_declarations(%L, %L)', d.declarations, ARRAY("
                  "SELECT x.name FROM pg_catalog.pg_dist_partition p "
                  "JOIN privacy_score.canonical_relation x ON x.relation = p.logicalrelid)) AS command "
                  "FROM privacy_score.declarations d) c "
                  "WHERE n.isactive AND n.noderole::text = 'primary' "
                  "AND n.groupid <> (SELECT l.groupid FROM pg_catalog.pg_dist_local_group l) "
                  "HAVING pg_catalog.count(*) > 0) n, "
                  "LATERAL pg_catalog.master_run_on_worker(n.names, n.ports, n.commands, true) r ORDER BY 1");
  return Datum(0);
}

}  // namespace privacy_score
