/*
 * cube_plan_test.cpp - the steps of plans, carried out by hand on small tables, and when there is no plan.
 */
#include "core/entropy/cube_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace privacy_score {
namespace {

// Columns one after the other from the top of a word, with the given numbers of codes.
std::vector<PackedColumn> ColumnsOf(const std::vector<std::uint64_t>& domains) {
  std::vector<PackedColumn> columns;
  unsigned top = 64;
  for (const std::uint64_t domain : domains) {
    top -= BitsOf(domain);
    columns.push_back({domain, BitsOf(domain), top});
  }
  return columns;
}

struct Wanted {
  std::vector<ClassHistogram> classes;
  std::vector<CubeSet> sets;

  explicit Wanted(const std::vector<std::vector<std::uint32_t>>& columns) : classes(columns.size(), ClassHistogram(8)) {
    for (const auto& set : columns) sets.push_back({set, &classes[sets.size()]});
  }
};

std::vector<std::vector<std::uint32_t>> NonEmptySubsets(std::uint32_t columns) {
  std::vector<std::vector<std::uint32_t>> sets;
  for (std::uint32_t mask = 1; mask < 1U << columns; ++mask) {
    sets.emplace_back();
    for (std::uint32_t column = 0; column < columns; ++column)
      if ((mask >> column & 1U) != 0) sets.back().push_back(column);
  }
  return sets;
}

// Every set has one step of its own; arrays on the way to others lie apart; touched sets lie below coarser ones.
void ExpectSound(const CubePlan& plan, const Wanted& wanted, const CubeLimits& limits) {
  std::map<const ClassHistogram*, int> steps;
  std::vector<std::pair<std::size_t, std::size_t>> path;  // arrays from a root to the current one
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const CubeStep& step = plan.steps[i];
    if (step.classes != nullptr) ++steps[step.classes];
    if (step.kind == CubeStep::Kind::kTouch) {
      EXPECT_LE(step.cells, plan.touch_cells);
      EXPECT_LE(step.cells, limits.cache_cells);
      EXPECT_LT(step.level, plan.levels);
      EXPECT_GT(step.next, i);
      EXPECT_LE(step.next, plan.steps.size());
      EXPECT_EQ(step.leaf, step.next == i + 1);
      for (std::size_t below = i + 1; below < step.next; ++below) EXPECT_GT(plan.steps[below].level, step.level);
      continue;
    }
    EXPECT_LE(step.out + step.cells, plan.arena_cells);
    EXPECT_LE(step.cells, std::max(limits.cache_cells, limits.max_cells));
    if (step.kind == CubeStep::Kind::kCount) {
      path.clear();
    } else {
      while (!path.empty() && path.back().first != step.in) path.pop_back();
      ASSERT_FALSE(path.empty());
      EXPECT_EQ(path.back().second, std::size_t{step.cells} * step.domain);
      EXPECT_EQ(step.cells % step.inner, 0U);
    }
    if (!path.empty()) {
      EXPECT_GE(step.out, path.back().first + path.back().second);
    }
    path.emplace_back(step.out, step.cells);
  }
  for (const CubeSet& set : wanted.sets) EXPECT_EQ(steps[set.classes], 1);
  EXPECT_EQ(steps.size(), wanted.sets.size());
}

TEST(CubePlan, EverySetOnceForAnyNumberOfTuples) {
  const std::vector<PackedColumn> columns = ColumnsOf({50, 14, 10, 9, 6, 2});
  const CubeLimits limits = {std::size_t{1} << 20, std::size_t{1} << 24};
  for (std::size_t tuples = 2; tuples < 10000000; tuples *= 3) {
    const Wanted wanted(NonEmptySubsets(6));
    const auto plan = MakeCubePlan(columns, wanted.sets, limits, tuples);
    ASSERT_NE(plan, nullptr);
    ExpectSound(*plan, wanted, limits);
  }
}

TEST(CubePlan, RandomSets) {
  std::mt19937_64 random(1);
  int planned = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> domains(1 + random() % 8);
    for (auto& domain : domains) domain = 2 + random() % (std::uint64_t{1} << random() % 8);
    std::sort(domains.rbegin(), domains.rend());
    std::set<std::vector<std::uint32_t>> sets;
    for (std::uint64_t i = 1 + random() % 30; i > 0; --i) {
      std::vector<std::uint32_t> set;
      for (std::uint32_t column = 0; column < domains.size(); ++column)
        if (random() % 2 == 0) set.push_back(column);
      if (!set.empty()) sets.insert(set);
    }
    const Wanted wanted({sets.begin(), sets.end()});
    const CubeLimits limits = {std::size_t{1} << random() % 21, std::size_t{1} << random() % 25};
    const auto plan = MakeCubePlan(ColumnsOf(domains), wanted.sets, limits, 1 + random() % (1U << random() % 24));
    if (plan == nullptr) continue;
    ++planned;
    ExpectSound(*plan, wanted, limits);
  }
  EXPECT_GT(planned, 100);
}

TEST(CubePlan, AllSubsetsOfASmallCubeNeedOnePassOverTheTuples) {
  const Wanted wanted(NonEmptySubsets(6));
  const auto plan = MakeCubePlan(ColumnsOf({50, 14, 10, 9, 6, 2}), wanted.sets, {1 << 20, 1 << 24}, 5000000);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->steps[0].kind, CubeStep::Kind::kCount);
  for (std::size_t i = 1; i < plan->steps.size(); ++i) EXPECT_EQ(plan->steps[i].kind, CubeStep::Kind::kRollUp);
}

TEST(CubePlan, SingleColumnsShareArrays) {
  const Wanted wanted({{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}});
  const auto plan = MakeCubePlan(ColumnsOf({83, 76, 50, 14, 10, 9, 6, 2}), wanted.sets, {1 << 20, 1 << 24}, 10000000);
  ASSERT_NE(plan, nullptr);
  int passes = 0;
  for (const CubeStep& step : plan->steps) passes += step.kind == CubeStep::Kind::kCount;
  EXPECT_LE(passes, 2);
}

TEST(CubePlan, NoPlanWithoutSetsOrForTooManyCells) {
  const CubeLimits limits = {1 << 10, 1 << 12};
  EXPECT_EQ(MakeCubePlan(ColumnsOf({10, 5}), {}, limits, 100), nullptr);
  const Wanted wanted({{0, 1}});
  EXPECT_NE(MakeCubePlan(ColumnsOf({60, 60}), wanted.sets, limits, 100000), nullptr);
  EXPECT_EQ(MakeCubePlan(ColumnsOf({60, 60}), wanted.sets, limits, 1000), nullptr);
  EXPECT_EQ(MakeCubePlan(ColumnsOf({70, 70}), wanted.sets, limits, 100000), nullptr);
  EXPECT_EQ(MakeCubePlan(ColumnsOf({std::uint64_t{1} << 32, 1 << 20}), wanted.sets, limits, 100000), nullptr);
  std::vector<std::uint32_t> many(65);
  for (std::uint32_t column = 0; column < many.size(); ++column) many[column] = column;
  std::vector<std::vector<std::uint32_t>> single;
  for (const std::uint32_t column : many) single.push_back({column});
  const Wanted too_many(single);
  EXPECT_EQ(MakeCubePlan(std::vector<PackedColumn>(65, {2, 1, 0}), too_many.sets, limits, 100), nullptr);
}

}  // namespace
}  // namespace privacy_score
