/*
 * bucket_setting_test.cpp - losses, one size and the best two sizes against brute force; validity of any setting.
 */
#include "core/buckets/bucket_setting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bucket_fixture.hpp"
#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Counts;
using testing_support::ErrorOf;
using testing_support::Fault;
using testing_support::ForEachSetting;
using testing_support::HallHolds;
using testing_support::kSanitizerDivisor;
using testing_support::RandomProblem;
using testing_support::Thresholds;

// 8 values of 1 record with 0.09, 6 of 3 with 0.17, 4 of 6 with 0.29: 50 records [Wang, example 4.20].
BucketProblem Example(int max_size) {
  Counts counts;
  std::vector<std::string> thresholds;
  for (int i = 0; i < 18; ++i) {
    counts.push_back(i < 8 ? 1 : i < 14 ? 3 : 6);
    thresholds.push_back(i < 8 ? "9/100" : i < 14 ? "17/100" : "29/100");
  }
  return BucketProblem::WithSizes(counts, Thresholds(thresholds), 0, max_size);
}

TEST(BucketSetting, LossAndMeanSquaredError) {
  EXPECT_EQ(Loss(MakeSetting({1}, {6})), 0);
  EXPECT_EQ(TextOf(MeanSquaredError(MakeSetting({1}, {6}))), "0");
  EXPECT_EQ(TextOf(MeanSquaredError(MakeSetting({6}, {1}))), "5");
  EXPECT_EQ(TextOf(MeanSquaredError(MakeSetting({2}, {2}))), "2/3");
  EXPECT_EQ(TextOf(MeanSquaredError(MakeSetting({1}, {1}))), "0");
  EXPECT_EQ(TextOf(MeanSquaredError({})), "0");
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Loss(MakeSetting({2147483647}, {most})).str(), "42535295785889145450939290473008726012");
  EXPECT_EQ(MakeSetting({3, 2, 3, 5}, {1, 2, 4, 0}), (BucketSetting{{2, 2}, {3, 5}}));
}

TEST(BucketSetting, RefusesListsThatAreNone) {
  EXPECT_EQ(ErrorOf([] {
              MakeSetting({1, 2}, {1});
            }),
            "22023 sizes and buckets must have the same length, not 2 and 1");
  EXPECT_EQ(ErrorOf([] { MakeSetting({0}, {1}); }), "22023 a bucket size must be at least 1, not 0");
  EXPECT_EQ(ErrorOf([] { MakeSetting({2}, {-1}); }), "22023 a number of buckets must not be negative, as -1 is");
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ErrorOf([=] { MakeSetting({2, 2}, {most, 1}); }), "22003 there are too many buckets of size 2");
}

TEST(BucketSetting, OneSize) {
  const BucketProblem thirds({3, 2, 1}, Thresholds({"1/3", "1/3", "1/3"}), {3});
  EXPECT_FALSE(OneSizeValid(thirds, 0, 2));  // a bucket holds one of the first value, which occurs three times
  EXPECT_FALSE(BestTwoSizes(thirds));
  const BucketProblem even({2, 2, 2}, Thresholds({"1/3", "1/3", "1/3"}), {3});
  EXPECT_EQ(BestTwoSizes(even), (BucketSetting{{3, 2}}));
}

