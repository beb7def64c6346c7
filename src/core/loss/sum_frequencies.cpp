/*
 * sum_frequencies.cpp - see sum_frequencies.hpp.
 *
 * Sums are reduced modulo M, large enough that by Hoeffding's bound less than 1e-18 of the tilted law wraps around.
 * Phases are integers modulo M until the last moment, and characteristic functions are kept as their distance from 1,
 * so that raising them to the power of millions of records loses nothing.
 */
#include "core/loss/sum_frequencies.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "core/base/decimal_grid.hpp"
#include "core/base/whole_division.hpp"

namespace privacy_score {

namespace {

constexpr double kNegligibleSum = -46;  // log of 1e-20

// log |phi| and arg phi of the records of a group at a frequency, centred.
struct Factor {
  double log_size;
  double angle;
};

class Frequencies {
 public:
  Frequencies(const std::vector<std::int64_t>& images, const TiltedSum& tilted, std::int64_t least,
              std::int64_t greatest, const ReleaseWeight& weight, const WorkControl& control)
      : images_(images), tilted_(tilted), weight_(weight), pause_(control) {
    double squares = 0;
    double widest = 0;
    double records = 0;
    for (const TiltedGroup& group : tilted_.groups) {
      const auto range = static_cast<double>(group.high - group.low);
      squares += static_cast<double>(group.records) * range * range;
      widest = std::max(widest, range);
      records += static_cast<double>(group.records);
    }
    const double window = std::ceil(9.2 * std::sqrt(squares) + 2 * widest + 1);
    const auto support = static_cast<double>(greatest - least) + 1;
    full_ = support <= window;
    modulus_ = full_ ? greatest - least + 1 : static_cast<std::int64_t>(window);
    first_ = full_ ? least : static_cast<std::int64_t>(std::floor(tilted_.mean)) - modulus_ / 2;
    turn_ = 2 * M_PI / static_cast<double>(modulus_);
    centre_ = static_cast<std::int64_t>(std::llround(tilted_.mean / records));
    for (const TiltedGroup& group : tilted_.groups) {
      double away = 0;
      for (std::size_t u = 0; u < images_.size(); ++u)
        away += group.probability[u] * std::abs(static_cast<double>(images_[u]) - group.mean);
      away_.push_back(away);
      all_centres_ += group.records * centre_;
    }
    factors_.resize(tilted_.groups.size());
    half_sines_.resize(images_.size());
    sines_.resize(images_.size());
  }

  Likelihoods Run() {
    Likelihoods likelihoods(tilted_.groups.size(), std::vector<double>(images_.size()));
    struct Interval {
      std::int64_t low, high;
    };
    std::vector<Interval> open = {{0, modulus_ / 2}};
    while (!open.empty()) {
      const auto [low, high] = open.back();
      open.pop_back();
      const std::int64_t middle = low + (high - low) / 2;
      if (!Matters(middle, static_cast<double>(high - middle) * turn_)) continue;
      if (low == high) {
        Take(low, &likelihoods);
        continue;
      }
      open.push_back({middle + 1, high});
      open.push_back({low, middle});
    }
    for (std::vector<double>& row : likelihoods)
      for (double& value : row) value = std::max(0.0, value / static_cast<double>(modulus_));
    return likelihoods;
  }

 private:
  // k times a number of steps, as an angle in (-pi, pi].
  double Angle(std::int64_t k, std::int64_t steps) const {
    auto rest = static_cast<std::int64_t>(static_cast<Int128>(k) * steps % modulus_);
    if (2 * rest > modulus_) rest -= modulus_;
    if (2 * rest <= -modulus_) rest += modulus_;
    return static_cast<double>(rest) * turn_;
  }

  // Whether a frequency within `width` of k may matter to any record's posterior. With width 0 the factors are kept.
  bool Matters(std::int64_t k, double width) {
    for (std::size_t u = 0; u < images_.size(); ++u) {
      const double half = Angle(k, images_[u] - centre_) / 2;
      const double sine = std::sin(half);
      half_sines_[u] = 2 * sine * sine;
      sines_[u] = 2 * sine * std::cos(half);
    }
    double sum = 0;
    double least = 0;
    for (std::size_t g = 0; g < tilted_.groups.size(); ++g) {
      const TiltedGroup& group = tilted_.groups[g];
      const auto [lack, imaginary] = Characteristic(group.probability);
      pause_.Add(images_.size());
      const double square = lack * (lack - 2) + imaginary * imaginary;  // |phi|^2 - 1
      const double log_size = square > -1 ? std::max(-700.0, std::log1p(square) / 2) : -700.0;
      factors_[g] = {log_size, std::atan2(imaginary, 1 - lack)};
      const double bound = width > 0 ? std::log(std::min(1.0, std::exp(log_size) + away_[g] * width)) : log_size;
      sum += static_cast<double>(group.records) * std::min(0.0, bound);
      least = std::min(least, bound);
      if (sum - least < kNegligibleSum) return false;
    }
    return true;
  }

