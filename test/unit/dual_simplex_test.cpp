/*
 * dual_simplex_test.cpp - solutions of small programs satisfy all conditions, and the bound that their
 * multipliers prove meets their objective, so that they are optimal.
 */
#include "core/buckets/dual_simplex.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bucket_program_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::kSanitizerDivisor;
using testing_support::Numbers;
using testing_support::ProgramExample;

double ObjectiveOf(const DualSimplex& simplex, const BucketProgram& program) {
  double objective = 0;
  for (std::size_t k = 0; k < program.costs.size(); ++k)
    objective += simplex.Value(k) * static_cast<double>(program.costs[k]);
  return objective;
}

TEST(DualSimplex, SolutionsAreOptimalAndBoundsAreProved) {
  std::mt19937_64 random(5);
  int solved = 0;
  int impossible = 0;
  for (int round = 0; round < 1500 / kSanitizerDivisor; ++round) {
    ProgramExample example(random);
    const std::size_t places = example.program.costs.size();
    if (example.program.total == 0) continue;
    DualSimplex simplex(example.program, example.cuts);
    Numbers low(places), high(places, DualSimplex::kNoBound);
    if (round % 2 == 1) {
      for (std::size_t k = 0; k < places; ++k) {
        if (random() % 3 == 0) low[k] = static_cast<std::int64_t>(random() % 2);
        if (random() % 3 == 0) high[k] = low[k] + static_cast<std::int64_t>(random() % 3);
      }
    }
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const auto& [loss, buckets] : example.valid) {
      bool within = true;
      for (std::size_t k = 0; k < places; ++k) within = within && buckets[k] >= low[k] && buckets[k] <= high[k];
      if (within) least = std::min(least, loss);
    }
    if (!example.Solve(simplex, low, high)) {
      ++impossible;
      ASSERT_EQ(least, std::numeric_limits<std::int64_t>::max()) << round;
      continue;
    }
    ++solved;
    double rows = 0;
    const double objective = ObjectiveOf(simplex, example.program);
    Numbers whole(places);
    std::vector<double> rest(places);
    for (std::size_t k = 0; k < places; ++k) {
      rest[k] = simplex.Value(k);
      rows += rest[k] * example.program.weights[k];
      ASSERT_GT(rest[k], static_cast<double>(low[k]) - 1e-6) << round;
      if (high[k] == DualSimplex::kNoBound) continue;
      ASSERT_LT(rest[k], static_cast<double>(high[k]) + 1e-6) << round;
    }
    ASSERT_NEAR(rows, static_cast<double>(example.program.total), 1e-6) << round;
    for (const BucketCut& cut : example.cuts) ASSERT_GT(SlackOf(cut, whole, rest), -1e-5) << round;
    ASSERT_GE(static_cast<double>(example.bound), objective - 1e-5) << round;
    ASSERT_LT(static_cast<double>(example.bound), objective + 1 + 1e-5) << round;
    ASSERT_LE(example.bound, least) << round;
  }
  EXPECT_GT(solved, 300 / kSanitizerDivisor);
  EXPECT_GT(impossible, 100 / kSanitizerDivisor);
}

// Two equal conditions that are both to be met exactly are no basis: it begins anew, with both.
TEST(DualSimplex, BeginsAnewFromASingularBasis) {
  const BucketProgram program = {{1, 4, 16}, {2, 3, 5}, 30};
  const std::vector<BucketCut> cuts(2, BucketCut{{1, 0, 0}, 3});
  DualSimplex simplex(program, cuts);
  ASSERT_EQ(simplex.Solve(), DualSimplex::Result::kOptimal);
  EXPECT_NEAR(ObjectiveOf(simplex, program), 15, 1e-9);
  simplex.Restore(Numbers(3), Numbers(3, DualSimplex::kNoBound), {{3, false}, {4, false}});
  EXPECT_TRUE(simplex.IsActive(0));
  EXPECT_TRUE(simplex.IsActive(1));
  ASSERT_EQ(simplex.Solve(), DualSimplex::Result::kOptimal);
  EXPECT_NEAR(ObjectiveOf(simplex, program), 35, 1e-9);
  EXPECT_NEAR(simplex.Value(0), 3, 1e-9);
  EXPECT_NEAR(simplex.Value(1), 8, 1e-9);
}

}  // namespace
}  // namespace privacy_score
