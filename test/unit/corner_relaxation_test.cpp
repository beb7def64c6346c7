/*
 * corner_relaxation_test.cpp - all settings near a vertex are listed, in order of their loss.
 */
#include "core/buckets/corner_relaxation.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "bucket_program_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::kSanitizerDivisor;
using testing_support::Numbers;
using testing_support::ProgramExample;

TEST(CornerRelaxation, ListsAllSettingsNearAVertexByLoss) {
  std::mt19937_64 random(8);
  const std::function<bool()> never = [] { return false; };
  int listed = 0;
  for (int round = 0; round < 1500 / kSanitizerDivisor; ++round) {
    ProgramExample example(random);
    const std::size_t places = example.program.costs.size();
    if (example.program.total == 0) continue;
    DualSimplex simplex(example.program, example.cuts);
    if (!example.Solve(simplex, Numbers(places), Numbers(places, DualSimplex::kNoBound))) continue;
    simplex.DropLooseCuts();
    simplex.Recentre();
    const std::int64_t limit = example.bound + 40;
    CornerRelaxation corner(example.program, example.cuts, simplex, limit, 1 << 16, never);
    if (!corner.usable()) continue;
    std::set<Numbers> seen;
    Numbers buckets;
    std::int64_t loss = 0;
    std::int64_t before = 0;
    bool more = true;
    while (seen.size() < 300 && (more = corner.Next(buckets, loss))) {
      std::int64_t rows = 0;
      std::int64_t cost = 0;
      for (std::size_t k = 0; k < places; ++k) {
        rows += buckets[k] * example.program.weights[k];
        cost += buckets[k] * example.program.costs[k];
      }
      ASSERT_EQ(rows, example.program.total) << round;
      ASSERT_EQ(cost, loss) << round;
      ASSERT_GE(loss, before) << round;
      ASSERT_LT(loss, limit) << round;
      ASSERT_TRUE(seen.insert(buckets).second) << round;
      before = loss;
    }
    const std::int64_t complete_below = more ? before : corner.Bound();
    for (const auto& [valid_loss, valid] : example.valid) {
      if (valid_loss >= complete_below) break;
      ASSERT_EQ(seen.count(valid), 1U) << round;
      ++listed;
    }
  }
  EXPECT_GT(listed, 100 / kSanitizerDivisor);
}

TEST(CornerRelaxation, GivesUpWhenToldTo) {
  std::mt19937_64 random(9);
  const std::function<bool()> at_once = [] { return true; };
  for (int round = 0; round < 100; ++round) {
    ProgramExample example(random);
    const std::size_t places = example.program.costs.size();
    if (example.program.total == 0) continue;
    DualSimplex simplex(example.program, example.cuts);
    if (!example.Solve(simplex, Numbers(places), Numbers(places, DualSimplex::kNoBound))) continue;
    CornerRelaxation corner(example.program, example.cuts, simplex, example.bound + 9, 1 << 16, at_once);
    Numbers buckets;
    std::int64_t loss = 0;
    // Without directions there is nothing to do, and the vertex itself is listed.
    if (!corner.usable() || !corner.Next(buckets, loss)) continue;
    EXPECT_FALSE(corner.Next(buckets, loss));
  }
}

}  // namespace
}  // namespace privacy_score
