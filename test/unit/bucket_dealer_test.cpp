/*
 * bucket_dealer_test.cpp - every place is dealt once, buckets hold what the plan says, and chance decides who goes
 * where.
 */
#include "core/buckets/bucket_dealer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "bucket_fixture.hpp"
#include "random_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Counts;
using testing_support::kSanitizerDivisor;
using testing_support::SeededRandom;
using testing_support::Thresholds;

BucketPlan Plan(const Counts& counts, const std::vector<std::string>& thresholds) {
  return *TwoSizePlan(BucketProblem::WithSizes(counts, Thresholds(thresholds), 0, 50));
}

TEST(BucketDealer, DealsEveryPlaceOnce) {
  const Counts counts{6, 5, 4};
  const BucketPlan plan = Plan(counts, {"1/2", "1/2", "1/2"});
  SeededRandom random(3);
  BucketDealer dealer(plan, random);
  ASSERT_TRUE(dealer.Prepare(nullptr));
  EXPECT_EQ(dealer.rows(), 15);
  std::map<std::int64_t, std::vector<int>> held;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    ASSERT_EQ(dealer.Left(value), counts[value]);
    while (dealer.Left(value) > 0) {
      const std::int64_t bucket = dealer.Deal(value);
      held[bucket].resize(counts.size());
      ++held[bucket][value];
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(held.size()), dealer.buckets());
  EXPECT_EQ(held.begin()->first, 1);
  EXPECT_EQ(held.rbegin()->first, dealer.buckets());
  for (const auto& [bucket, records] : held) {
    int size = 0;
    for (const int some : records) size += some;
    for (const int some : records) EXPECT_LE(2 * some, size) << bucket;
  }
}

// Of two values with half of two rows each, the first record goes into either bucket with probability 1/2: beyond 6
// standard deviations, which a fair dealer exceeds with probability 2e-9.
TEST(BucketDealer, EveryBucketIsAsLikely) {
  const BucketPlan plan = Plan({2, 2}, {"1/2", "1/2"});
  SeededRandom random(11);
  const int rounds = 10000 / kSanitizerDivisor;
  int first = 0;
  for (int round = 0; round < rounds; ++round) {
    BucketDealer dealer(plan, random);
    ASSERT_TRUE(dealer.Prepare(nullptr));
    ASSERT_EQ(dealer.buckets(), 2);
    first += dealer.Deal(0) == 1 ? 1 : 0;
  }
  EXPECT_NEAR(first, rounds / 2.0, 3 * std::sqrt(rounds));
}

// Nine values in three buckets of three: any two of them meet with probability 2/8, whichever they are. Beyond 6
// standard deviations a fair dealer comes with probability 2e-9.
TEST(BucketDealer, OrderOfValuesDoesNotShow) {
  const BucketPlan plan =
      *PlanOf(BucketProblem(Counts(9, 1), Thresholds(std::vector<std::string>(9, "1/3")), {3}), {{3, 3}});
  SeededRandom random(13);
  const int rounds = 8000 / kSanitizerDivisor;
  std::map<std::pair<std::size_t, std::size_t>, int> met;
  for (int round = 0; round < rounds; ++round) {
    BucketDealer dealer(plan, random);
    ASSERT_TRUE(dealer.Prepare(nullptr));
    std::vector<std::int64_t> bucket;
    for (std::size_t value = 0; value < 9; ++value) bucket.push_back(dealer.Deal(value));
    for (std::size_t a = 0; a < 9; ++a)
      for (std::size_t b = a + 1; b < 9; ++b) met[{a, b}] += bucket[a] == bucket[b] ? 1 : 0;
  }
  for (const auto& [pair, times] : met)
    EXPECT_NEAR(times, rounds / 4.0, 6 * std::sqrt(rounds * 3 / 16.0)) << pair.first << " " << pair.second;
}

// Over random plans, each bucket gets as many records as its size, in as many buckets of each size as the plan says,
// and each size as many records of each value.
TEST(BucketDealer, DealsWhatThePlanSays) {
  std::mt19937_64 engine(7);
  SeededRandom random(8);
  int plans = 0;
  for (int i = 0; i < 600 / kSanitizerDivisor; ++i) {
    const auto plan = MultiSizePlan(testing_support::RandomProblem(engine, 60, 6, 9));
    if (!plan) continue;
    ++plans;
    BucketDealer dealer(*plan, random);
    ASSERT_TRUE(dealer.Prepare(nullptr));
    std::map<std::int64_t, std::vector<std::int64_t>> held;  // by bucket: records of each value
    for (std::size_t value = 0; value < dealer.values(); ++value) {
      while (dealer.Left(value) > 0) {
        auto& records = held[dealer.Deal(value)];
        records.resize(dealer.values());
        ++records[value];
      }
    }
    EXPECT_EQ(static_cast<std::int64_t>(held.size()), dealer.buckets());
    std::map<std::int64_t, std::int64_t> buckets;               // by size
    std::map<std::int64_t, std::vector<std::int64_t>> of_size;  // by size: records of each value
    for (const auto& [bucket, records] : held) {
      std::int64_t size = 0;
      for (const std::int64_t some : records) size += some;
      ++buckets[size];
      of_size[size].resize(dealer.values());
      for (std::size_t value = 0; value < records.size(); ++value) of_size[size][value] += records[value];
    }
    ASSERT_EQ(buckets.size(), plan->setting.size());
    for (std::size_t place = 0; place < plan->setting.size(); ++place) {
      const auto [size, number] = plan->setting[place];
      EXPECT_EQ(buckets[size], number);
      for (std::size_t value = 0; value < dealer.values(); ++value)
        EXPECT_EQ(of_size[size][value], plan->Records(value, place));
    }
  }
  EXPECT_GT(plans, 100 / kSanitizerDivisor);
}

// Four records of one value, one in each of four buckets: all 24 orders are dealt alike. Chi-square with 23 degrees of
// freedom; a fair dealer is beyond the limit with probability 1e-6.
TEST(BucketDealer, EveryOrderIsDealtAlike) {
  const BucketPlan plan = *PlanOf(BucketProblem({4, 4}, Thresholds({"1/2", "1/2"}), {2}), {{2, 4}});
  SeededRandom random(17);
  const int rounds = 24000 / kSanitizerDivisor;
  std::map<std::vector<std::int64_t>, int> orders;
  for (int round = 0; round < rounds; ++round) {
    BucketDealer dealer(plan, random);
    ASSERT_TRUE(dealer.Prepare(nullptr));
    std::vector<std::int64_t> order;
    for (int record = 0; record < 4; ++record) order.push_back(dealer.Deal(1));
    ++orders[order];
  }
  ASSERT_EQ(orders.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, times] : orders) chi_square += std::pow(times - rounds / 24.0, 2) / (rounds / 24.0);
  EXPECT_LT(chi_square, 73.0);
}

TEST(BucketDealer, PausesWhereItIsAskedTo) {
  const BucketPlan plan = Plan({40000, 40000}, {"1/2", "1/2"});
  SeededRandom random(5);
  BucketDealer dealer(plan, random);
  int pauses = 0;
  while (!dealer.Prepare([] { return true; })) ASSERT_LT(++pauses, 100000);
  EXPECT_GT(pauses, 0);
  EXPECT_EQ(dealer.Left(0), 40000);
}

}  // namespace
}  // namespace privacy_score
