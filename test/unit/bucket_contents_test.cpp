/*
 * bucket_contents_test.cpp - what the buckets of a plan show, and that dealing fills them with just that.
 */
#include "core/bucket_contents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "bucket_fixture.hpp"
#include "core/bucket_dealer.hpp"
#include "random_fixture.hpp"

using namespace privacy_score;
using namespace testing_support;

namespace {

BucketPlan Plan(const Counts& counts, const std::vector<std::string>& thresholds, int max_size) {
  const auto problem = BucketProblem::WithSizes(counts, Thresholds(thresholds), 0, max_size);
  return TwoSizePlan(problem).value();
}

// By bucket, how often each value is in it.
using Histogram = std::map<std::int64_t, std::map<std::uint32_t, int>>;

TEST(BucketContents, AreWhatIsDealt) {
  std::mt19937_64 engine(7);
  SeededRandom random(8);
  int plans = 0;
  for (int i = 0; i < 600 / kSanitizerDivisor; ++i) {
    const BucketProblem problem = RandomProblem(engine, 60, 6, 9);
    const auto plan = MultiSizePlan(problem);
    if (!plan) continue;
    ++plans;
    BucketDealer dealer(*plan, random);
    ASSERT_TRUE(dealer.Prepare(nullptr));
    BucketContents contents(dealer);
    ASSERT_TRUE(contents.Prepare(nullptr));
    ASSERT_EQ(contents.buckets(), dealer.buckets());
    Histogram dealt, shown, counted;
    for (std::size_t value = 0; value < dealer.values(); ++value)
      while (dealer.Left(value) > 0) ++dealt[dealer.Deal(value)][static_cast<std::uint32_t>(value)];
    std::map<int, std::int64_t> sizes;
    for (std::int64_t bucket = 1; bucket <= contents.buckets(); ++bucket) {
      ++sizes[static_cast<int>(contents.Size(bucket))];
      EXPECT_TRUE(std::is_sorted(contents.Values(bucket), contents.Values(bucket) + contents.Size(bucket)));
      for (const auto& [value, count] : contents.Show(bucket, {}, false, random)) {
        EXPECT_EQ(count, 1U);
        ++shown[bucket][value];
      }
      for (const auto& [value, count] : contents.Show(bucket, {}, true, random)) {
        EXPECT_EQ(counted[bucket].count(value), 0U);
        counted[bucket][value] = static_cast<int>(count);
      }
    }
    EXPECT_EQ(dealt, shown);
    EXPECT_EQ(dealt, counted);
    for (const auto& [size, buckets] : plan->setting) EXPECT_EQ(sizes[size], buckets);
  }
  EXPECT_GT(plans, 100 / kSanitizerDivisor);
}

TEST(BucketContents, PausesAndGoesOn) {
  const BucketPlan plan = Plan({100000, 200000, 300000}, {"1/3", "1/2", "2/3"}, 10);
  SeededRandom random(9);
  BucketDealer dealer(plan, random);
  ASSERT_TRUE(dealer.Prepare(nullptr));
  BucketContents whole(dealer);
  ASSERT_TRUE(whole.Prepare(nullptr));
  BucketContents paused(dealer);
  int pauses = 0;
  while (!paused.Prepare([] { return true; })) ++pauses;
  EXPECT_GT(pauses, 10);
  for (std::int64_t bucket = 1; bucket <= whole.buckets(); ++bucket) {
    ASSERT_EQ(whole.Size(bucket), paused.Size(bucket));
    ASSERT_TRUE(std::equal(whole.Values(bucket), whole.Values(bucket) + whole.Size(bucket), paused.Values(bucket)));
  }
}

TEST(BucketContents, OfNoRecords) {
  BucketPlan plan;
  SeededRandom random(1);
  BucketDealer dealer(plan, random);
  ASSERT_TRUE(dealer.Prepare(nullptr));
  BucketContents contents(dealer);
  EXPECT_TRUE(contents.Prepare(nullptr));
  EXPECT_EQ(contents.buckets(), 0);
}

// One bucket of three values and a fake: each of the 24 orders comes equally often. Chi-square with 23 degrees of
// freedom; the limit has a false-alarm rate of 1e-6, and the seed is fixed.
TEST(BucketContents, EveryOrderIsShownAlike) {
  const BucketPlan plan = Plan({1, 1, 1}, {"1/3", "1/3", "1/3"}, 3);
  SeededRandom random(10);
  BucketDealer dealer(plan, random);
  ASSERT_TRUE(dealer.Prepare(nullptr));
  BucketContents contents(dealer);
  ASSERT_TRUE(contents.Prepare(nullptr));
  std::map<std::array<std::uint32_t, 4>, int> orders;
  constexpr int kDraws = 24000;
  for (int i = 0; i < kDraws; ++i) {
    const auto& shown = contents.Show(1, {7}, i % 2 == 0, random);
    ASSERT_EQ(shown.size(), 4U);
    ++orders[{shown[0].value, shown[1].value, shown[2].value, shown[3].value}];
  }
  ASSERT_EQ(orders.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, times] : orders) chi_square += std::pow(times - kDraws / 24.0, 2) / (kDraws / 24.0);
  EXPECT_LT(chi_square, 73.0);
}

}  // namespace
