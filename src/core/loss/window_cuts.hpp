/*
 * window_cuts.hpp - cuts of sorted values into windows: the cut of least entropy whose windows have a bounded spread.
 *
 * Boundaries are places between values, 0 before the first and n behind the last. A cut's cost is the sum over its
 * windows of G(p) = p (1 - ln p): its entropy in nats plus the sum of all probabilities. Unlike -p ln p, G increases
 * with p, so the least cost of the first values increases with their number, which lets most windows be skipped.
 */
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/paused.hpp"

namespace privacy_score {

inline double WindowCost(double p) { return p > 0 ? p * (1 - std::log(p)) : 0; }

// Some of the boundaries, with 0 and n: the spread of a window from boundary a to b is last[b] - first[a].
struct Boundaries {
  std::vector<std::int64_t> first;  // value behind the boundary
  std::vector<std::int64_t> last;   // value before it
  std::vector<double> sums;         // of the probabilities before it

  std::size_t size() const { return sums.size(); }
};

Boundaries AllBoundaries(const std::vector<std::int64_t>& values, const std::vector<double>& probabilities);
Boundaries KeptBoundaries(const Boundaries& all, const std::vector<char>& keep);

// The least costs of the values before each boundary; of the best cut of all of them its greatest spread.
struct CutResult {
  std::vector<double> costs;
  std::int64_t spread;
};

// Cuts with spreads up to `most`. There is one. Throws Paused.
CutResult BestCut(const Boundaries& boundaries, std::int64_t most, PauseCounter* pause);

// The least costs of the values behind each boundary.
std::vector<double> CostsBehind(const Boundaries& boundaries, std::int64_t most, PauseCounter* pause);

}  // namespace privacy_score
