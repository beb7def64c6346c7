/*
 * hall_cuts_test.cpp - cuts that are found against the condition for all sets of values.
 */
#include "core/buckets/hall_cuts.hpp"

#include <gtest/gtest.h>

#include "bucket_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ForEachSetting;
using testing_support::HallHolds;
using testing_support::kSanitizerDivisor;
using testing_support::RandomProblem;

std::vector<std::int64_t> BucketsOf(const BucketProblem& problem, const BucketSetting& setting) {
  std::vector<std::int64_t> buckets(problem.sizes().size());
  for (const auto& [size, number] : setting) buckets[problem.PlaceOf(size)] = number;
  return buckets;
}

// A setting is valid iff no cut is found, and what is found is broken by it and by no valid one.
TEST(HallCuts, AreFoundIffASettingIsNotValid) {
  std::mt19937_64 random(4);
  int broken_settings = 0;
  for (int round = 0; round < 400 / kSanitizerDivisor; ++round) {
    const BucketProblem problem = RandomProblem(random, 14, 6, 6);
    const std::vector<double> no_rest(problem.sizes().size());
    const HallCuts hall(problem);
    std::vector<std::vector<std::int64_t>> valid;
    std::vector<BucketCut> found{hall.UsableSizes()};
    ForEachSetting(problem, 9, [&](const BucketSetting& setting) {
      const std::vector<std::int64_t> buckets = BucketsOf(problem, setting);
      const bool holds = HallHolds(problem, setting);
      BucketCut first;
      ASSERT_EQ(hall.FirstBroken(buckets, first), !holds);
      const std::vector<BucketCut> cuts = hall.Broken(buckets, no_rest, 1e-6);
      ASSERT_EQ(cuts.empty(), holds);
      if (holds) {
        valid.push_back(buckets);
        return;
      }
      ++broken_settings;
      ASSERT_LT(SlackOf(first, buckets, no_rest), 0);
      for (const BucketCut& cut : cuts) ASSERT_LT(SlackOf(cut, buckets, no_rest), 0);
      found.push_back(first);
      found.insert(found.end(), cuts.begin(), cuts.end());
    });
    for (const std::vector<std::int64_t>& buckets : valid)
      for (const BucketCut& cut : found) ASSERT_GE(SlackOf(cut, buckets, no_rest), 0);
  }
  EXPECT_GT(broken_settings, 100 / kSanitizerDivisor);
}

TEST(HallCuts, CountsWholeNumbersExactly) {
  const BucketCut cut{{1, 1}, 9'007'199'254'740'993};
  EXPECT_EQ(SlackOf(cut, {9'007'199'254'740'992, 0}, {0.0, 0.0}), 1);
  EXPECT_EQ(SlackOf(cut, {9'007'199'254'740'992, 1}, {0.0, 0.25}), -0.25);
}

}  // namespace
}  // namespace privacy_score
