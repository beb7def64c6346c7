/*
 * window_cuts_test.cpp - the best cut against all cuts, forwards and backwards.
 */
#include "core/loss/window_cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace privacy_score {
namespace {

TEST(WindowCuts, AgreeWithAllCuts) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 300; ++round) {
    const auto n = static_cast<std::size_t>(1 + random() % 9);
    std::vector<std::int64_t> values;
    std::vector<double> p;
    double total = 0;
    std::int64_t value = 0;
    for (std::size_t i = 0; i < n; ++i) {
      values.push_back(value);
      value += 1 + static_cast<std::int64_t>(random() % 6);
      p.push_back(static_cast<double>(1 + random() % 50));
      total += p.back();
    }
    for (double& share : p) share /= total;
    const auto most = static_cast<std::int64_t>(random() % 20);
    // Bit i of a cut: there is a boundary behind value i. Costs of the whole, and of all but the first or the last
    // value.
    double best = 1e300;
    for (std::uint64_t cut = 0; cut < std::uint64_t{1} << (n - 1); ++cut) {
      double cost = 0;
      std::size_t first = 0;
      double sum = 0;
      bool narrow = true;
      for (std::size_t i = 0; i < n; ++i) {
        sum += p[i];
        narrow = narrow && values[i] - values[first] <= most;
        if (i + 1 == n || (cut >> i & 1U) != 0) {
          cost += WindowCost(sum);
          sum = 0;
          first = i + 1;
        }
      }
      if (narrow) best = std::min(best, cost);
    }
    const Boundaries all = AllBoundaries(values, p);
    WorkControl control;
    PauseCounter pause(control);
    const CutResult got = BestCut(all, most, &pause);
    EXPECT_NEAR(got.costs.back(), best, 1e-12) << round;
    EXPECT_LE(got.spread, most);
    EXPECT_NEAR(CostsBehind(all, most, &pause).front(), best, 1e-12) << round;
    EXPECT_TRUE(std::is_sorted(got.costs.begin(), got.costs.end()));
    // Nothing changes as long as the boundaries of a best cut are there.
    EXPECT_NEAR(BestCut(all, got.spread, &pause).costs.back(), best, 1e-12) << round;
  }
}

}  // namespace
}  // namespace privacy_score
