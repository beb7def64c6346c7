/*
 * partition_passes.hpp - counting many partitions of a relation's rows in as few passes over them as memory allows.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
}

#include "backend/rates/partitions.hpp"
#include "backend/rows/grouping_sql.hpp"

namespace privacy_score {

// Where the rows of a relation lie.
enum class RowPlace {
  kHeap,       // all in one heap: they are read as they are
  kSpread,     // in several tables here, or in a storage of their own: they are grouped first where that leaves few
  kElsewhere,  // some on foreign servers: they are grouped there
  kNodes       // in shards on nodes, whose extension plans what is grouped as a whole: grouped there, and counted
};

// What is read and what for.
struct PartitionReading {
  RowSource source;
  RowPlace place;
  uint64 expected;  // rows, 0 where that is not known
  const Bitmapset* const* sets;
  PartitionFacts* facts;  // of each set, to be filled in
};

// The partition by one set, grouped by the server.
PartitionFacts GroupedPartition(const RowSource* source, const Bitmapset* columns);

// Fills in the facts of the sets whose numbers `pending` lists, no two of which are equal. SPI must be connected.
void CountPartitions(const PartitionReading* reading, List* pending);

}  // namespace privacy_score
