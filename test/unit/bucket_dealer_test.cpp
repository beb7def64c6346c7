/*
 * bucket_dealer_test.cpp - every place is dealt once, buckets hold what the plan says, and chance decides who goes
 * where.
 */
#include "core/bucket_dealer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

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
    std::multiset<std::int64_t> left;
    for (std::int64_t n = 0; n < dealer.Left(value); ++n) left.insert(dealer.Peek(value, n));
    while (dealer.Left(value) > 0) {
      const std::int64_t bucket = dealer.Deal(value);
      const auto found = left.find(bucket);
      ASSERT_NE(found, left.end());
      left.erase(found);
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
