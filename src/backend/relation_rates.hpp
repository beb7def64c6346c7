/*
 * relation_rates.hpp - discrimination rates of one relation, computed from its rows.
 *
 * Callers decide whose rights count: rows are read as the current user (partitions.hpp).
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/bitmapset.h"
}

#include "partitions.hpp"

// CDR of each of `count` (at least one) sets against `target` (attribute numbers; empty: the row), the number of rows,
// and the partitions by the sets; what is null is not wanted. SPI must be connected.
void RelationRates(Oid relation, const Bitmapset* const* attributes, int count, const Bitmapset* target, double* rates,
                   int64* rows, PartitionFacts* partitions = nullptr);

// The same for one set.
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
