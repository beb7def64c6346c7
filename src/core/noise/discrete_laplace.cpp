/*
 * discrete_laplace.cpp - draws from the discrete Laplace law, its quantiles and tails (see discrete_laplace.hpp).
 */
#include "core/noise/discrete_laplace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/noise/exact_bernoulli.hpp"
#include "core/noise/exp_bounds.hpp"

namespace privacy_score {

namespace {

using UInt128 = unsigned __int128;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallestScaleInverse = 1000;
constexpr std::int64_t kLargestSensitivity = kLargestNoiseScale * 1000;
constexpr unsigned kMaxBits = 224;
constexpr unsigned kNarrowBits = 62;
constexpr int kMaxDigits = 40;

bool FitsIn(const Integer& value, unsigned bits) { return value == 0 || boost::multiprecision::msb(value) < bits; }

std::string Shown(std::string_view text) {
  return text.size() <= 60 ? std::string(text) : std::string(text.substr(0, 60)) + "...";
}

// [Canonne, Kamath, Steinke 2020, algorithm 2]: `begin(u)` draws u and tells whether it is kept, `goes_on()` is the
// coin that counts v, `magnitude(u, v)` is the value that they make, held at the end of the range.
template <typename Begin, typename GoesOn, typename Magnitude>
std::int64_t DrawValue(RandomSource& random, Begin begin, GoesOn goes_on, Magnitude magnitude) {
  for (;;) {
    std::uint64_t u = 0;
    if (!begin(u)) continue;
    std::uint64_t v = 0;
    while (goes_on()) ++v;
    const std::int64_t value = magnitude(u, v);
    if (random.Below(2) == 0) return value;
    if (value != 0) return -value;  // a zero of either sign would come twice as often as it should
  }
}

std::int64_t Held(UInt128 value) {
  return value > static_cast<UInt128>(kMax) ? kMax : static_cast<std::int64_t>(value);
}

// A fraction from 0 to below 2^64 in units of 1, rounded down.
std::uint64_t WholeUnits(const Integer& numerator, const Integer& denominator) {
  return static_cast<std::uint64_t>(numerator / denominator);
}

// Whether factor a^power <= bound (1 + a), for power >= 1 and a = exp(-1/scale). The two sides are never equal, because
// exp of a rational that is not zero is no root of a polynomial with rational coefficients; so tighter bounds of exp()
// decide at last.
bool TailIsAtMost(const Rational& scale, std::int64_t factor, std::int64_t power, const Rational& bound) {
  const Rational one_step(scale.denominator(), scale.numerator());
  const Rational all_steps = one_step * Rational(power);
  for (unsigned bits = 128;; bits *= 2) {
    const Integer one = PowerOfTwo(bits);
    const ExpBounds tail = BoundExp(all_steps, bits);
    const ExpBounds a = BoundExp(one_step, bits);
    const Integer weight = bound.denominator() * factor;
    if (tail.upper * weight <= bound.numerator() * (one + a.lower)) return true;
    if (tail.lower * weight > bound.numerator() * (one + a.upper)) return false;
  }
}

// The least integer from `least` for which `holds`, which stays true once it is; searched outward from a guess.
template <typename Predicate>
std::int64_t LeastWhere(std::int64_t least, double guess, Predicate holds) {
  constexpr double kFarthest = 4e18;
  const auto start = guess > static_cast<double>(least) ? static_cast<std::int64_t>(std::min(guess, kFarthest)) : least;
  std::int64_t good = std::max(start, least);
  std::int64_t bad = good;
  std::int64_t step = 1;
  if (holds(good)) {
    for (bad = good - step; bad >= least && holds(bad); step *= 2, bad = good - step) good = bad;
    bad = std::max(bad, least - 1);
  } else {
    for (good = bad + step; !holds(good); step *= 2, good = bad + step) bad = good;
  }
  while (good - bad > 1) {
    const std::int64_t middle = bad + (good - bad) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

// Reads a parameter that lies from least to greatest, which the messages show as texts.
Rational ParseWithin(std::string_view parameter, std::string_view text, const Rational& least, const Rational& greatest,
                     const std::string& range, const std::string& hint) {
  const Rational value = ParseRational(parameter, text);
  const std::string name(parameter);
  if (value <= Rational(0)) throw InvalidValue(name + " must be greater than zero, not " + Shown(text), hint);
  if (value < least || value > greatest) throw InvalidValue(name + " must be " + range + ", not " + Shown(text), hint);
  const Integer most = PowerOfTen(kMaxDigits);
  if (value.numerator() >= most || value.denominator() >= most * kLargestNoiseScale)
    throw InvalidValue(
        name + " must have at most " + std::to_string(kMaxDigits) + " digits, not as many as " + Shown(text), hint);
  return value;
}

}  // namespace

std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? kMax : std::numeric_limits<std::int64_t>::min();
}

DiscreteLaplace::DiscreteLaplace(const Rational& scale) : scale_(scale) {
  if (scale < Rational(1, kSmallestScaleInverse) || scale > Rational(kLargestNoiseScale))
    throw InvalidValue("scale of noise must be between 0.001 and 1e12, not " + Shown(TextOf(scale)),
                       "It is the sensitivity divided by epsilon.");
  if (!FitsIn(scale.numerator(), kMaxBits) || !FitsIn(scale.denominator(), kMaxBits))
    throw InvalidValue("scale of noise must be a fraction of numbers of at most 67 digits, not " + Shown(TextOf(scale)),
                       "Give epsilon and sensitivity with fewer digits.");
  if (FitsIn(scale.numerator(), kNarrowBits) && FitsIn(scale.denominator(), kNarrowBits)) {
    numerator_ = static_cast<std::uint64_t>(scale.numerator());
    denominator_ = static_cast<std::uint64_t>(scale.denominator());
  } else {
    PrepareWide();
  }
}

std::int64_t DiscreteLaplace::Draw(RandomSource& random) const {
  return numerator_ != 0 ? DrawNarrow(random) : DrawWide(random);
}

// u below the numerator is kept with probability exp(-u/numerator), and v has the law of exp(-v): u + v numerator is
// geometric, and so is that over the denominator, rounded down.
std::int64_t DiscreteLaplace::DrawNarrow(RandomSource& random) const {
  const std::uint64_t numerator = numerator_;
  const std::uint64_t denominator = denominator_;
  const auto begin = [&random, numerator](std::uint64_t& u) {
    u = random.Below(numerator);
    return BernoulliExpOfCoin([&] { return random.Below(numerator) < u; }, random);
  };
  const auto goes_on = [&random] { return BernoulliExpOne(random); };
  return DrawValue(random, begin, goes_on, [=](std::uint64_t u, std::uint64_t v) {
    const UInt128 sum = u + static_cast<UInt128>(v) * numerator;
    return Held(sum >> 64U == 0 ? static_cast<std::uint64_t>(sum) / denominator : sum / denominator);
  });
}

void DiscreteLaplace::PrepareWide() {
  const Integer& numerator = scale_.numerator();
  const Integer& denominator = scale_.denominator();
  if (numerator >= denominator) {
    run_ = WholeUnits(numerator, denominator);
    const Integer rate = (denominator << 128U) / numerator;
    rate_[0] = static_cast<std::uint64_t>(rate >> 64U);
    rate_[1] = static_cast<std::uint64_t>(rate & std::numeric_limits<std::uint64_t>::max());
  }
  const Rational run_rate(Integer(run_) * denominator, numerator);
  const Integer whole = Floor(run_rate);
  whole_ = static_cast<std::uint64_t>(whole);
  exact_fraction_ = run_rate - Rational(whole, 1);
  fraction_ = WholeUnits(exact_fraction_.numerator() << 64U, exact_fraction_.denominator());
}

// The same with runs of whole values in place of the numerator, so that no wide number is divided: u below the run is
// kept with probability exp(-u/scale), and v has the law of exp(-v run/scale): u + v run is geometric. The coins with
// these exponents are tossed by their first binary digits.
std::int64_t DiscreteLaplace::DrawWide(RandomSource& random) const {
  const auto begin = [&](std::uint64_t& u) {
    u = random.Below(run_);
    if (u == 0) return true;
    const std::uint64_t lower = u * rate_[0] + static_cast<std::uint64_t>(static_cast<UInt128>(u) * rate_[1] >> 64U);
    const auto exact = [&] { return Rational(Integer(u), 1) / scale_; };
    return BernoulliExpOfCoin([&] { return TossFraction(lower, exact, random); }, random);
  };
  const auto exact = [&] { return exact_fraction_; };
  const auto goes_on = [&] {
    for (std::uint64_t i = 0; i < whole_; ++i)
      if (!BernoulliExpOne(random)) return false;
    return BernoulliExpOfCoin([&] { return TossFraction(fraction_, exact, random); }, random);
  };
  return DrawValue(random, begin, goes_on,
                   [&](std::uint64_t u, std::uint64_t v) { return Held(u + static_cast<UInt128>(v) * run_); });
}

Rational ParseEpsilon(std::string_view text) {
  return ParseWithin("epsilon", text, Rational(1, kLargestNoiseScale), Rational(kSmallestScaleInverse),
                     "between 1e-12 and 1000", "A smaller epsilon protects more; common values are from 0.01 to 1.");
}

Rational ParseScale(std::string_view text) {
  return ParseWithin("scale", text, Rational(1, kSmallestScaleInverse), Rational(kLargestNoiseScale),
                     "between 0.001 and 1e12", "The scale of the noise is sensitivity/epsilon.");
}

// P(|k| > h) = 2 a^(h+1)/(1+a).
std::int64_t DiscreteLaplaceHalfWidth(const Rational& scale, const Rational& confidence) {
  if (confidence <= Rational(0) || confidence >= Rational(1))
    throw InvalidValue("confidence must be between 0 and 1, not " + Shown(TextOf(confidence)), "0.95 is usual.");
  const Rational rest = Rational(1) - confidence;
  const double b = ToDouble(scale);
  const double guess = -b * std::log(ToDouble(rest) * (1 + std::exp(-1 / b)) / 2) - 1;
  return LeastWhere(0, guess, [&](std::int64_t h) { return TailIsAtMost(scale, 2, h + 1, rest); });
}

// P(k >= z) = a^z/(1+a) for z >= 1.
std::int64_t DiscreteLaplaceUpperQuantile(const Rational& scale, const Rational& probability) {
  if (probability <= Rational(0) || probability >= Rational(1))
    throw InvalidValue("probability must be between 0 and 1, not " + Shown(TextOf(probability)), "0.05 is usual.");
  const double b = ToDouble(scale);
  const double guess = -b * std::log(ToDouble(probability) * (1 + std::exp(-1 / b)));
  return LeastWhere(1, guess, [&](std::int64_t z) { return TailIsAtMost(scale, 1, z, probability); });
}

// P(k >= j) = a^j/(1+a) for j >= 1, and above 1/2 for j <= 0. With n_i rows of the unit in key i, n_1 + .. + n_m = c,
// the keys are shown with probability at most the sum of P(k >= t - n_i). It is convex in the n_i, so it is greatest
// with c - m + 1 rows in one key and one in each other, and of these, being convex in m, with m = 1 or with m = c.
std::int64_t KeyThreshold(const Rational& scale, std::int64_t sensitivity, const Rational& delta) {
  if (delta <= Rational(0) || delta >= Rational(1, 2))
    throw InvalidValue("delta must be greater than 0 and less than 1/2, not " + Shown(TextOf(delta)),
                       "It is a probability, and should be well below one over the number of persons.");
  if (sensitivity < 1 || sensitivity > kLargestSensitivity)
    throw InvalidValue("sensitivity must be between 1 and 1e15, not " + std::to_string(sensitivity),
                       "It is how much one person can change the answer.");
  const double b = ToDouble(scale);
  const double rest = -b * std::log(ToDouble(delta) * (1 + std::exp(-1 / b)));
  const auto c = static_cast<double>(sensitivity);
  return LeastWhere(sensitivity + 1, std::max(c + rest, 1 + b * std::log(c) + rest), [&](std::int64_t t) {
    return TailIsAtMost(scale, 1, t - sensitivity, delta) && TailIsAtMost(scale, sensitivity, t - 1, delta);
  });
}

}  // namespace privacy_score
