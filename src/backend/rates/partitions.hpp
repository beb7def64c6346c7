/*
 * partitions.hpp - partitions of a relation's rows by sets of its columns.
 *
 * The one interface behind which rows are read for rates: sets of attribute numbers in, entropies in bits out. Rows are
 * read as the current user, by statements.
 *
 * A table or materialized view is read once, whatever the number of sets: its rows are coded in memory
 * (coded_pass.hpp), and every set is counted from there. Where the rows are elsewhere or in many places (partitions,
 * children, foreign tables, other table access methods) the statement groups them there by all columns first, and only
 * groups are read. Memory is bounded by maintenance_work_mem: what does not fit together is read in several passes, and
 * what does not fit at all is grouped by the server, which may spill. Columns that are a unique key need not be read.
 * Through a view, or where row security applies, each set is a statement of its own.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/bitmapset.h"
}

namespace privacy_score {

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

}  // namespace privacy_score
