/*
 * joint_rates.hpp - discrimination rates of columns of several relations about the same subjects, from their rows.
 *
 * Relations whose subjects are at home in one relation through foreign keys (privacy_score.subject_path) are joined
 * there: a subject is a row of the home, and what a relation says of it is one value: its columns at home, and of any
 * other relation the multiset of the tuples of its rows, NULL where it has none. Rows that refer to no subject do not
 * count. Rates are against the subject, each of which counts once.
 *
 * One statement per batch: each relation is read and grouped by subject once, whatever the number of sets, and the
 * subjects go the way of any rows (partition_passes.hpp).
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "nodes/pg_list.h"
}

#include "backend/rates/relation_rates.hpp"

namespace privacy_score {

// Columns that one relation reveals.
struct RevealedRelation {
  Oid relation;
  Bitmapset* attributes;
};

// JointHome() as far as the current user can read the subjects there: their columns, and no policy applies.
Oid ReadableJointHome(Oid relation);

// Joint rate of each of `count` sets, each a list of RevealedRelation that is not empty, of relations at home in
// `home`; and what they are against (may be null). Rows are read as the current user. SPI must be connected.
void JointRates(Oid home, List* const* sets, int count, double* rates, SubjectFacts* subject);

}  // namespace privacy_score