  // 1 less the real part, and the imaginary part, of a characteristic function at the tabulated frequency. In four sums
  // at a time, which do not wait for each other.
  std::pair<double, double> Characteristic(const std::vector<double>& probability) const {
    double lack[4] = {};
    double imaginary[4] = {};
    std::size_t u = 0;
    for (; u + 4 <= probability.size(); u += 4) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        lack[lane] += probability[u + lane] * half_sines_[u + lane];
        imaginary[lane] += probability[u + lane] * sines_[u + lane];
      }
    }
    for (; u < probability.size(); ++u) {
      lack[0] += probability[u] * half_sines_[u];
      imaginary[0] += probability[u] * sines_[u];
    }
    return {(lack[0] + lack[1]) + (lack[2] + lack[3]), (imaginary[0] + imaginary[1]) + (imaginary[2] + imaginary[3])};
  }

  // Adds the terms of frequency k, whose factors have just been computed.
  void Take(std::int64_t k, Likelihoods* likelihoods) {
    double log_size = 0;
    double angle = 0;
    for (std::size_t g = 0; g < factors_.size(); ++g) {
      const auto records = static_cast<double>(tilted_.groups[g].records);
      log_size += records * factors_[g].log_size;
      angle += records * factors_[g].angle;
    }
    const std::complex<double> release = Transform(k);
    const double times = k == 0 || 2 * k == modulus_ ? 1 : 2;
    for (std::size_t g = 0; g < factors_.size(); ++g) {
      const double size = std::exp(log_size - factors_[g].log_size) * times;
      if (size == 0) continue;
      const std::complex<double> others = release * std::polar(size, angle - factors_[g].angle);
      std::vector<double>& row = (*likelihoods)[g];
      pause_.Add(images_.size());
      // e^(i t (u - centre)) is 1 - half_sines + i sines.
      for (std::size_t u = 0; u < images_.size(); ++u)
        row[u] += others.real() * (1 - half_sines_[u]) - others.imag() * sines_[u];
    }
  }

  // The weights of sums t at the frequency: sum of w(t) e^(-i turn k (t - all centres)), over the window.
  std::complex<double> Transform(std::int64_t k) const {
    const std::int64_t shift = weight_.released - all_centres_;
    const std::complex<double> at_release = std::polar(1.0, -Angle(k, shift % modulus_));
    const std::int64_t step = weight_.noise.step;
    if (step == 0) return at_release;
    // t = released + step j.
    const std::int64_t before = first_ - weight_.released;
    const std::int64_t after = first_ + modulus_ - 1 - weight_.released;
    const std::int64_t from = CeilDivide(before, step);
    const std::int64_t to = FloorDivide(after, step);
    const auto up = Geometric(k, std::max<std::int64_t>(0, from), to, 1);
    const auto down = Geometric(k, std::max<std::int64_t>(1, -to), -from, -1);
    return at_release * (up + down);
  }

  // Sum over a <= j <= b of the weight at sign j, with its phase.
  std::complex<double> Geometric(std::int64_t k, std::int64_t a, std::int64_t b, int sign) const {
    if (a > b) return 0;
    const std::int64_t step = weight_.noise.step;
    const double fall = weight_.LogOf(sign);  // log of the ratio, below 0
    const auto turn_of = [&](std::int64_t j) {
      return -Angle(k, sign * static_cast<std::int64_t>(static_cast<Int128>(step) * j % modulus_));
    };
    // 1 - z^j, without cancellation where z^j is near 1.
    const auto lack = [&](std::int64_t j) {
      const double length = fall * static_cast<double>(j);
      const double turn = turn_of(j);
      const double half = std::sin(turn / 2);
      return std::complex<double>(2 * half * half - std::expm1(length) * std::cos(turn),
                                  -std::exp(length) * std::sin(turn));
    };
    return std::polar(std::exp(fall * static_cast<double>(a)), turn_of(a)) * lack(b - a + 1) / lack(1);
  }

  const std::vector<std::int64_t>& images_;
  const TiltedSum& tilted_;
  const ReleaseWeight& weight_;
  PauseCounter pause_;
  bool full_ = false;  // the window is all possible sums
  std::int64_t modulus_ = 0;
  std::int64_t first_ = 0;  // the window: the least sum in it
  double turn_ = 0;
  std::int64_t centre_ = 0;  // of all records, near their mean
  std::int64_t all_centres_ = 0;
  std::vector<double> away_;  // mean distance from the mean, by group: the greatest slope of |phi|
  std::vector<Factor> factors_;
  std::vector<double> half_sines_, sines_;
};

}  // namespace

Likelihoods OthersByFrequencies(const std::vector<std::int64_t>& images, const TiltedSum& tilted, std::int64_t least,
                                std::int64_t greatest, const ReleaseWeight& weight, const WorkControl& control) {
  return Frequencies(images, tilted, least, greatest, weight, control).Run();
}

}  // namespace privacy_score
