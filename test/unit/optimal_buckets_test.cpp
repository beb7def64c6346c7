/*
 * optimal_buckets_test.cpp - the optimum against enumeration, its bound, pauses and time limits, large tables.
 */
#include "core/buckets/optimal_buckets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bucket_fixture.hpp"
#include "core/buckets/bucket_thresholds.hpp"

namespace privacy_score {
namespace {

using testing_support::Counts;
using testing_support::Fault;
using testing_support::ForEachSetting;
using testing_support::GeometricCounts;
using testing_support::kSanitizerDivisor;
using testing_support::RandomProblem;
using testing_support::Thresholds;

TEST(OptimalBuckets, SmallExample) {
  const BucketProblem problem = BucketProblem::WithSizes({4, 3, 2, 1}, Thresholds({"1/2", "1/2", "1/3", "1/5"}), 0, 50);
  OptimalBuckets search(problem);
  ASSERT_EQ(search.Run({}), SearchOutcome::kFound);
  EXPECT_EQ(search.plan()->setting, (BucketSetting{{2, 1}, {3, 1}, {5, 1}}));
  EXPECT_EQ(search.plan()->loss, 21);
  EXPECT_EQ(search.plan()->bound, 21);
  EXPECT_EQ(Gap(*search.plan()), 0.0);
  EXPECT_NEAR(ToDouble(MeanSquaredError(search.plan()->setting)), 2.33333333333, 1e-9);
  EXPECT_EQ(TwoSizePlan(BucketProblem::WithSizes({4, 3, 2, 1}, Thresholds({"1/2", "1/2", "1/3", "1/5"}), 0, 10))->loss,
            27);
}

// Every bound on the way is one: a search that stops at any time never claims more than the optimum.
TEST(OptimalBuckets, EqualsEnumerationAndNeverClaimsTooMuch) {
  std::mt19937_64 random(6);
  int feasible = 0;
  int split = 0;
  const int instances = 8000 / kSanitizerDivisor;
  for (int round = 0; round < instances; ++round) {
    const BucketProblem problem = RandomProblem(random, 20, 8, 8);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    ForEachSetting(problem, 9, [&](const BucketSetting& setting) {
      if (SearchLoss(setting) < best && PlanOf(problem, setting)) best = SearchLoss(setting);
    });
    const bool is_feasible = best < std::numeric_limits<std::int64_t>::max();

    OptimalBuckets search(problem);
    ASSERT_EQ(search.Run({}), is_feasible ? SearchOutcome::kFound : SearchOutcome::kImpossible) << round;
    split += search.parts() > 1 ? 1 : 0;
    for (int looks = 0; looks < 12; looks += 1 + looks / 2) {
      OptimalBuckets cut_short(problem);
      int left = looks;
      const SearchOutcome outcome = cut_short.Run({nullptr, [&] { return left-- == 0; }});
      ASSERT_FALSE(outcome == SearchOutcome::kImpossible && is_feasible) << round;
      if (outcome != SearchOutcome::kFound) continue;
      ASSERT_EQ(Fault(problem, *cut_short.plan()), "") << round;
      ASSERT_LE(*cut_short.plan()->bound, best) << round;
    }
    const std::optional<BucketPlan> multi = MultiSizePlan(problem);
    ASSERT_FALSE(multi && !is_feasible) << round;
    if (!is_feasible) continue;
    ++feasible;
    ASSERT_EQ(search.plan()->loss, best) << round;
    ASSERT_EQ(search.plan()->bound, best) << round;
    ASSERT_EQ(Fault(problem, *search.plan()), "") << round;
    if (multi) {
      ASSERT_EQ(Fault(problem, *multi), "") << round;
      ASSERT_LE(best, multi->loss) << round;
      ASSERT_LE(multi->loss, TwoSizePlan(problem)->loss) << round;
    }
  }
  EXPECT_GT(feasible, instances / 3);
  EXPECT_LT(feasible, instances);
  EXPECT_GT(split, 0);
}

TEST(OptimalBuckets, ProvesTheOptimumOfLargeTables) {
  for (const std::int64_t rows : {300'000LL, 100'000'000LL, 1'000'000'000'000LL}) {
    for (const int theta : {2, 4, 32}) {
      const Counts counts = GeometricCounts(50, 0.075, 0.0018, rows);
      const BucketProblem problem =
          BucketProblem::WithSizes(counts, FrequencyThresholds(counts, theta, Rational(1, 50)), 0, 50);
      OptimalBuckets search(problem);
      ASSERT_EQ(search.Run({}), SearchOutcome::kFound);
      EXPECT_EQ(Fault(problem, *search.plan()), "");
      EXPECT_EQ(search.plan()->loss, search.plan()->bound);
      const std::int64_t multi = MultiSizePlan(problem)->loss;
      EXPECT_LT(search.plan()->loss, multi);
      EXPECT_LT(multi, TwoSizePlan(problem)->loss);
    }
  }
}

TEST(OptimalBuckets, GoesOnAfterAPause) {
  static int looks = 0;
  const Counts counts = GeometricCounts(50, 0.075, 0.0018, 100'000);
  const BucketProblem problem =
      BucketProblem::WithSizes(counts, FrequencyThresholds(counts, 4, Rational(1, 50)), 0, 50);
  OptimalBuckets straight(problem);
  ASSERT_EQ(straight.Run({}), SearchOutcome::kFound);
  OptimalBuckets paused(problem);
  int pauses = 0;
  SearchControl control;
  // At ever longer intervals: what a pause breaks off is begun anew.
  control.interrupted = [] {
    ++looks;
    return (looks & (looks - 1)) == 0;
  };
  while (paused.Run(control) == SearchOutcome::kRunning) ASSERT_LT(++pauses, 60);
  EXPECT_GT(pauses, 5);
  EXPECT_EQ(paused.plan()->loss, straight.plan()->loss);
  EXPECT_EQ(paused.plan()->bound, straight.plan()->bound);
}

TEST(OptimalBuckets, WithoutTimeIsTheRecursiveMethod) {
  const Counts counts = GeometricCounts(50, 0.075, 0.0018, 500'000);
  const BucketProblem problem =
      BucketProblem::WithSizes(counts, FrequencyThresholds(counts, 2, Rational(1, 50)), 0, 50);
  OptimalBuckets search(problem);
  ASSERT_EQ(search.Run({nullptr, [] { return true; }}), SearchOutcome::kFound);
  EXPECT_EQ(search.plan()->loss, MultiSizePlan(problem)->loss);
  EXPECT_EQ(search.plan()->bound, 0);
  EXPECT_EQ(Gap(*search.plan()), std::nullopt);
}

TEST(OptimalBuckets, Boundaries) {
  const auto solve = [](const Counts& counts, const std::vector<std::string>& thresholds, int min_size, int max_size) {
    const BucketProblem problem = BucketProblem::WithSizes(counts, Thresholds(thresholds), min_size, max_size);
    OptimalBuckets search(problem);
    const SearchOutcome outcome = search.Run({});
    EXPECT_EQ(outcome == SearchOutcome::kFound, search.plan().has_value());
    if (!search.plan()) {
      EXPECT_EQ(outcome, SearchOutcome::kImpossible);
      return std::string("none");
    }
    EXPECT_EQ(Fault(problem, *search.plan()), "");
    EXPECT_EQ(search.plan()->bound, search.plan()->loss);
    std::string text;
    for (const SizeBuckets& part : search.plan()->setting)
      text += std::to_string(part.buckets) + "x" + std::to_string(part.size) + " ";
    return text;
  };
  EXPECT_EQ(solve({}, {}, 0, 50), "");                                      // an empty table without values
  EXPECT_EQ(solve({0, 0}, {"1/2", "1/2"}, 0, 50), "");                      // an empty table
  EXPECT_EQ(solve({1}, {"1"}, 0, 50), "1x1 ");                              // one row
  EXPECT_EQ(solve({1}, {"1/2"}, 0, 50), "none");                            // one row that must not stand alone
  EXPECT_EQ(solve({9}, {"1"}, 0, 50), "9x1 ");                              // one value only
  EXPECT_EQ(solve({9}, {"0.999"}, 0, 50), "none");                          // a threshold below the frequency
  EXPECT_EQ(solve({2, 2, 2}, {"1/3", "1/3", "1/3"}, 0, 50), "2x3 ");        // f' S exactly an integer
  EXPECT_EQ(solve({1, 1, 1}, {"0.333", "0.333", "0.333"}, 0, 50), "none");  // f' S just below an integer
  EXPECT_EQ(solve({4, 3}, {"0.6", "0.6"}, 0, 50), "1x2 1x5 ");              // a prime number of rows
  EXPECT_EQ(solve({2, 2, 2}, {"1/2", "1/2", "1/2"}, 6, 6), "1x6 ");         // one size to choose from
  EXPECT_EQ(solve({2, 2, 1}, {"1/2", "1/2", "1/2"}, 6, 6), "none");         // that does not divide the rows
  EXPECT_EQ(solve({1, 1, 1, 1, 1, 1, 1}, {"1/2", "1/2", "1/2", "1/2", "1/2", "1/2", "1/2"}, 0, 50), "2x2 1x3 ");
  EXPECT_EQ(solve({2, 2}, {"1/1000", "1/1000"}, 0, 50), "none");  // no bucket is large enough
}

}  // namespace
}  // namespace privacy_score
