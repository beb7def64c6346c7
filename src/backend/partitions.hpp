/*
 * partitions.hpp - partitions of a relation's rows by sets of its columns.
 *
 * The one interface behind which rows are read for rates: sets of attribute numbers in, entropies in bits out. Each set
 * is one GROUP BY whose class sizes are counted by the server, so memory is bounded by work_mem and it may spill; the
 * cost is one pass over the relation a set. Rows are read as the current user.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/bitmapset.h"
}

// Entropy in bits, rows, classes and classes of one row of the partition by some columns.
struct PartitionFacts {
  double entropy;
  int64 rows;
  int64 classes;
  int64 uniques;
};

// Partitions of the relation by `count` sets of attribute numbers; the empty set gives one class. SPI must be
// connected.
void PartitionsOf(Oid relation, const Bitmapset* const* sets, int count, PartitionFacts* facts);
