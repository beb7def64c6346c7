/*
 * measurement_plan_test.cpp - a level's epsilon is divided as the design says, and never more than there is.
 */
#include "core/private_sql/measurement_plan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

using Aggregates = std::vector<PlannedAggregate>;

constexpr AggregateKind kCount = AggregateKind::kCountRows;

Rational SumOf(const MeasurementPlan& plan) {
  Rational sum = plan.key_epsilon;
  for (const PlannedNorm& norm : plan.norms) sum = sum + norm.epsilon;
  for (const PlannedMeasurement& measurement : plan.measurements) sum = sum + measurement.epsilon;
  return sum;
}

LevelShape ShapeOf(std::int64_t most_rows, bool unknown, bool follow) {
  LevelShape shape;
  shape.most_rows = most_rows;
  shape.rows_are_proven = most_rows == 1;
  shape.unknown_keys = unknown;
  shape.keys_follow_person = follow;
  return shape;
}

TEST(MeasurementPlanOf, ACountOfOneRowAPersonTakesAll) {
  const MeasurementPlan plan = PlanMeasurements(Aggregates{{kCount}}, ShapeOf(1, false, true), Rational(1, 10));
  EXPECT_TRUE(plan.norms.empty());
  ASSERT_EQ(plan.measurements.size(), 1U);
  EXPECT_EQ(plan.measurements[0].epsilon, Rational(1, 10));
  EXPECT_EQ(plan.measurements[0].bound, 1);
  EXPECT_TRUE(plan.measurements[0].proven);
  EXPECT_FALSE(plan.measurements[0].norm);
  EXPECT_EQ(plan.used_by, (std::vector<std::vector<std::size_t>>{{0}}));
}

TEST(MeasurementPlanOf, ACountOfManyRowsGivesAQuarterToTheNorm) {
  const MeasurementPlan plan = PlanMeasurements(Aggregates{{kCount}}, ShapeOf(0, false, true), Rational(1));
  ASSERT_EQ(plan.norms.size(), 1U);
  EXPECT_EQ(plan.norms[0].epsilon, Rational(1, 4));
  EXPECT_EQ(plan.norms[0].kind, MeasureKind::kRows);
  ASSERT_EQ(plan.measurements.size(), 1U);
  EXPECT_EQ(plan.measurements[0].epsilon, Rational(3, 4));
  EXPECT_EQ(plan.measurements[0].norm, 0U);
}

TEST(MeasurementPlanOf, ADeclaredBoundIsNotProven) {
  const MeasurementPlan plan =
      PlanMeasurements(Aggregates{{kCount}, {AggregateKind::kCountPersons}}, ShapeOf(20, false, false), Rational(1));
  EXPECT_TRUE(plan.norms.empty());
  for (const PlannedMeasurement& measurement : plan.measurements) {
    EXPECT_EQ(measurement.bound, 20) << "she is in at most as many groups as she has rows";
    EXPECT_FALSE(measurement.proven);
    EXPECT_EQ(measurement.epsilon, Rational(1, 2));
  }
}

TEST(MeasurementPlanOf, RowsAndPersonsHalveTheirQuarter) {
  const MeasurementPlan plan =
      PlanMeasurements(Aggregates{{kCount}, {AggregateKind::kCountPersons}}, ShapeOf(0, false, false), Rational(1));
  ASSERT_EQ(plan.norms.size(), 2U);
  EXPECT_EQ(plan.norms[0].epsilon, Rational(1, 8));
  EXPECT_EQ(plan.norms[1].epsilon, Rational(1, 8));
  EXPECT_EQ(plan.norms[1].kind, MeasureKind::kPersons);
  EXPECT_EQ(plan.measurements[0].norm, 0U);
  EXPECT_EQ(plan.measurements[1].norm, 1U);
  EXPECT_EQ(plan.measurements[0].epsilon, Rational(3, 8));
  // Without keys she is in one group.
  const MeasurementPlan whole =
      PlanMeasurements(Aggregates{{kCount}, {AggregateKind::kCountPersons}}, ShapeOf(0, false, true), Rational(1));
  ASSERT_EQ(whole.norms.size(), 1U);
  EXPECT_EQ(whole.measurements[1].bound, 1);
  EXPECT_TRUE(whole.measurements[1].proven);
}

TEST(MeasurementPlanOf, EqualQuantitiesAreMeasuredOnce) {
  const Aggregates aggregates = {{kCount},
                                 {AggregateKind::kAverage, 0, true},
                                 {AggregateKind::kSum, 0},
                                 {AggregateKind::kAverage, 1, false},
                                 {AggregateKind::kCountValues, 1, false},
                                 {AggregateKind::kVariance, 0, true}};
  const MeasurementPlan plan = PlanMeasurements(aggregates, ShapeOf(1, false, true), Rational(1));
  // count(*), sum 0, sum 1, count 1, spread 0
  ASSERT_EQ(plan.measurements.size(), 5U);
  EXPECT_EQ(plan.used_by, (std::vector<std::vector<std::size_t>>{{0}, {1, 0}, {1}, {2, 3}, {3}, {1, 0, 4}}));
  EXPECT_EQ(plan.measurements[0].epsilon, Rational(1, 5));
  EXPECT_EQ(plan.measurements[1].epsilon, Rational(3, 20));
  EXPECT_EQ(plan.norms[*plan.measurements[1].norm].epsilon, Rational(1, 20));
  EXPECT_EQ(plan.norms[*plan.measurements[4].norm].kind, MeasureKind::kSpread);
}

