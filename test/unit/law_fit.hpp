/*
 * law_fit.hpp - does a sampler follow the discrete Laplace law? Chi-square tests against its exact probabilities.
 *
 * Probabilities are closed forms in long double, with expm1() where terms nearly cancel: right to 15 digits for any
 * scale.
 */
#pragma once

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace privacy_score::testing_support {

// P(lo <= k <= hi) of the discrete Laplace law, 1 <= lo <= hi.
inline long double ProbabilityOf(long double scale, std::int64_t lo, std::int64_t hi) {
  const auto width = static_cast<long double>(hi - lo) + 1;
  return std::exp(-static_cast<long double>(lo) / scale) * -std::expm1(-width / scale) / (1 + std::exp(-1 / scale));
}

inline long double ProbabilityOfZero(long double scale) { return -std::expm1(-1 / scale) / (1 + std::exp(-1 / scale)); }

// One chi-square test: counts against probabilities that sum to 1.
class ChiSquare {
 public:
  explicit ChiSquare(std::vector<long double> probabilities)
      : probabilities_(std::move(probabilities)), counts_(probabilities_.size()) {}

  void Count(std::size_t cell) { ++counts_[cell]; }

  // The probability of a fit at least as bad when the sampler is right.
  double PValue() const {
    long double draws = 0;
    for (const auto count : counts_) draws += static_cast<long double>(count);
    long double statistic = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const long double expected = probabilities_[i] * draws;
      const long double difference = static_cast<long double>(counts_[i]) - expected;
      statistic += difference * difference / expected;
    }
    const boost::math::chi_squared law(static_cast<double>(counts_.size()) - 1);
    return boost::math::cdf(boost::math::complement(law, static_cast<double>(statistic)));
  }

 private:
  std::vector<long double> probabilities_;
  std::vector<std::int64_t> counts_;
};

// The tests that a sampler of discrete Laplace noise has to pass:
//   cells: zero, and about twenty cells of equal probability on each side of it;
//   low bits: the value modulo 16 (scales from 100), where a coarse grid shows;
//   pairs: consecutive values, which must be independent.
class LawFit {
 public:
  LawFit(long double scale, std::int64_t draws)
      : scale_(scale), cells_(MakeCells(draws)), bits_(BitProbabilities()), pairs_(MakePairs()) {}

  void Add(std::int64_t value) {
    cells_.Count(CellOf(value));
    bits_.Count(static_cast<std::size_t>(value & 15));
    const std::size_t coarse = CoarseOf(value);
    if (has_previous_) pairs_.Count(previous_ * kCoarse + coarse);
    has_previous_ = !has_previous_;
    previous_ = coarse;
  }

  // The least of the p-values, and which test it comes from.
  std::pair<double, std::string> Worst() const {
    std::pair<double, std::string> worst = {cells_.PValue(), "cells"};
    if (scale_ >= 100) worst = std::min(worst, {bits_.PValue(), "low bits"});
    return std::min(worst, {pairs_.PValue(), "pairs"});
  }

 private:
  static constexpr std::size_t kCoarse = 3;

  // Cells on the positive side end with edges_[i]; the last is open. Zero is a cell of its own when it can be expected
  // often enough, else it joins the first positive cell.
  ChiSquare MakeCells(std::int64_t draws) {
    const long double least = std::max(0.025L, 100 / static_cast<long double>(draws));
    std::vector<long double> side;
    const long double zero = ProbabilityOfZero(scale_);
    zero_is_apart_ = zero * static_cast<long double>(draws) >= 100;
    for (std::int64_t lo = 1;;) {
      const long double rest = std::exp(-static_cast<long double>(lo) / scale_) / (1 + std::exp(-1 / scale_));
      // The least hi with P(lo..hi) >= least leaves rest - least.
      const long double end = rest > 2 * least ? -scale_ * std::log((rest - least) * (1 + std::exp(-1 / scale_))) : 0;
      const auto hi = std::max(lo, static_cast<std::int64_t>(std::ceil(end)) - 1);
      const long double left = rest - ProbabilityOf(scale_, lo, hi);
      if (rest <= 2 * least || left < 100 / static_cast<long double>(draws)) {
        side.push_back(rest);
        break;
      }
      side.push_back(ProbabilityOf(scale_, lo, hi));
      edges_.push_back(hi);
      lo = hi + 1;
    }
    std::vector<long double> all;
    if (zero_is_apart_) all.push_back(zero);
    all.insert(all.end(), side.begin(), side.end());
    if (!zero_is_apart_) all[0] += zero;
    all.insert(all.end(), side.begin(), side.end());
    positive_cells_ = side.size();
    return ChiSquare(all);
  }

  std::size_t CellOf(std::int64_t value) const {
    if (value == 0) return 0;
    const std::int64_t magnitude = value < 0 ? -value : value;
    const auto place =
        static_cast<std::size_t>(std::lower_bound(edges_.begin(), edges_.end(), magnitude) - edges_.begin());
    return (zero_is_apart_ ? 1 : 0) + (value < 0 ? positive_cells_ : 0) + place;
  }

  // P(k = r mod 16): each residue is a geometric series on either side.
  std::vector<long double> BitProbabilities() const {
    std::vector<long double> probabilities(16);
    const long double factor = std::expm1(-1 / scale_) / std::expm1(-16 / scale_) / (1 + std::exp(-1 / scale_));
    for (int j = 1; j <= 16; ++j) {
      const long double series = factor * std::exp(-j / scale_);
      probabilities[static_cast<std::size_t>(j & 15)] += series;
      probabilities[static_cast<std::size_t>(-j & 15)] += series;
    }
    probabilities[0] += ProbabilityOfZero(scale_);
    return probabilities;
  }

  // Below zero, zero up to about the scale, above.
  std::size_t CoarseOf(std::int64_t value) const { return value < 0 ? 0 : value <= Middle() ? 1 : 2; }
  std::int64_t Middle() const { return static_cast<std::int64_t>(scale_ * 0.7L); }

  ChiSquare MakePairs() const {
    const long double above =
        ProbabilityOf(scale_, Middle() + 1, Middle() + static_cast<std::int64_t>(scale_ * 100) + 100);
    const long double below = std::exp(-1 / scale_) / (1 + std::exp(-1 / scale_));
    const std::array<long double, kCoarse> single = {below, 1 - below - above, above};
    std::vector<long double> probabilities;
    for (const auto first : single)
      for (const auto second : single) probabilities.push_back(first * second);
    return ChiSquare(probabilities);
  }

  long double scale_;
  std::vector<std::int64_t> edges_;
  std::size_t positive_cells_ = 0;
  bool zero_is_apart_ = false;
  bool has_previous_ = false;
  std::size_t previous_ = 0;
  ChiSquare cells_;
  ChiSquare bits_;
  ChiSquare pairs_;
};

}  // namespace privacy_score::testing_support
