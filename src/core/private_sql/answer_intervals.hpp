/*
 * answer_intervals.hpp - how far a noisy answer may be from what it would be without noise.
 *
 * Intervals hold with 95 %. They speak of the noise alone: what the bound of a person leaves out is estimated apart
 * (NormBound). All of this is a function of answers and of the laws that they were drawn with, so it costs nothing.
 */
#pragma once

#include <optional>

#include "core/base/rational.hpp"
#include "core/private_sql/clipped_sums.hpp"

namespace privacy_score {

// The least h for which the total, rounded to whole units when its steps are finer, is within h units with 95 %.
double HalfWidthOf(const ClipGrid& grid);

struct NoisyRatio {
  Rational value;
  double half_width;  // infinity when the interval of the lower total reaches zero
};

// upper/lower, of totals with independent noise that are rounded as HalfWidthOf says: an average from sum and count, a
// variance from spread and count. Both totals are within their half-widths at 97.5 % with 95 % at least, and the ratio
// then is between the least and the greatest ratio of the two intervals.
class RatioIntervals {
 public:
  RatioIntervals(const ClipGrid& upper, const ClipGrid& lower);

  // None when the lower total is less than 1 unit.
  std::optional<NoisyRatio> Of(Int128 upper_steps, Int128 lower_steps) const;

 private:
  ClipGrid upper_;
  ClipGrid lower_;
  Rational upper_width_;
  Rational lower_width_;
};

}  // namespace privacy_score
