/*
 * class_histogram_test.cpp - class sizes as they are counted, against a map.
 */
#include "core/entropy/class_histogram.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace privacy_score {
namespace {

void ExpectSizes(const ClassHistogram& classes, const std::map<std::int64_t, std::int64_t>& expected) {
  const ClassSizes sizes = classes.Sizes();
  ASSERT_EQ(sizes.size(), expected.size());
  auto entry = expected.begin();
  for (const SizeCount& counted : sizes) {
    EXPECT_EQ(counted.size, entry->first);
    EXPECT_EQ(counted.count, entry->second);
    ++entry;
  }
}

TEST(ClassHistogram, CountsSmallAndLargeSizes) {
  std::mt19937_64 random(1);
  for (const std::size_t counters : {1U, 8U, 1000U}) {
    ClassHistogram classes(counters);
    ClassHistogram others(4);
    std::map<std::int64_t, std::int64_t> expected;
    EXPECT_TRUE(classes.empty());
    for (int i = 0; i < 5000; ++i) {
      const std::int64_t size = 1 + static_cast<std::int64_t>(random() >> (1 + random() % 63));
      const std::int64_t count = 1 + static_cast<std::int64_t>(random() % 3);
      (random() % 4 == 0 ? others : classes).Add(size, count);
      expected[size] += count;
    }
    classes.Add(others);
    EXPECT_FALSE(classes.empty());
    ExpectSizes(classes, expected);
  }
}

TEST(ClassHistogram, IsNotEmptyWithOneSizeOfEitherKind) {
  for (const std::int64_t size : {1, 7, 8, 1000}) {
    ClassHistogram classes(8);
    classes.Add(size);
    EXPECT_FALSE(classes.empty());
    ExpectSizes(classes, {{size, 1}});
  }
}

TEST(ClassHistogram, IgnoresWhatIsCountedForSizeZero) {
  ClassHistogram classes(8);
  classes.counters()[0] = 5;
  EXPECT_TRUE(classes.empty());
  classes.counters()[3] = 2;
  ExpectSizes(classes, {{3, 2}});
}

}  // namespace
}  // namespace privacy_score
