/*
 * bucket_problem_test.cpp - capacities by size, and values that are alike.
 */
#include "core/buckets/bucket_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "bucket_fixture.hpp"
#include "core/buckets/bucket_plan.hpp"
#include "core/buckets/bucket_thresholds.hpp"
#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Counts;
using testing_support::ErrorOf;
using testing_support::kSanitizerDivisor;
using testing_support::RandomProblem;
using testing_support::Thresholds;

TEST(BucketProblem, CapacitiesAreExact) {
  const BucketProblem problem({10, 10, 10, 0}, Thresholds({"0.29", "1/3", "0.333", "1"}), {3, 100});
  EXPECT_EQ(problem.Capacity(0, 1), 29);
  EXPECT_EQ(problem.Capacity(1, 0), 1);
  EXPECT_EQ(problem.Capacity(2, 0), 0);
  EXPECT_EQ(problem.Capacity(3, 1), 100);
  EXPECT_EQ(problem.rows(), 30);
  EXPECT_EQ(problem.values(), 4U);
  EXPECT_EQ(problem.PlaceOf(100), 1U);
  EXPECT_EQ(problem.PlaceOf(4), problem.sizes().size());
}

// Thresholds by a hair below and above a half, and below a third, which no machine word holds.
TEST(BucketProblem, CapacitiesOfLongThresholdsAreExact) {
  const BucketProblem problem(
      {10, 10, 10},
      Thresholds({"0.49999999999999999999999999", "0.50000000000000000000000001", "0.33333333333333333333"}),
      {2, 3, 100});
  EXPECT_EQ(problem.Capacity(0, 0), 0);
  EXPECT_EQ(problem.Capacity(1, 0), 1);
  EXPECT_EQ(problem.Capacity(2, 1), 0);
  EXPECT_EQ(problem.Capacity(0, 2), 49);
  EXPECT_EQ(problem.Capacity(1, 2), 50);
  EXPECT_EQ(problem.Capacity(2, 2), 33);
}

TEST(BucketProblem, SizesTooSmallForAnyValueAreLeftOut) {
  const BucketProblem problem = BucketProblem::WithSizes({1, 1}, Thresholds({"1/4", "0.3"}), 0, 6);
  EXPECT_EQ(problem.sizes(), (std::vector<int>{4, 5, 6}));
}

TEST(BucketProblem, GroupsHoldEachValueThatOccursOnce) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 400 / kSanitizerDivisor; ++round) {
    const BucketProblem problem = RandomProblem(random, 40, 8, 9);
    std::vector<int> seen(problem.values());
    for (std::size_t c = 0; c < problem.classes(); ++c) {
      for (std::size_t g = problem.ClassBegin(c); g < problem.ClassBegin(c + 1); ++g) {
        const ValueGroup& group = problem.groups()[g];
        ASSERT_EQ(group.capacity_class, c);
        ASSERT_GT(group.count, 0);
        for (const std::size_t value : group.members) {
          ++seen[value];
          ASSERT_EQ(problem.count(value), group.count);
          for (std::size_t place = 0; place < problem.sizes().size(); ++place)
            ASSERT_EQ(problem.Capacity(value, place), problem.Capacities(c)[place]);
        }
      }
    }
    std::int64_t rows = 0;
    for (std::size_t value = 0; value < problem.values(); ++value) {
      ASSERT_EQ(seen[value], problem.count(value) > 0 ? 1 : 0);
      rows += problem.count(value);
    }
    ASSERT_EQ(rows, problem.rows());
  }
}

TEST(BucketProblem, OtherCountsKeepTheCapacities) {
  const BucketProblem problem({4, 4, 2}, Thresholds({"1/2", "1/2", "1/4"}), {2, 4});
  const BucketProblem part = problem.WithCounts({1, 0, 5});
  EXPECT_EQ(part.rows(), 6);
  EXPECT_EQ(part.count(1), 0);
  for (std::size_t value = 0; value < 3; ++value)
    for (std::size_t place = 0; place < 2; ++place)
      EXPECT_EQ(part.Capacity(value, place), problem.Capacity(value, place));
}

TEST(BucketProblem, RefusesWhatIsNone) {
  const std::vector<Rational> half = Thresholds({"1/2"});
  EXPECT_EQ(ErrorOf([&] { BucketProblem({1, 2}, half, {2}); }).substr(0, 5), "22023");
  EXPECT_EQ(ErrorOf([&] { BucketProblem({-1}, half, {2}); }).substr(0, 5), "22023");
  EXPECT_EQ(ErrorOf([&] { BucketProblem({1}, Thresholds({"0"}), {2}); }).substr(0, 5), "22023");
  EXPECT_EQ(ErrorOf([&] { BucketProblem({1}, half, {3, 3}); }).substr(0, 5), "22023");
  EXPECT_EQ(ErrorOf([&] { BucketProblem::WithSizes({1}, half, -1, 2); }),
            "22023 min_bucket must not be negative, as -1 is");
  EXPECT_EQ(ErrorOf([&] { BucketProblem::WithSizes({1}, half, 3, 2); }).substr(0, 5), "22023");
  EXPECT_EQ(ErrorOf([&] { BucketProblem::WithSizes({1}, half, 0, kMaxSearchSize + 1); }).substr(0, 5), "22023");
}

// A problem that takes long asks whether it is still worth the while, and gives up wherever it is; what asks nobody, or
// is told to go on, comes to the same end.
TEST(BucketProblem, GivesUpWhenNobodyWaits) {
  static int questions_left = 0;
  const GivesUp gives_up = [] { return --questions_left < 0; };
  Counts counts;
  std::vector<Rational> thresholds;
  for (int i = 0; i < 400; ++i) {
    counts.push_back(1000 + 37 * i % 501);
    thresholds.emplace_back(60 + i, 8000 + i);
  }
  const BucketProblem plain = BucketProblem::WithSizes(counts, thresholds, 0, 600);
  const auto expected = MultiSizePlan(plain);
  ASSERT_TRUE(expected);
  std::optional<BucketPlan> found;
  int given_up = 0;
  for (int questions = 0; !found && questions < 100000; questions += 1 + questions / 4) {
    questions_left = questions;
    const bool finished =
        Finishes([&] { found = MultiSizePlan(BucketProblem::WithSizes(counts, thresholds, 0, 600, gives_up)); });
    EXPECT_EQ(finished, found.has_value());
    given_up += finished ? 0 : 1;
  }
  EXPECT_GT(given_up, 5);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->setting, expected->setting);
  EXPECT_EQ(found->records, expected->records);

  questions_left = 0;
  EXPECT_FALSE(Finishes([&] { BrokenThresholds(counts, thresholds, 1, 600, gives_up); }));
}

TEST(BucketProblem, RefusesTooManyCapacities) {
  const Counts counts(130000, 1);
  std::vector<Rational> thresholds;
  for (int i = 0; i < 130000; ++i) thresholds.emplace_back(1000000 + 7 * i, 2000003);
  EXPECT_EQ(ErrorOf([&] { BucketProblem::WithSizes(counts, thresholds, 0, 1000); }),
            "54000 there are too many different thresholds for 999 bucket sizes");
}

}  // namespace
}  // namespace privacy_score
