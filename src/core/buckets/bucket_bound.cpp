/*
 * bucket_bound.cpp - exact bounds from approximate multipliers (see bucket_bound.hpp).
 */
#include "core/buckets/bucket_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace privacy_score {

namespace {

using Wide = __int128;

constexpr int kMultiplierBits = 52;  // of a double
constexpr int kSumBits = 118;        // that sums of products may have

// An integer over 2^bits.
struct ScaledBound {
  Wide value = 0;
  int bits = 0;
  bool impossible = false;
};

ScaledBound LeastValue(const BucketProgram& program, bool with_costs, const std::vector<std::int64_t>& low,
                       const std::vector<std::int64_t>& high, const std::vector<BucketCut>& cuts,
                       const std::vector<DualSimplex::Multiplier>& multipliers) {
  const std::size_t places = program.costs.size();
  ScaledBound bound;
  // How large the prices can get decides how fine the multipliers can be.
  double greatest = static_cast<double>(*std::max_element(program.costs.begin(), program.costs.end())) + 1;
  for (const auto& [cut, value] : multipliers) {
    std::int32_t steepest = 1;
    for (const std::int32_t coefficient : cuts[cut].coefficients) steepest = std::max(steepest, std::abs(coefficient));
    greatest += value * steepest;
  }
  const int room = kSumBits - std::ilogb(greatest) - std::ilogb(static_cast<double>(program.total) + 1) - 2;
  if (room < 0) return bound;  // multipliers that rounding errors blew up prove nothing
  bound.bits = std::min(room, kMultiplierBits);

  std::vector<Wide> prices(places);
  if (with_costs)
    for (std::size_t k = 0; k < places; ++k) prices[k] = static_cast<Wide>(program.costs[k]) << bound.bits;
  for (const auto& [cut, value] : multipliers) {
    const auto multiplier = static_cast<Wide>(std::ldexp(value, bound.bits));
    bound.value -= multiplier * cuts[cut].limit;
    for (std::size_t k = 0; k < places; ++k) prices[k] += multiplier * cuts[cut].coefficients[k];
  }

  Wide rest = program.total;
  for (std::size_t k = 0; k < places; ++k) {
    rest -= static_cast<Wide>(low[k]) * program.weights[k];
    bound.value += prices[k] * low[k];
  }
  if (rest < 0) {
    bound.impossible = true;
    return bound;
  }
  std::vector<std::size_t> order(places);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return prices[a] * program.weights[b] < prices[b] * program.weights[a];
  });
  for (const std::size_t k : order) {
    if (rest == 0) return bound;
    const std::int64_t weight = program.weights[k];
    if (high[k] == DualSimplex::kNoBound || static_cast<Wide>(high[k] - low[k]) * weight >= rest) {
      // The last one may be a fraction; the division is rounded down.
      bound.value += prices[k] * (rest / weight);
      const Wide product = prices[k] * (rest % weight);
      bound.value += product / weight - (product % weight < 0 ? 1 : 0);
      return bound;
    }
    bound.value += prices[k] * (high[k] - low[k]);
    rest -= static_cast<Wide>(high[k] - low[k]) * weight;
  }
  bound.impossible = rest > 0;
  return bound;
}

}  // namespace

std::int64_t ProvenBound(const BucketProgram& program, const std::vector<std::int64_t>& low,
                         const std::vector<std::int64_t>& high, const std::vector<BucketCut>& cuts,
                         const std::vector<DualSimplex::Multiplier>& multipliers) {
  const ScaledBound bound = LeastValue(program, true, low, high, cuts, multipliers);
  if (bound.impossible) return std::numeric_limits<std::int64_t>::max();
  const Wide unit = static_cast<Wide>(1) << bound.bits;
  Wide rounded = bound.value / unit;
  if (bound.value % unit > 0) ++rounded;
  return static_cast<std::int64_t>(std::max<Wide>(0, rounded));
}

bool ProvenImpossible(const BucketProgram& program, const std::vector<std::int64_t>& low,
                      const std::vector<std::int64_t>& high, const std::vector<BucketCut>& cuts,
                      const std::vector<DualSimplex::Multiplier>& multipliers) {
  const ScaledBound bound = LeastValue(program, false, low, high, cuts, multipliers);
  return bound.impossible || bound.value > 0;
}

}  // namespace privacy_score
