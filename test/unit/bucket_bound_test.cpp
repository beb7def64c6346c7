/*
 * bucket_bound_test.cpp - bounds hold whatever multipliers they are given.
 */
#include "core/buckets/bucket_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bucket_program_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::kSanitizerDivisor;
using testing_support::Numbers;
using testing_support::ProgramExample;

// Whatever the multipliers are, the bound is one.
TEST(BucketBound, HoldsForAnyMultipliers) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000 / kSanitizerDivisor; ++round) {
    const ProgramExample example(random);
    if (example.valid.empty()) continue;
    const Numbers low(example.program.costs.size());
    const Numbers high(example.program.costs.size(), DualSimplex::kNoBound);
    std::vector<DualSimplex::Multiplier> multipliers;
    for (int n = 0; n < 5; ++n) {
      const double scale = std::ldexp(1.0, static_cast<int>(random() % (round % 10 == 0 ? 900 : 20)) - 8);
      multipliers.push_back({random() % example.cuts.size(), scale * std::generate_canonical<double, 53>(random)});
    }
    ASSERT_LE(ProvenBound(example.program, low, high, example.cuts, multipliers), example.valid.begin()->first);
    ASSERT_FALSE(ProvenImpossible(example.program, low, high, example.cuts, multipliers));
  }
}

}  // namespace
}  // namespace privacy_score
