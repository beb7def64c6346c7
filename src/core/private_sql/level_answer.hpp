/*
 * level_answer.hpp - all that is measured of one level, from the records of persons to noisy totals.
 *
 * What leaves here is differentially private in the level's epsilon, and delta where keys are unknown: every step that
 * reads the records adds its noise at once, with its part of the plan. What is then made of the totals costs nothing.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random_source.hpp"
#include "core/base/rational.hpp"
#include "core/private_sql/clipped_sums.hpp"
#include "core/private_sql/key_selection.hpp"
#include "core/private_sql/measurement_plan.hpp"
#include "core/private_sql/norm_histogram.hpp"
#include "core/private_sql/person_sums.hpp"

namespace privacy_score {

struct LevelQuestion {
  std::vector<PlannedAggregate> aggregates;
  LevelShape shape;
  Rational epsilon;
  Rational delta;  // of unknown keys, else 0
  // Of unknown keys: keyed hashes of the groups' keys, by number, and the key of the choice among a person's groups.
  std::vector<std::uint64_t> group_hashes;
  HashKey hash_key;
  std::vector<NormReference> references;  // by norm of the plan; where there is none the level's own histogram decides
};

// Noisy totals of one quantity by group, in steps of the grid: 2^grid.exponent units each.
struct MeasuredTotals {
  std::vector<Int128> totals;
  ClipGrid grid;
  double left_out = 0;  // estimated share of all contributions that the bound leaves out; NaN: nothing estimates it
};

struct LevelAnswer {
  ShownGroups shown;  // one entry a group
  MeasurementPlan plan;
  std::vector<MeasuredTotals> measured;  // by measurement of the plan
};

// The noisy histograms of all norms of a plan, each for `epsilon`: of the level without the conditions that choose
// among persons, they are its references (ReferenceOf), which hold for all questions of its shape.
std::vector<NormBins> MeasureReferences(const PersonRecords& records, const MeasurementPlan& plan,
                                        const Rational& epsilon, RandomSource& random);

// Throws Error 22023 for an epsilon or delta that makes no law of noise, and what `random` throws.
LevelAnswer AnswerLevel(const PersonRecords& records, const LevelQuestion& question, RandomSource& random);

}  // namespace privacy_score
