/*
 * measurement_plan.hpp - what is measured for the aggregates of a level, and with which part of its epsilon.
 *
 * A level's epsilon goes to the choice of keys (1/4, where keys are unknown), to histograms of norms (1/4, where rows
 * or persons need a bound; halved when both do) and, evenly, to the distinct quantities that its aggregates need. A sum
 * gives 1/4 of its part to a histogram of its own. Equal quantities are measured once. Parts are fractions, so they add
 * up to the epsilon of the level exactly: basic composition [Dwork, McSherry, Nissim, Smith 2006].
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/rational.hpp"
#include "core/private_sql/clipped_sums.hpp"

namespace privacy_score {

enum class AggregateKind {
  kCountRows,     // count(*)
  kCountValues,   // count(x); count(*) FILTER is that of a column that is NULL where the filter is not true
  kCountPersons,  // count(DISTINCT person)
  kCountHolders,  // count(DISTINCT person) FILTER, bool_or, every: persons with a value of a column
  kSum,           // sum(x)
  kAverage,       // avg(x): sum and count
  kVariance,      // var, stddev: sum, count and the spread about the noisy mean
};

struct PlannedAggregate {
  AggregateKind kind = AggregateKind::kCountRows;
  std::size_t column = 0;   // of all but kCountRows and kCountPersons
  bool never_null = false;  // the column is NULL in no row that is read: its count is count(*)
};

// What is known of a level without reading a row.
struct LevelShape {
  bool unknown_keys = false;          // groups are chosen by key_selection.hpp, else they are public
  bool shows_present_groups = false;  // public keys of an inner join: a group is shown by its noisy count
  bool keys_follow_person = false;    // there are no keys, or the person determines them: she is in one group at most
  std::int64_t most_rows = 0;         // a proven or declared bound on the rows of a person; 0: none
  bool rows_are_proven = false;       // most_rows is proven
};

// A histogram of norms that a plan asks for: of the quantity whose kind is kRows, kPersons, kSum or kSpread.
struct PlannedNorm {
  MeasureKind kind = MeasureKind::kRows;
  std::size_t column = 0;
  Rational epsilon;
};

struct PlannedMeasurement {
  MeasureKind kind = MeasureKind::kRows;
  std::size_t column = 0;
  Rational epsilon;                 // of the noise
  std::optional<std::size_t> norm;  // the histogram that its bound comes from,
  std::int64_t bound = 0;           // or where there is none the bound,
  bool proven = false;              // which then may be proven (ChooseClipGrid)
};

struct MeasurementPlan {
  Rational key_epsilon;  // of the choice of keys; 0 when that needs none
  // By which measurement groups are shown: unknown keys by KeyThreshold of its scale and bound, public ones by
  // PresenceThreshold.
  std::optional<std::size_t> shown_by;
  std::vector<PlannedNorm> norms;
  std::vector<PlannedMeasurement> measurements;
  // The measurements of each aggregate: an average has sum, count, a variance sum, count, spread, all others one.
  std::vector<std::vector<std::size_t>> used_by;
};

// The plan for a level. A level without aggregates (DISTINCT, GROUP BY alone) measures persons when that shows its
// groups. Throws Error 22023 unless epsilon is greater than zero.
MeasurementPlan PlanMeasurements(const std::vector<PlannedAggregate>& aggregates, const LevelShape& shape,
                                 const Rational& epsilon);

}  // namespace privacy_score
