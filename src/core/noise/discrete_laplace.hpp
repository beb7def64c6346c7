/*
 * discrete_laplace.hpp - the discrete Laplace law: exact draws, quantiles and tails.
 *
 * P(k) = (1-a)/(1+a) a^|k| with a = exp(-1/scale), for rational scale = sensitivity/epsilon. Draws use
 * [Canonne, Kamath, Steinke 2020, algorithm 2]: integer arithmetic only. What is said about the law (quantiles,
 * thresholds) is decided by exact arithmetic on bounds of exp() that are made tighter until they decide.
 */
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/random_source.hpp"
#include "core/base/rational.hpp"

namespace privacy_score {

// a + b, held at the ends of the range instead of wrapping. Of a released value this is post-processing: it costs no
// privacy.
std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b);

constexpr std::int64_t kLargestNoiseScale = 1'000'000'000'000;

// One law, from which any number of values may be drawn.
class DiscreteLaplace {
 public:
  // Throws Error 22023 when the scale is not from 1/1000 to 10^12, or when its numerator or denominator has more than
  // 224 bits (67 digits).
  explicit DiscreteLaplace(const Rational& scale);

  // One value. Takes an expected number of random words that does not depend on the scale; the time of a single draw
  // grows with |value|/scale. A value beyond int64, which no scale makes likelier than exp(-9,000,000), is held at the
  // end of the range. Throws what `random` throws.
  std::int64_t Draw(RandomSource& random) const;

  const Rational& scale() const { return scale_; }

 private:
  void PrepareWide();
  std::int64_t DrawNarrow(RandomSource& random) const;
  std::int64_t DrawWide(RandomSource& random) const;

  Rational scale_;
  // The scale as a fraction, when both fit; else both are zero, and the rest is used.
  std::uint64_t numerator_ = 0;
  std::uint64_t denominator_ = 0;
  std::uint64_t run_ = 1;           // as many values make a run: scale rounded down, at least 1
  std::uint64_t rate_[2] = {0, 0};  // 1/scale in units of 2^-64 and 2^-128, rounded down; zero for a scale below 1
  std::uint64_t whole_ = 0;         // run/scale, rounded down,
  std::uint64_t fraction_ = 0;      // and what is left in units of 2^-64, rounded down,
  Rational exact_fraction_;         // and exactly
};

// Reads the epsilon of a release. Throws Error 22023 when it is not from 10^-12 to 1000, or has more than 40 digits.
Rational ParseEpsilon(std::string_view text);

// Reads a scale of noise. Throws Error 22023 when it is not from 1/1000 to 10^12, or has more than 40 digits.
Rational ParseScale(std::string_view text);

// P(|k| <= h) >= confidence holds for the h that is returned and for none that is smaller: [value - h, value + h] is
// the confidence interval of a noisy value. Throws Error 22023 unless 0 < confidence < 1.
std::int64_t DiscreteLaplaceHalfWidth(const Rational& scale, const Rational& confidence);

// The least z from 1 with P(k >= z) <= probability. Throws Error 22023 unless 0 < probability < 1.
std::int64_t DiscreteLaplaceUpperQuantile(const Rational& scale, const Rational& probability);

// The least threshold t from 1 such that a histogram that shows only keys with a noisy count of at least t shows any
// key that one unit alone holds with probability at most delta. A unit has at most `sensitivity` rows, in one key or
// spread over several. Throws Error 22023 unless 0 < delta < 1/2 and sensitivity >= 1.
std::int64_t KeyThreshold(const Rational& scale, std::int64_t sensitivity, const Rational& delta);

}  // namespace privacy_score
