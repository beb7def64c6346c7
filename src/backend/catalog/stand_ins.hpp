/*
 * stand_ins.hpp - relations that hold rows of another one and are not of its tree of inheritance: shards of Citus.
 *
 * A distributed table `patients` has its rows in tables such as `patients_102009`, on this server or another. Citus
 * says of which table a shard is in pg_catalog.pg_dist_shard, on every node. Where that is not there, no relation
 * stands for another. Nobody but a superuser makes a relation in pg_catalog.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

struct StandIn {
  Oid table;   // whose rows it holds; InvalidOid: it stands for itself
  bool named;  // it is called as one that holds rows of another, so that it may be made one later
};

// Looks up a relation by its name and schema, in the catalogs: a shard is called as Citus calls it, and in the schema
// of its table, which is no shard itself. May raise.
StandIn FindStandIn(const char* name, Oid schema);

}  // namespace privacy_score
