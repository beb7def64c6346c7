/*
 * bucket_program_fixture.hpp - small problems as linear programs with all their cuts, and their valid settings.
 */
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "bucket_fixture.hpp"
#include "core/buckets/bucket_bound.hpp"
#include "core/buckets/dual_simplex.hpp"

namespace privacy_score::testing_support {

using Numbers = std::vector<std::int64_t>;

// The program of a problem with the cuts of all sets of values, and its valid settings by loss.
struct ProgramExample {
  privacy_score::BucketProblem problem;
  privacy_score::BucketProgram program;
  std::vector<privacy_score::BucketCut> cuts;
  std::multimap<std::int64_t, Numbers> valid;

  explicit ProgramExample(std::mt19937_64& random) : problem(RandomProblem(random, 16, 5, 7)) {
    program.total = problem.rows();
    const std::size_t places = problem.sizes().size();
    for (const int size : problem.sizes()) {
      program.weights.push_back(size);
      program.costs.push_back(privacy_score::BucketLoss(size));
    }
    for (std::uint64_t set = 0; set < std::uint64_t{1} << problem.values(); ++set) {
      privacy_score::BucketCut cut;
      for (std::size_t i = 0; i < problem.values(); ++i)
        if ((set >> i & 1) != 0) cut.limit += problem.count(i);
      for (std::size_t k = 0; k < places; ++k) {
        std::int32_t needed = problem.sizes()[k];
        for (std::size_t i = 0; i < problem.values(); ++i)
          if ((set >> i & 1) == 0) needed -= problem.Capacity(i, k);
        cut.coefficients.push_back(std::max(0, needed));
      }
      cuts.push_back(cut);
    }
    ForEachSetting(problem, 9, [&](const privacy_score::BucketSetting& setting) {
      if (!HallHolds(problem, setting)) return;
      Numbers buckets(places);
      for (const auto& [size, number] : setting) buckets[problem.PlaceOf(size)] = number;
      valid.emplace(privacy_score::SearchLoss(setting), buckets);
    });
  }

  // Solves the relaxation within the bounds, and leaves what its multipliers prove in `bound`.
  bool Solve(privacy_score::DualSimplex& simplex, const Numbers& low, const Numbers& high) {
    simplex.Restore(low, high, simplex.nonbasic());
    for (std::size_t n = 0; n < cuts.size(); ++n) simplex.AddCut(n);
    const privacy_score::DualSimplex::Result result = simplex.Solve();
    EXPECT_NE(result, privacy_score::DualSimplex::Result::kStuck);
    const std::vector<privacy_score::DualSimplex::Multiplier> multipliers = simplex.Multipliers(result);
    bound = privacy_score::ProvenBound(program, low, high, cuts, multipliers);
    EXPECT_EQ(privacy_score::ProvenImpossible(program, low, high, cuts, multipliers),
              result == privacy_score::DualSimplex::Result::kInfeasible);
    return result == privacy_score::DualSimplex::Result::kOptimal;
  }
  std::int64_t bound = 0;
};

}  // namespace privacy_score::testing_support
