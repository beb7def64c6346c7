/*
 * flat_map_test.cpp - the map against the standard library's.
 */
#include "core/base/flat_map.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace privacy_score {
namespace {

TEST(FlatMap, EmptyHasNothing) {
  FlatMap<int> map;
  EXPECT_EQ(map.Find(0), nullptr);
  EXPECT_EQ(map.Find(7), nullptr);
  EXPECT_EQ(map.size(), 0U);
}

TEST(FlatMap, ZeroIsAKey) {
  FlatMap<int> map;
  EXPECT_EQ(map.SlotOf(0).key, 0U);
  *map.Insert(map.SlotOf(0), 0, 5) += 1;
  ASSERT_NE(map.Find(0), nullptr);
  EXPECT_EQ(*map.Find(0), 6);
  EXPECT_EQ(map.size(), 1U);
  EXPECT_EQ(map.Find(1), nullptr);
}

// Keys that fall together, that follow one another, and that are spread.
TEST(FlatMap, EqualsAnOrdinaryMap) {
  for (const std::uint64_t step : {std::uint64_t{1}, std::uint64_t{1} << 32U, std::uint64_t{0x9e3779b97f4a7c15U}}) {
    FlatMap<std::uint32_t> map;
    std::unordered_map<std::uint64_t, std::uint32_t> expected;
    std::mt19937 random(11);
    for (std::uint32_t i = 0; i < 20000; ++i) {
      const std::uint64_t key = random() % 5000 * step;
      if (std::uint32_t* place = map.Find(key)) {
        EXPECT_EQ(*place, expected.at(key));
        *place = expected[key] = i;
      } else {
        EXPECT_EQ(expected.count(key), 0U);
        map.Insert(key, i);
        expected[key] = i;
      }
    }
    EXPECT_EQ(map.size(), expected.size());
    for (const auto& [key, value] : expected) EXPECT_EQ(*map.Find(key), value);
    EXPECT_EQ(map.Find(5001 * step), nullptr);
    FlatMap<std::uint32_t> copy;
    copy.Reserve(map.size());
    map.ForEach([&](std::uint64_t key, std::uint32_t value) { copy.Insert(key, value); });
    EXPECT_EQ(copy.size(), expected.size());
    for (const auto& [key, value] : expected) EXPECT_EQ(*copy.Find(key), value);
  }
}

TEST(FlatSet, HasWhatWasInserted) {
  FlatSet set;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    EXPECT_EQ(set.Find(key * key), nullptr) << key;
    set.Insert(key * key, {});
  }
  EXPECT_EQ(set.size(), 1000U);
  for (std::uint64_t key = 0; key < 1000; ++key) EXPECT_NE(set.Find(key * key), nullptr);
  EXPECT_EQ(set.Find(2), nullptr);
  static_assert(sizeof(FlatSlot<NoValue>) == sizeof(std::uint64_t), "a set holds keys only");
}

}  // namespace
}  // namespace privacy_score
