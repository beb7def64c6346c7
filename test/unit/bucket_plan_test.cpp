/*
 * bucket_plan_test.cpp - plans hold, order of the methods, gaps, Anatomy, and dealing out by round robin.
 */
#include "core/buckets/bucket_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "bucket_fixture.hpp"
#include "error_fixture.hpp"
#include "random_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Counts;
using testing_support::ErrorOf;
using testing_support::Fault;
using testing_support::kSanitizerDivisor;
using testing_support::RandomProblem;
using testing_support::Thresholds;

std::vector<std::size_t> InOrder(std::size_t values) {
  std::vector<std::size_t> order(values);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Every bucket gets its size, and of no value more than fits.
void ExpectDealtOut(const BucketProblem& problem, const BucketPlan& plan) {
  const RoundRobin dealer(plan, InOrder(problem.values()));
  std::vector<std::vector<std::int64_t>> held(static_cast<std::size_t>(dealer.buckets()),
                                              std::vector<std::int64_t>(problem.values()));
  for (std::size_t value = 0; value < problem.values(); ++value) {
    ASSERT_EQ(dealer.records(value), problem.count(value));
    for (std::int64_t record = 0; record < dealer.records(value); ++record)
      ++held[static_cast<std::size_t>(dealer.BucketOf(value, record))][value];
  }
  std::vector<int> sizes;
  for (const auto& [size, buckets] : plan.setting) sizes.insert(sizes.end(), static_cast<std::size_t>(buckets), size);
  for (std::size_t bucket = 0; bucket < held.size(); ++bucket) {
    const int size = sizes.at(bucket);
    std::int64_t filled = 0;
    for (std::size_t value = 0; value < problem.values(); ++value) {
      ASSERT_LE(held[bucket][value], problem.Capacity(value, problem.PlaceOf(size)));
      filled += held[bucket][value];
    }
    ASSERT_EQ(filled, size);
  }
}

// [Wang, section 4.1] with 5, 3 and 1 records in three buckets of three: two or one of the first value in each.
TEST(BucketPlan, RoundRobinOfThePaper) {
  const BucketProblem problem({5, 3, 1}, Thresholds({"2/3", "1/3", "1/3"}), {3});
  const std::optional<BucketPlan> plan = PlanOf(problem, {{3, 3}});
  ASSERT_TRUE(plan);
  ExpectDealtOut(problem, *plan);
  const RoundRobin dealer(*plan, InOrder(3));
  std::vector<std::vector<int>> held(3, std::vector<int>(3));
  for (std::size_t value = 0; value < 3; ++value)
    for (std::int64_t record = 0; record < dealer.records(value); ++record)
      ++held[value][static_cast<std::size_t>(dealer.BucketOf(value, record))];
  for (std::vector<int>& buckets : held) std::sort(buckets.begin(), buckets.end());
  EXPECT_EQ(held, (std::vector<std::vector<int>>{{1, 2, 2}, {1, 1, 1}, {0, 0, 1}}));
}

// [Wang, example 4.20] four buckets of 9 and one of 14: the small ones take all of the values that may occur there, 42
// records, of which 6 go to the large one, so that the parts have 36 and 14.
TEST(BucketPlan, RecordPartitionOfThePaper) {
  std::vector<std::int64_t> counts;
  std::vector<std::string> thresholds;
  const auto add = [&](int values, std::int64_t count, const char* threshold) {
    counts.insert(counts.end(), static_cast<std::size_t>(values), count);
    thresholds.insert(thresholds.end(), static_cast<std::size_t>(values), threshold);
  };
  add(8, 1, "9/100");
  add(6, 3, "17/100");
  add(4, 6, "29/100");
  const BucketProblem problem(counts, Thresholds(thresholds), {9, 14});
  std::int64_t could = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    could += std::min<std::int64_t>(counts[i], std::int64_t{4} * problem.Capacity(i, 0));
  EXPECT_EQ(could, 42);
  const std::optional<BucketPlan> plan = PlanOf(problem, {{9, 4}, {14, 1}});
  ASSERT_TRUE(plan);
  std::int64_t small = 0;
  std::int64_t large = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    small += plan->Records(i, 0);
    large += plan->Records(i, 1);
    if (i >= 8) continue;
    EXPECT_EQ(plan->Records(i, 1), 1);
  }
  EXPECT_EQ(small, 36);
  EXPECT_EQ(large, 14);
  EXPECT_EQ(could - small, 6);
}

