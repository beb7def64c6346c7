/*
 * relation_rates.hpp - discrimination rates of one relation, computed from its rows.
 *
 * Callers decide whose rights count: rows are read as the current user (partitions.hpp).
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/bitmapset.h"
}

#include "backend/rates/partitions.hpp"

namespace privacy_score {

// What rates are against: H(X) in bits, and the rows that it was counted over.
struct SubjectFacts {
  int64 rows;
  double entropy;
};

// CDR of each of `count` (at least one) sets against `target` (attribute numbers; empty: the row), what they are
// against, and the partitions by the sets; what is null is not wanted. SPI must be connected.
void RelationRates(Oid relation, const Bitmapset* const* attributes, int count, const Bitmapset* target, double* rates,
                   SubjectFacts* subject, PartitionFacts* partitions = nullptr);

// The same for one set.
double RelationRate(Oid relation, const Bitmapset* attributes, const Bitmapset* target);

}  // namespace privacy_score
