/*
 * bucket_thresholds_test.cpp - thresholds made, checked, and what cannot be had with them.
 */
#include "core/buckets/bucket_thresholds.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "bucket_fixture.hpp"
#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::Thresholds;

TEST(BucketThresholds, TotalRows) {
  EXPECT_EQ(TotalRows({}), 0);
  EXPECT_EQ(TotalRows({3, 0, 4}), 7);
  EXPECT_EQ(ErrorOf([] { TotalRows({1, -1}); }).substr(0, 5), "22023");
  EXPECT_EQ(ErrorOf([] { TotalRows({kMaxBucketRows, 1}); }).substr(0, 5), "22003");
}

TEST(BucketThresholds, Range) {
  CheckThreshold("threshold", Rational(1));
  CheckThreshold("threshold", Rational(1, 1000000));
  for (const Rational& bad : {Rational(0), Rational(-1, 2), Rational(11, 10)})
    EXPECT_EQ(ErrorOf([&] { CheckThreshold("theta of x", bad); }).substr(0, 16), "22023 theta of x") << TextOf(bad);
}

TEST(BucketThresholds, FromFrequencies) {
  // f = 1/10, 3/10, 6/10; two times the frequency and 1/50, at most 1.
  const std::vector<Rational> thresholds = FrequencyThresholds({1, 3, 6}, Rational(2), Rational(1, 50));
  ASSERT_EQ(thresholds.size(), 3U);
  EXPECT_EQ(TextOf(thresholds[0]), "11/50");
  EXPECT_EQ(TextOf(thresholds[1]), "31/50");
  EXPECT_EQ(TextOf(thresholds[2]), "1");
  EXPECT_EQ(ErrorOf([] { FrequencyThresholds({1}, Rational(-1), Rational(1, 2)); }).substr(0, 5), "22023");
  EXPECT_EQ(ErrorOf([] { FrequencyThresholds({1}, Rational(0), Rational(0)); }).substr(0, 5), "22023");
  EXPECT_EQ(ErrorOf([] { FrequencyThresholds({0, 1}, Rational(2), Rational(0)); }).substr(0, 5), "22023");
  EXPECT_EQ(TextOf(DiversityThreshold(3)), "1/3");
  EXPECT_EQ(ErrorOf([] { DiversityThreshold(0); }).substr(0, 5), "22023");
}

TEST(BucketThresholds, SmallestBucket) {
  EXPECT_EQ(SmallestBucket(Thresholds({"1/3", "0.333"})), 3);
  EXPECT_EQ(SmallestBucket(Thresholds({"0.333"})), 4);
  EXPECT_EQ(SmallestBucket(Thresholds({"0.29", "0.02", "1"})), 1);
  EXPECT_EQ(ErrorOf([] { SmallestBucket({}); }).substr(0, 5), "22023");
  EXPECT_EQ(ErrorOf([] { SmallestBucket(Thresholds({"1e-12"})); }).substr(0, 5), "22003");
}

// [Wang, remark 3.8 and section 7.1] the l that promises as much to a value of 0.18 %.
TEST(BucketThresholds, NeededDiversityOfThePaper) {
  const std::vector<std::int64_t> counts{18, 750, 9232};
  for (const auto& [theta, l] : std::vector<std::pair<int, int>>{{16, 21}, {32, 13}})
    EXPECT_EQ(SmallestBucket({FrequencyThresholds(counts, theta, Rational(1, 50)).front()}), l);
}

TEST(BucketThresholds, ValuesThatBreakThem) {
  // 5 of 10 rows with 1/3: at least 1/2 would do. 0.34 with sizes 2..3 means 1/3 of 3, below a share of 4/10.
  const auto broken = BrokenThresholds({5, 1, 4}, Thresholds({"1/3", "1/2", "0.34"}), 2, 3);
  ASSERT_EQ(broken.size(), 2U);
  EXPECT_EQ(broken[0].value, 0U);
  EXPECT_EQ(TextOf(broken[0].share), "1/2");
  EXPECT_EQ(TextOf(broken[0].threshold), "1/3");
  EXPECT_EQ(TextOf(broken[0].least_threshold), "1/2");
  EXPECT_EQ(broken[1].value, 2U);
  EXPECT_EQ(TextOf(broken[1].least_threshold), "1/2");
  EXPECT_TRUE(BrokenThresholds({1, 1}, Thresholds({"1/2", "1/2"}), 2, 50).empty());
  // A value that does not occur breaks nothing.
  EXPECT_TRUE(BrokenThresholds({2, 0}, Thresholds({"1", "1/100"}), 1, 1).empty());
}

TEST(BucketThresholds, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(ErrorOf([] {
              BrokenThresholds({1, 2}, Thresholds({"1/2"}), 1, 2);
            }),
            "22023 there must be one threshold for each of the 2 counts, not 1");
  for (const auto& [least, most] : std::vector<std::pair<int, int>>{{0, 2}, {3, 2}})
    EXPECT_EQ(ErrorOf([&, low = least, high = most] { BrokenThresholds({1}, Thresholds({"1/2"}), low, high); }),
              "22023 bucket sizes must go from at least 1 upward, not from " + std::to_string(least) + " to " +
                  std::to_string(most));
}

}  // namespace
}  // namespace privacy_score
