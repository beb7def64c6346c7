/*
 * sum_grid.hpp - how finely a noisy sum is computed.
 *
 * Values are rounded to a decimal grid before they are summed, so that sum and noise are whole numbers of steps and the
 * noise is exact. The grid depends on the question only, never on the values.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/rational.hpp"

namespace privacy_score {

struct SumGrid {
  int decimals;    // a step is 10^-decimals; may be negative
  Rational scale;  // of the noise, in steps: a unit moves the sum by at most epsilon scale of them
};

// The finest grid for values that are not beyond `magnitude` once they are clamped, of which a unit has at most `rows`,
// such that the scale of the noise is still at most 10^12 steps: the rounding of 2 * 10^9 rows then comes to a
// thousandth of the noise at most. No finer than `most_decimals`, where the values have no more. Throws Error 22023
// unless magnitude, rows and epsilon are greater than zero, and when no grid has a law (DiscreteLaplace).
SumGrid ChooseSumGrid(const Rational& magnitude, std::int64_t rows, const Rational& epsilon,
                      std::optional<int> most_decimals);

// steps 10^-decimals as a decimal number, for the server's numeric.
std::string StepsText(std::int64_t steps, int decimals);

}  // namespace privacy_score
