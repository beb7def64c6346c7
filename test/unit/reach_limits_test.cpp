/*
 * reach_limits_test.cpp - which figures of reach are told.
 */
#include "core/scoring/reach_limits.hpp"

#include <gtest/gtest.h>

namespace privacy_score {
namespace {

TEST(OutOfReach, ExceedsTheFactorAndTen) {
  const GreatestReach greatest = {5, 4, std::nullopt};
  const auto figures = [&](std::int64_t reach, std::int64_t subjects, double factor = 2) {
    std::vector<int> names;
    for (const ReachExcess& excess : OutOfReach({{reach, subjects, 1000}}, greatest, factor))
      names.push_back(excess.figure);
    return names;
  };
  EXPECT_EQ(figures(10, 9), (std::vector<int>{}));  // not more than twice 5; below 10
  EXPECT_EQ(figures(11, 10), (std::vector<int>{0, 1}));
  EXPECT_EQ(figures(11, 10, 3), (std::vector<int>{}));
  EXPECT_EQ(figures(11, 13, 3), (std::vector<int>{1}));
  EXPECT_TRUE(OutOfReach({{1000, 1000, 1000}}, GreatestReach(), 2).empty());
  const auto excess = OutOfReach({{30, 1, 1}}, greatest, 2);
  ASSERT_EQ(excess.size(), 1U);
  EXPECT_EQ(excess[0].limit, 10);
  EXPECT_EQ(LeastOutOfReach(greatest, 2), (ReachLimits{11, 10, kNeverOutOfReach}));
  EXPECT_EQ(LeastOutOfReach(greatest, 2.5), (ReachLimits{13, 11, kNeverOutOfReach}));
  EXPECT_EQ(LeastOutOfReach(greatest, 1e300)[0], kNeverOutOfReach);
  EXPECT_EQ(ReachExcessJson(excess[0], 2),
            R"({"cause": "reach", "figure": "reach", "value": 30, "baseline": 5, "factor": 2})");
}

}  // namespace
}  // namespace privacy_score