TEST(BucketPlan, MultiSizeIsNeverWorseThanTwoSizes) {
  std::mt19937_64 random(29);
  int found = 0;
  for (int round = 0; round < 1500 / kSanitizerDivisor; ++round) {
    const BucketProblem problem = RandomProblem(random, 60, 6, 9);
    const std::optional<BucketPlan> two = TwoSizePlan(problem);
    const std::optional<BucketPlan> multi = MultiSizePlan(problem);
    if (!two) continue;
    ++found;
    ASSERT_TRUE(multi);
    ASSERT_LE(multi->loss, two->loss);
    ASSERT_EQ(Fault(problem, *two), "");
    ASSERT_EQ(Fault(problem, *multi), "");
    ExpectDealtOut(problem, *multi);
  }
  EXPECT_GT(found, 300 / kSanitizerDivisor);
}

TEST(BucketPlan, Gap) {
  BucketPlan plan;
  plan.loss = 110;
  EXPECT_FALSE(Gap(plan));
  plan.bound = 100;
  EXPECT_NEAR(*Gap(plan), 0.1, 1e-12);
  EXPECT_GE(*Gap(plan), 0.1);
  plan.bound = 0;
  EXPECT_FALSE(Gap(plan));
  plan.loss = 0;
  EXPECT_EQ(*Gap(plan), 0);
}

TEST(BucketPlan, OrderOfValues) {
  BucketPlan plan;
  plan.setting = {{2, 3}, {3, 1}};
  plan.records = {1, 0, 2, 1, 3, 2};
  const BucketPlan back = WithoutOrder(plan, {2, 0, 1});
  EXPECT_EQ(back.records, (std::vector<std::int64_t>{2, 1, 3, 2, 1, 0}));
  EXPECT_EQ(back.setting, plan.setting);
  testing_support::SeededRandom random(12);
  std::map<std::vector<std::size_t>, int> drawn;
  for (int round = 0; round < 6000; ++round) ++drawn[RandomOrder(3, random)];
  ASSERT_EQ(drawn.size(), 6U);
  for (const auto& [order, count] : drawn) EXPECT_NEAR(count, 1000, 180);  // six standard deviations
}

// [Wang, section 7.1] a value of 7.5 % allows l up to 13.
TEST(BucketPlan, GreatestDiversityOfThePaper) {
  std::vector<std::int64_t> counts{75};
  for (int i = 0; i < 37; ++i) counts.push_back(25);
  EXPECT_TRUE(AnatomyPlan(counts, 13));
  EXPECT_FALSE(AnatomyPlan(counts, 14));
}

TEST(BucketPlan, Anatomy) {
  // 7 rows, l = 3: two buckets, one of 3 and one of 4.
  const Counts counts{2, 2, 2, 1};
  const std::optional<BucketPlan> plan = AnatomyPlan(counts, 3);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->setting, (BucketSetting{{3, 1}, {4, 1}}));
  const RoundRobin dealer(*plan, InOrder(counts.size()));
  std::vector<std::vector<int>> held(2, std::vector<int>(4));
  for (std::size_t value = 0; value < counts.size(); ++value) {
    ASSERT_EQ(dealer.records(value), counts[value]);
    for (std::int64_t record = 0; record < counts[value]; ++record)
      ++held[static_cast<std::size_t>(dealer.BucketOf(value, record))][value];
  }
  for (const auto& bucket : held)
    for (const int records : bucket) EXPECT_LE(records, 1);
  EXPECT_FALSE(AnatomyPlan({3, 2, 1}, 3));  // half of the rows
}

TEST(BucketPlan, RefusesSizesThatTheProblemDoesNotHave) {
  const BucketProblem problem({2, 2}, Thresholds({"1/2", "1/2"}), {2, 4});
  EXPECT_EQ(ErrorOf([&] { PlanOf(problem, {{3, 1}}); }), "22023 buckets of 3 records are not among the sizes");
  EXPECT_FALSE(PlanOf(problem, {{2, 1}}));  // not all records
  EXPECT_TRUE(PlanOf(problem, {{2, 2}}));
}

}  // namespace
}  // namespace privacy_score
