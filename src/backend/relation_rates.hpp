/*
 * relation_rates.hpp - discrimination rates of one relation, computed from its rows.
 *
 * The one interface behind which rates are computed: sets of attribute numbers in, entropies in bits out. Today each
 * set is one GROUP BY whose class sizes are counted by the server, so memory is bounded by work_mem and it may spill;
 * the cost is one pass over the relation a set. Queries run as the current user: callers decide whose rights count.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/bitmapset.h"
}

// Entropy in bits, rows, classes and classes of one row of the partition by some columns.
struct PartitionFacts {
  double entropy;
  int64 rows;
  int64 classes;
  int64 uniques;
};

// Partition of the relation by a set of attribute numbers; the empty set gives one class. SPI must be connected.
PartitionFacts PartitionOf(Oid relation, const Bitmapset* attributes);

// CDR of `attributes` against `target` (attribute numbers; empty: the row), and the number of rows. SPI must be
// connected.
double RelationRate(Oid relation, const Bitmapset* attributes, const Bitmapset* target, int64* rows);

// Attribute numbers of the declared subject, else the primary key; null (the empty set) for the row. Reads the
// extension's tables as their owner.
Bitmapset* SubjectOf(Oid relation);

// Computes the rates that core found missing and appends them to three text[] literals for the model (see
// model_wire.hpp). Each relation is read as its owner in a restricted context. Stores them in the table of rates unless
// the transaction is read-only. `missing` holds "relation NUL attributes" texts. Sets that no longer exist are skipped.
struct ComputedRates {
  StringInfoData relations, attributes, rates;  // array literals under construction
  int count;
};
void InitComputedRates(ComputedRates* computed);
void ComputeMissingRate(ComputedRates* computed, const char* relation, const char* attributes);

// The same in a subtransaction, so that a relation or column that cannot be read fails alone (guarded.hpp).
ErrorData* ComputeRateGuarded(ComputedRates* computed, const char* relation, const char* attributes);
