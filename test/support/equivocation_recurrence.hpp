/*
 * equivocation_recurrence.hpp - the published algorithm for equivocation, which the curve is held against in unit tests
 * and timed against in benchmarks.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/loss/value_law.hpp"

// H(epsilon, i) = min over j of H(epsilon, j-1) + p_j...i lg(1/p_j...i) for windows j...i of spread up to epsilon.
inline double EquivocationByRecurrence(const privacy_score::ValueLaw& law, std::int64_t epsilon) {
  const std::vector<std::int64_t>& x = law.steps();
  std::vector<double> h(x.size() + 1);
  for (std::size_t i = 1; i <= x.size(); ++i) {
    double sum = 0;
    h[i] = 1e300;
    for (std::size_t j = i; j > 0 && x[i - 1] - x[j - 1] <= epsilon; --j) {
      sum += law.probabilities()[j - 1];
      h[i] = std::min(h[i], h[j - 1] - sum * std::log2(sum));
    }
  }
  return h.back();
}
