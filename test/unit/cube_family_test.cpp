/*
 * cube_family_test.cpp - how sets part by their first columns, and what is counted once for many of them.
 */
#include "core/entropy/cube_family.hpp"

#include <gtest/gtest.h>

namespace privacy_score {
namespace {

using Columns = std::vector<std::uint32_t>;

struct Cube {
  std::vector<ClassHistogram> classes;
  std::unique_ptr<CubeSets> sets;

  Cube(std::size_t columns, const std::vector<Columns>& wanted, const CubeLimits& limits)
      : classes(wanted.size(), ClassHistogram(8)) {
    std::vector<CubeSet> cube_sets;
    for (const Columns& set : wanted) cube_sets.push_back({set, &classes[cube_sets.size()]});
    std::vector<PackedColumn> packed;
    for (unsigned i = 0; i < columns; ++i) packed.push_back({16, 4, 60 - 4 * i});
    sets = std::make_unique<CubeSets>(std::move(packed), std::move(cube_sets), limits);
  }
};

std::vector<Columns> RemainingOf(const CubeFamily& family) {
  std::vector<Columns> remaining;
  for (const CubeSet& set : family.Remaining()) remaining.push_back(set.columns);
  return remaining;
}

TEST(CubeFamily, PartsByTheFirstColumn) {
  Cube cube(4, {{}, {1}, {1, 3}, {2}, {3}}, {16, 16});
  CubeFamily& all = cube.sets->all();
  EXPECT_EQ(all.size(), 5U);
  EXPECT_EQ(all.column(), 1U);
  EXPECT_EQ(all.exhausted(), &cube.classes[0]);
  CubeFamily* with = all.With();
  ASSERT_NE(with, nullptr);
  EXPECT_EQ(with, all.With());
  EXPECT_EQ(with->exhausted(), &cube.classes[1]);
  EXPECT_EQ(with->column(), 3U);
  EXPECT_EQ(RemainingOf(*with), (std::vector<Columns>{{3}}));
  EXPECT_EQ(with->Without(), nullptr);
  EXPECT_EQ(with->With()->column(), CubeFamily::kNoColumn);
  EXPECT_EQ(with->With()->exhausted(), &cube.classes[2]);
  CubeFamily* without = all.Without();
  ASSERT_NE(without, nullptr);
  EXPECT_EQ(without->exhausted(), nullptr);
  EXPECT_EQ(RemainingOf(*without), (std::vector<Columns>{{2}, {3}}));
}

TEST(CubeFamily, LoneTuplesCountForEveryMember) {
  Cube cube(3, {{0}, {0, 1}, {0, 2}, {1}}, {16, 16});
  cube.sets->all().With()->lone().Add(3, 2);
  cube.sets->AddLone();
  for (std::size_t set = 0; set < 3; ++set) {
    const ClassSizes sizes = cube.classes[set].Sizes();
    ASSERT_EQ(sizes.size(), 1U);
    EXPECT_EQ(sizes[0].size, 3);
    EXPECT_EQ(sizes[0].count, 2);
  }
  EXPECT_TRUE(cube.classes[3].empty());
}

TEST(CubeFamily, LoneTuplesOfATouchedSetCountForTheStepsBelow) {
  Cube cube(3, {{0, 1}, {0, 1, 2}, {2}}, {4096, 4096});
  const CubePlan* plan = cube.sets->all().PlanFor(20);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan, cube.sets->all().PlanFor(21));
  std::size_t touched = 0;
  for (const CubeStep& step : plan->steps) {
    if (step.kind != CubeStep::Kind::kTouch || step.leaf) continue;
    step.lone = 5;
    ++touched;
  }
  ASSERT_EQ(touched, 1U);
  cube.sets->AddLone();
  for (std::size_t set = 0; set < 2; ++set) {
    const ClassSizes sizes = cube.classes[set].Sizes();
    ASSERT_EQ(sizes.size(), 1U);
    EXPECT_EQ(sizes[0].size, 1);
    EXPECT_EQ(sizes[0].count, 5);
  }
  EXPECT_TRUE(cube.classes[2].empty());
}

TEST(CubeFamily, NoPlanWhenCellsDoNotFit) {
  Cube cube(4, {{0, 1, 2, 3}}, {256, 256});
  EXPECT_EQ(cube.sets->all().PlanFor(1000), nullptr);
  EXPECT_EQ(cube.sets->all().With()->PlanFor(1000), nullptr);
  EXPECT_NE(cube.sets->all().With()->With()->PlanFor(1000), nullptr);
}

}  // namespace
}  // namespace privacy_score
