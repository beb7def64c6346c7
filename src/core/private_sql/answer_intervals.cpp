/*
 * answer_intervals.cpp - half-widths of totals and ratios (see answer_intervals.hpp).
 */
#include "core/private_sql/answer_intervals.hpp"

#include <algorithm>
#include <limits>

#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

namespace {

const Rational& Confidence() {
  static const Rational confidence(95, 100);
  return confidence;
}

// Of each of two totals: both then hold with 95 %.
const Rational& ConfidenceOfEach() {
  static const Rational confidence(975, 1000);
  return confidence;
}

Rational UnitsOfSteps(const Integer& steps, int exponent) {
  return exponent < 0 ? Rational(steps, PowerOfTwo(static_cast<unsigned>(-exponent)))
                      : Rational(steps << static_cast<unsigned>(exponent), 1);
}

// Totals are given in whole units: steps that are finer are rounded, by half a unit at most.
Rational HalfWidthAt(const ClipGrid& grid, const Rational& confidence) {
  const Rational half_width = UnitsOfSteps(DiscreteLaplaceHalfWidth(grid.scale, confidence), grid.exponent);
  return grid.exponent < 0 ? half_width + Rational(1, 2) : half_width;
}

// A total as it is given.
Rational GivenUnits(Int128 steps, const ClipGrid& grid) {
  const Int128 units = WholeUnits(steps, grid.exponent);
  const bool is_negative = units < 0;
  __extension__ const auto size = static_cast<unsigned __int128>(is_negative ? -units : units);
  const Integer wide = (Integer(static_cast<std::uint64_t>(size >> 64U)) << 64U) + static_cast<std::uint64_t>(size);
  return {is_negative ? Integer(-wide) : wide, 1};
}

}  // namespace

double HalfWidthOf(const ClipGrid& grid) { return ToDouble(HalfWidthAt(grid, Confidence())); }

RatioIntervals::RatioIntervals(const ClipGrid& upper, const ClipGrid& lower)
    : upper_(upper),
      lower_(lower),
      upper_width_(HalfWidthAt(upper, ConfidenceOfEach())),
      lower_width_(HalfWidthAt(lower, ConfidenceOfEach())) {}

std::optional<NoisyRatio> RatioIntervals::Of(Int128 upper_steps, Int128 lower_steps) const {
  const Rational top = GivenUnits(upper_steps, upper_);
  const Rational bottom = GivenUnits(lower_steps, lower_);
  if (bottom < Rational(1)) return std::nullopt;
  NoisyRatio ratio = {top / bottom, std::numeric_limits<double>::infinity()};
  const Rational least_bottom = bottom - lower_width_;
  if (least_bottom <= Rational(0)) return ratio;
  const Rational greatest_bottom = bottom + lower_width_;
  const Rational least_top = top - upper_width_;
  const Rational greatest_top = top + upper_width_;
  const Rational least = least_top / (least_top < Rational(0) ? least_bottom : greatest_bottom);
  const Rational greatest = greatest_top / (greatest_top < Rational(0) ? greatest_bottom : least_bottom);
  ratio.half_width = ToDouble(std::max(ratio.value - least, greatest - ratio.value));
  return ratio;
}

}  // namespace privacy_score
