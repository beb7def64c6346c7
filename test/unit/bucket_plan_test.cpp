/*
 * bucket_plan_test.cpp - plans hold, order of the methods, gaps, Anatomy, and dealing out by round robin.
 */
#include "core/bucket_plan.hpp"

#include <gtest/gtest.h>

#include "bucket_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Counts;
using testing_support::Fault;
using testing_support::kSanitizerDivisor;
using testing_support::RandomProblem;
using testing_support::Thresholds;

// Every bucket gets its size, and of no value more than fits.
void ExpectDealtOut(const BucketProblem& problem, const BucketPlan& plan) {
  const RoundRobin dealer(plan);
  std::vector<std::vector<std::int64_t>> held(static_cast<std::size_t>(dealer.buckets()),
                                              std::vector<std::int64_t>(problem.values()));
  for (std::size_t value = 0; value < problem.values(); ++value) {
    ASSERT_EQ(dealer.records(value), problem.count(value));
    for (std::int64_t record = 0; record < dealer.records(value); ++record)
      ++held[static_cast<std::size_t>(dealer.BucketOf(value, record))][value];
  }
  for (std::size_t bucket = 0; bucket < held.size(); ++bucket) {
    const int size = dealer.SizeOf(static_cast<std::int64_t>(bucket));
    std::int64_t filled = 0;
    for (std::size_t value = 0; value < problem.values(); ++value) {
      ASSERT_LE(held[bucket][value], problem.Capacity(value, problem.PlaceOf(size)));
      filled += held[bucket][value];
    }
    ASSERT_EQ(filled, size);
  }
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

TEST(BucketPlan, Anatomy) {
  // 7 rows, l = 3: two buckets, one of 3 and one of 4.
  const Counts counts{2, 2, 2, 1};
  const std::optional<BucketPlan> plan = AnatomyPlan(counts, 3);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->setting, (BucketSetting{{3, 1}, {4, 1}}));
  const RoundRobin dealer(*plan);
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

}  // namespace
}  // namespace privacy_score