TEST(BucketSetting, PaperExampleOfTwoSizes) {
  const BucketProblem problem = Example(50);
  EXPECT_EQ(problem.sizes().front(), 4);
  const std::optional<BucketPlan> plan = PlanOf(problem, {{9, 4}, {14, 1}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->loss, 425);
  EXPECT_EQ(Fault(problem, *plan), "");
  // The only way: values of 1 fit the large bucket only.
  for (std::size_t i = 0; i < 18; ++i) EXPECT_LE(plan->Records(i, 1), i < 8 ? 1 : i < 14 ? 2 : 4);
  EXPECT_EQ(BestTwoSizes(problem), (BucketSetting{{6, 6}, {14, 1}}));
  EXPECT_EQ(SearchLoss(*BestTwoSizes(problem)), 319);
  EXPECT_NEAR(ToDouble(MeanSquaredError(*BestTwoSizes(problem))), 6.51020408163, 1e-9);
}

// A list of pairs as the paper writes it: (14, 0), (12, 1), ..., (0, 7) for 28 records in sizes 2 and 4.
TEST(BucketSetting, PairsOfTwoSizes) {
  const BucketProblem problem({28}, Thresholds({"1"}), {2, 4});
  std::vector<BucketSetting> pairs;
  ForEachSetting(problem, 2, [&](const BucketSetting& setting) { pairs.push_back(setting); });
  EXPECT_EQ(pairs.size(), 8U);
  EXPECT_EQ(BestTwoSizes(problem), (BucketSetting{{2, 14}}));
}

TEST(BucketSetting, BestTwoSizesEqualsBruteForce) {
  std::mt19937_64 random(4);
  int feasible = 0;
  const int instances = 6000 / kSanitizerDivisor;
  for (int round = 0; round < instances; ++round) {
    const BucketProblem problem = RandomProblem(random, 60, 8, 12);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    ForEachSetting(problem, 2, [&](const BucketSetting& setting) {
      if (SearchLoss(setting) < best && PlanOf(problem, setting)) best = SearchLoss(setting);
    });
    const std::optional<BucketSetting> found = BestTwoSizes(problem);
    ASSERT_EQ(found.has_value(), best < std::numeric_limits<std::int64_t>::max()) << round;
    if (!found) continue;
    ++feasible;
    ASSERT_EQ(SearchLoss(*found), best) << round;
    ASSERT_TRUE(PlanOf(problem, *found)) << round;
  }
  EXPECT_GT(feasible, instances / 3);
  EXPECT_LT(feasible, instances);
}

TEST(BucketSetting, FlowAgreesWithTheConditionOfHallsKind) {
  std::mt19937_64 random(5);
  int valid = 0;
  int invalid = 0;
  for (int round = 0; round < 1500 / kSanitizerDivisor; ++round) {
    const BucketProblem problem = RandomProblem(random, 20, 6, 7);
    ForEachSetting(problem, 7, [&](const BucketSetting& setting) {
      const std::optional<BucketPlan> plan = PlanOf(problem, setting);
      ASSERT_EQ(plan.has_value(), HallHolds(problem, setting)) << round;
      if (plan) {
        ASSERT_EQ(Fault(problem, *plan), "") << round;
      }
      ++(plan ? valid : invalid);
    });
  }
  EXPECT_GT(valid, 1000 / kSanitizerDivisor);
  EXPECT_GT(invalid, 1000 / kSanitizerDivisor);
}

TEST(BucketSetting, OfATableOfAnySize) {
  const std::vector<Rational> halves = Thresholds({"1/2", "1/2", "1/2"});
  const BucketProblem empty = BucketProblem::WithSizes({0, 0, 0}, halves, 0, 50);
  EXPECT_EQ(BestTwoSizes(empty), BucketSetting{});
  EXPECT_FALSE(BestTwoSizes(BucketProblem::WithSizes({1, 0, 0}, halves, 0, 50)));
  EXPECT_EQ(BestTwoSizes(BucketProblem::WithSizes({1}, Thresholds({"1"}), 0, 50)), (BucketSetting{{1, 1}}));
  for (const std::int64_t rows : {100'000'000LL, 1'000'000'000'000LL, 1'333'333'333'333'333LL}) {
    // An odd number of rows needs one larger bucket.
    const BucketProblem large = BucketProblem::WithSizes({rows, rows, rows + 1}, halves, 0, 1000);
    const std::int64_t all = 3 * rows + 1;
    const BucketSetting best = all % 2 == 0 ? BucketSetting{{2, all / 2}} : BucketSetting{{2, (all - 3) / 2}, {3, 1}};
    EXPECT_EQ(BestTwoSizes(large), best);
    const std::optional<BucketPlan> plan = PlanOf(large, best);
    ASSERT_TRUE(plan);
    EXPECT_EQ(Fault(large, *plan), "");
  }
}

}  // namespace
}  // namespace privacy_score
