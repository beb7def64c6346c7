/*
 * bucket_bound.hpp - lower bounds of the loss that hold whatever rounding errors a search makes.
 *
 * For any multipliers mu >= 0 of valid cuts a b <= limit no setting within the bounds has less loss than the least of
 *     sum (cost_k + sum mu a_k) b_k - sum mu limit   over   sum weight_k b_k = total,  low <= b <= high,
 * a knapsack in fractions, which takes the variables in the order of their price for each record. The multipliers come
 * from a simplex tableau in floating point; they are rounded to integers over a power of two, and all the rest is
 * exact.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/buckets/dual_simplex.hpp"
#include "core/buckets/hall_cuts.hpp"

namespace privacy_score {

// The least integer that is not below the bound; the greatest of all when no b satisfies the conditions. `high` may be
// DualSimplex::kNoBound.
std::int64_t ProvenBound(const BucketProgram& program, const std::vector<std::int64_t>& low,
                         const std::vector<std::int64_t>& high, const std::vector<BucketCut>& cuts,
                         const std::vector<DualSimplex::Multiplier>& multipliers);

// Whether the cuts with these multipliers contradict each other within the bounds.
bool ProvenImpossible(const BucketProgram& program, const std::vector<std::int64_t>& low,
                      const std::vector<std::int64_t>& high, const std::vector<BucketCut>& cuts,
                      const std::vector<DualSimplex::Multiplier>& multipliers);

}  // namespace privacy_score
