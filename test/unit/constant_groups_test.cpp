/*
 * constant_groups_test.cpp - what an execution compares with what, in words.
 */
#include "core/scoring/constant_groups.hpp"

#include <gtest/gtest.h>

#include "core/base/keyed_hash.hpp"
#include "core/statement/comparisons.hpp"

namespace privacy_score {
namespace {

using Words = std::vector<std::uint64_t>;

std::uint64_t Pair(std::uint64_t a, std::uint64_t b) { return FoldHash(FoldHash(0, a), b); }

TEST(ConstantGroups, EndWhereTheyEnd) {
  // Two groups: (item 0, column 7) with two comparisons, of two values and of none; two columns with one value.
  const Words words = {2, 1, 0, 7, 2, 2, 11, 12, 0, 2, 0, 8, 1, 9, 1, 1, 13};
  EXPECT_EQ(EndOfComparisons(&words[4]), words.data() + 9);
  EXPECT_EQ(ValuesOf(&words[4]), (ComparedValues{{11, 12}, {}}));
  EXPECT_EQ(EndOfGroups(words.data()), words.data() + words.size());
  const Words none = {0};
  EXPECT_EQ(EndOfGroups(none.data()), none.data() + 1);
}

TEST(ConstantGroups, ComparisonsOfEqualNumberAreTakenPairByPair) {
  EXPECT_EQ(CombinedValues({{{1}, {2}}, {{3}, {4}}}), (Words{Pair(1, 3), Pair(2, 4)}));
  EXPECT_EQ(CombinedValues({{{1}, {2}}, {{3}}}), (Words{Pair(1, 3), Pair(2, 3)}));
  EXPECT_EQ(CombinedValues({{{1, 2}}, {{3, 4}}}), (Words{Pair(1, 3), Pair(1, 4), Pair(2, 3), Pair(2, 4)}));
}

TEST(ConstantGroups, OthersEachWithEach) {
  EXPECT_EQ(CombinedValues({{{1}, {2}}, {{3}, {4}, {5}}}),
            (Words{Pair(1, 3), Pair(1, 4), Pair(1, 5), Pair(2, 3), Pair(2, 4), Pair(2, 5)}));
  const Words many(kMostComparedValues / 2, 1);
  EXPECT_EQ(CombinedValues({{many}, {{3, 4, 5}}}).size(), kMostComparedValues);
}

}  // namespace
}  // namespace privacy_score
