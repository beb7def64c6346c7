/*
 * bucket_contents_test.cpp - what is shown of a bucket is what it has, counted or not, in an order that tells nothing.
 */
#include "core/buckets/bucket_contents.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "random_fixture.hpp"

using namespace privacy_score;
using namespace testing_support;

namespace {

// How often each value is there.
using Times = std::map<std::uint32_t, std::uint32_t>;

Times Total(const std::vector<ShownValue>& shown) {
  Times times;
  for (const auto& [value, count] : shown) times[value] += count;
  return times;
}

TEST(BucketContents, ShowsWhatIsThere) {
  SeededRandom random(8);
  BucketContents contents;
  for (int bucket = 0; bucket < 500; ++bucket) {
    contents.Begin();
    Times times;
    const std::uint64_t records = random.Below(20);
    for (std::uint64_t i = 0; i < records; ++i) {
      const auto value = static_cast<std::uint32_t>(random.Below(6));
      contents.Add(value);
      ++times[value];
    }
    EXPECT_EQ(contents.values().size(), records);
    EXPECT_EQ(contents.Show({}, false, random).size(), records);
    EXPECT_EQ(Total(contents.Show({}, false, random)), times);
    EXPECT_EQ(contents.Show({}, true, random).size(), times.size());
    EXPECT_EQ(Total(contents.Show({}, true, random)), times);
    times[7] = times[9] = 1;
    EXPECT_EQ(Total(contents.Show({7, 9}, bucket % 2 == 0, random)), times);
  }
}

// One bucket of three values and a fake: each of the 24 orders comes equally often. Chi-square with 23 degrees of
// freedom; the limit has a false-alarm rate of 1e-6, and the seed is fixed.
TEST(BucketContents, EveryOrderIsShownAlike) {
  SeededRandom random(10);
  BucketContents contents;
  for (const std::uint32_t value : {2U, 0U, 1U}) contents.Add(value);
  std::map<std::array<std::uint32_t, 4>, int> orders;
  constexpr int kDraws = 24000;
  for (int i = 0; i < kDraws; ++i) {
    const auto& shown = contents.Show({7}, i % 2 == 0, random);
    ASSERT_EQ(shown.size(), 4U);
    ++orders[{shown[0].value, shown[1].value, shown[2].value, shown[3].value}];
  }
  ASSERT_EQ(orders.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, times] : orders) chi_square += std::pow(times - kDraws / 24.0, 2) / (kDraws / 24.0);
  EXPECT_LT(chi_square, 73.0);
}

}  // namespace
