/*
 * finite_group_test.cpp - the group of random vectors against all their combinations.
 */
#include "core/buckets/finite_group.hpp"

#include "sanitizers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace privacy_score {
namespace {

using Vector = std::vector<std::int64_t>;

// Every element that the vectors generate, reached from 0 by subtracting one after the other, has one number, and
// there are no other numbers.
TEST(FiniteGroup, NumbersAllCombinations) {
  std::mt19937_64 random(3);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < testing_support::Instances(500); ++round) {
    const std::int64_t modulus = draw(1, 24);
    const auto coordinates = static_cast<std::size_t>(draw(0, 3));
    std::vector<Vector> columns(static_cast<std::size_t>(draw(1, 4)), Vector(coordinates));
    for (Vector& column : columns)
      for (std::int64_t& entry : column) entry = draw(0, static_cast<int>(modulus) - 1) * (draw(0, 1) + 1) % modulus;
    const FiniteGroup group(modulus, columns);

    std::map<Vector, std::size_t> number_of{{Vector(coordinates), 0}};
    std::set<std::size_t> numbers{0};
    std::vector<Vector> reached{Vector(coordinates)};
    for (std::size_t n = 0; n < reached.size(); ++n) {
      for (std::size_t j = 0; j < columns.size(); ++j) {
        Vector next = reached[n];
        for (std::size_t i = 0; i < coordinates; ++i) next[i] = (next[i] - columns[j][i] + modulus) % modulus;
        const std::size_t number = group.Difference(number_of.at(reached[n]), group.Column(j));
        const auto [place, fresh] = number_of.emplace(next, number);
        ASSERT_EQ(place->second, number) << round;
        if (!fresh) continue;
        ASSERT_TRUE(numbers.insert(number).second) << round;
        reached.push_back(next);
      }
    }
    ASSERT_EQ(group.order(), reached.size()) << round;
    ASSERT_LT(*numbers.rbegin(), group.order());

    std::vector<std::uint32_t> cycle;
    group.Cycle(group.Column(0), group.Column(columns.size() - 1), cycle);
    std::size_t element = group.Column(0);
    for (const std::uint32_t each : cycle) {
      ASSERT_EQ(each, element);
      element = group.Difference(element, group.Column(columns.size() - 1));
    }
    ASSERT_EQ(element, group.Column(0));
  }
}

TEST(FiniteGroup, SaysThatItIsTooLarge) {
  std::vector<Vector> columns;
  for (std::size_t j = 0; j < 5; ++j) {
    columns.emplace_back(5);
    columns.back()[j] = 1;
  }
  EXPECT_EQ(FiniteGroup(4096, columns).order(), std::numeric_limits<std::uint64_t>::max());
  columns.resize(2);
  EXPECT_EQ(FiniteGroup(4096, columns).order(), 4096U * 4096U);
}

}  // namespace
}  // namespace privacy_score