TEST(MeasurementPlanOf, UnknownKeysCostAQuarterUnlessTheCountShowsThem) {
  const MeasurementPlan plan = PlanMeasurements(Aggregates{{kCount}}, ShapeOf(0, true, false), Rational(1));
  EXPECT_EQ(plan.key_epsilon, Rational(1, 4));
  EXPECT_FALSE(plan.shown_by);
  EXPECT_EQ(plan.measurements[0].epsilon, Rational(1, 2));
  const MeasurementPlan free = PlanMeasurements(Aggregates{{AggregateKind::kSum, 0}, {AggregateKind::kCountPersons}},
                                                ShapeOf(0, true, true), Rational(1));
  EXPECT_EQ(free.key_epsilon, Rational(0));
  EXPECT_EQ(free.shown_by, 1U);
  const MeasurementPlan rows = PlanMeasurements(Aggregates{{kCount}}, ShapeOf(1, true, false), Rational(1));
  EXPECT_EQ(rows.shown_by, 0U) << "one row is in one group";
  // A count of persons who may be in many groups shows none.
  const MeasurementPlan many = PlanMeasurements(Aggregates{{AggregateKind::kCountPersons}}, ShapeOf(0, true, false), 1);
  EXPECT_FALSE(many.shown_by);
  EXPECT_EQ(many.key_epsilon, Rational(1, 4));
}

TEST(MeasurementPlanOf, KeysAloneTakeAll) {
  const MeasurementPlan many = PlanMeasurements({}, ShapeOf(0, true, false), Rational(1));
  EXPECT_EQ(many.key_epsilon, Rational(1));
  EXPECT_TRUE(many.measurements.empty());
  const MeasurementPlan one = PlanMeasurements({}, ShapeOf(0, true, true), Rational(1));
  EXPECT_EQ(one.key_epsilon, Rational(0));
  ASSERT_EQ(one.measurements.size(), 1U);
  EXPECT_EQ(one.measurements[0].kind, MeasureKind::kPersons);
  EXPECT_EQ(one.measurements[0].epsilon, Rational(1));
  EXPECT_EQ(one.shown_by, 0U);
}

TEST(MeasurementPlanOf, PublicGroupsOfAnInnerJoinAreShownByACount) {
  LevelShape shape = ShapeOf(0, false, false);
  shape.shows_present_groups = true;
  const MeasurementPlan added = PlanMeasurements(Aggregates{{AggregateKind::kSum, 3}}, shape, Rational(1));
  ASSERT_EQ(added.measurements.size(), 2U);
  EXPECT_EQ(added.measurements[1].kind, MeasureKind::kPersons);
  EXPECT_EQ(added.shown_by, 1U);
  const MeasurementPlan there = PlanMeasurements(Aggregates{{AggregateKind::kSum, 3}, {kCount}}, shape, Rational(1));
  EXPECT_EQ(there.measurements.size(), 2U);
  EXPECT_EQ(there.shown_by, 1U);
}

TEST(MeasurementPlanOf, AnyLevelSpendsWhatItHasExactly) {
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    Aggregates aggregates(random() % 6);
    for (PlannedAggregate& aggregate : aggregates) {
      aggregate.kind = static_cast<AggregateKind>(random() % 7);
      aggregate.column = random() % 3;
      aggregate.never_null = aggregate.column == 0;
    }
    LevelShape shape = ShapeOf(static_cast<std::int64_t>(random() % 3), random() % 2 == 0, random() % 2 == 0);
    shape.shows_present_groups = !shape.unknown_keys && random() % 2 == 0;
    if (aggregates.empty() && !shape.unknown_keys) shape.shows_present_groups = true;
    const Rational epsilon = Rational(static_cast<std::int64_t>(1 + random() % 999), 1000);
    const MeasurementPlan plan = PlanMeasurements(aggregates, shape, epsilon);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    ASSERT_EQ(SumOf(plan), epsilon);
    ASSERT_EQ(plan.used_by.size(), aggregates.size());
    std::set<std::pair<int, std::size_t>> distinct;
    for (const PlannedMeasurement& measurement : plan.measurements) {
      ASSERT_TRUE(distinct.insert({static_cast<int>(measurement.kind), measurement.column}).second) << "twice";
      ASSERT_TRUE(measurement.epsilon > Rational(0));
      ASSERT_NE(measurement.norm.has_value(), measurement.bound > 0);
      ASSERT_TRUE(!measurement.norm || plan.norms.at(*measurement.norm).epsilon > Rational(0));
    }
    ASSERT_EQ(plan.key_epsilon > Rational(0), shape.unknown_keys && !plan.shown_by);
  }
}

TEST(MeasurementPlanOf, NothingIsRefused) {
  EXPECT_EQ(ErrorOf([] { PlanMeasurements({}, {}, Rational(0)); }), "22023 epsilon must be greater than zero, not 0");
}

}  // namespace
}  // namespace privacy_score
