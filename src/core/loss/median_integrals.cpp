/*
 * median_integrals.cpp - see median_integrals.hpp.
 *
 * With k = ceil(records / 2), C the number of ways to choose k - 1 of the others and h(u) = (4 u (1-u))^(k-1), all
 * weights are by C / 4^(k-1): both depend on the number of records only.
 */
#include "core/loss/median_integrals.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>

namespace privacy_score {

namespace {

constexpr int kNodes = 20;
using Quadrature = boost::math::quadrature::gauss<double, kNodes>;
// Up to here all integrands are polynomials that the quadrature takes exactly.
constexpr double kExactPower = kNodes - 2;
constexpr double kNegligibleRatio = -50;  // log

// log(1 - share), with the rest known too.
double LogRest(double share, double rest) { return share < 0.5 ? std::log1p(-share) : std::log(rest); }

// 1 - ratio^power for a ratio in [0,1] whose logarithm is known.
double LackOfPower(double log_ratio, double power) { return power == 0 ? 0 : -std::expm1(power * log_ratio); }

// The peak of h on an interval, and h around it.
struct Peak {
  double at, rest;      // u0 and 1 - u0
  double below, above;  // how far the interval reaches
  double power;
};

Peak PeakOf(const UniformInterval& interval, double power) {
  if (interval.high <= 0.5) return {interval.high, interval.high_rest, interval.width, 0, power};
  if (interval.low >= 0.5) return {interval.low, interval.low_rest, 0, interval.width, power};
  return {0.5, 0.5, 0.5 - interval.low, 0.5 - interval.high_rest, power};
}

// log h(u0 + d) - log h(u0).
double LogRatio(const Peak& peak, double d) {
  return peak.power * (std::log1p(d / peak.at) + std::log1p(-d / peak.rest));
}

// The integral of h(u)/h(u0) extra(d) over the interval, d = u - u0. Away from its peak h is negligible soon: panels
// in which it changes by a few powers of e follow each other until then. `edge` is the distance from the upper end
// within which `extra` changes as fast as that.
template <typename Extra>
double Integrate(const Peak& peak, double edge, const Extra& extra) {
  const auto f = [&](double d) { return std::exp(LogRatio(peak, d)) * extra(d); };
  if (peak.power <= kExactPower) {
    double sum = 0;
    if (peak.below > 0) sum += Quadrature::integrate(f, -peak.below, 0.0);
    if (peak.above > 0) sum += Quadrature::integrate(f, 0.0, peak.above);
    return sum;
  }
  double sum = 0;
  for (const int sign : {-1, 1}) {
    const double end = sign < 0 ? peak.below : peak.above;
    double away = 0;
    while (away < end && LogRatio(peak, sign * away) > kNegligibleRatio) {
      const double u = peak.at + sign * away;
      const double v = peak.rest - sign * away;
      double panel = 2 / (peak.power * std::abs(1 / u - 1 / v) + std::sqrt(peak.power * (1 / (u * u) + 1 / (v * v))));
      const double left = sign < 0 ? peak.above + away : end - away;  // to the upper end
      if (left < 50 * edge) panel = std::min(panel, edge);
      if (sign > 0 && left >= 50 * edge) panel = std::min(panel, std::max(edge, left - 40 * edge));
      panel = std::min(panel, end - away);
      const double from = sign * away;
      away = end - away - panel <= 0 ? end : away + panel;
      sum += std::abs(Quadrature::integrate(f, from, sign * away));
    }
  }
  return sum;
}

// log h(u0): 4 u (1-u) = 1 - (1-2u)^2.
double LogHeight(const Peak& peak) {
  const double lean = peak.rest - peak.at;
  return peak.power * (std::abs(lean) < 0.5 ? std::log1p(-lean * lean) : std::log(4 * peak.at * peak.rest));
}

}  // namespace

OrderWeights MedianWithin(std::int64_t records, const UniformInterval& interval) {
  const bool odd = records % 2 != 0;
  const auto k = static_cast<double>((records + 1) / 2);
  const Peak peak = PeakOf(interval, k - 1);
  const auto u = [&](double d) { return peak.at + d; };
  const auto v = [&](double d) { return peak.rest - d; };
  OrderWeights weights{LogHeight(peak), 0, 0, 0, 0};
  if (odd) {
    if (records == 1) return {0, 0, 1, 1, 0};
    const double none = 0;
    weights.below = (k - 1) * Integrate(peak, none, [&](double d) { return 1 / u(d); });
    weights.above = (k - 1) * Integrate(peak, none, [&](double d) { return 1 / v(d); });
    // The record itself is the middle one, or another is and the record lies above it.
    weights.at_first = weights.above + std::exp(LogRatio(peak, peak.above));
    if (interval.high_rest <= 0) weights.at_first = weights.above;
  } else {
    // That a second one lies between u and the upper end: 1 - ((1-a)/(1-u))^power.
    const auto second = [&](double d, double power) {
      if (power == 0) return 0.0;
      if (interval.high_rest <= 0) return 1.0;
      return -std::expm1(-power * std::log1p((peak.above - d) / interval.high_rest));
    };
    const double edge = interval.high_rest / k;
    weights.below = (k - 1) * Integrate(peak, edge, [&](double d) { return v(d) / u(d) * second(d, k); });
    weights.at_first = k * Integrate(peak, 0, [](double) { return 1.0; });
    weights.above = k * Integrate(peak, edge, [&](double d) { return second(d, k - 1); });
  }
  weights.at_last = weights.at_first;
  return weights;
}

OrderWeights MedianBetween(std::int64_t records, const UniformInterval& first, const UniformInterval& last) {
  const auto k = static_cast<double>(records / 2);
  const double low = first.high;      // P(X <= first)
  const double high = last.low_rest;  // P(X >= last)
  // (P(X < first) / P(X <= first))^power and its mirror image, from 1.
  const double log_first = first.width < low / 2 ? std::log1p(-first.width / low) : std::log(first.low / low);
  const double log_last = last.width < high / 2 ? std::log1p(-last.width / high) : std::log(last.high_rest / high);
  OrderWeights weights;
  weights.log_scale = (k - 1) * (LogRest(1 - 2 * low, 2 * low) + LogRest(1 - 2 * high, 2 * high));
  weights.below = LackOfPower(log_first, k - 1) * high * LackOfPower(log_last, k);
  weights.at_first = high * LackOfPower(log_last, k);
  weights.at_last = low * LackOfPower(log_first, k);
  weights.above = low * LackOfPower(log_first, k) * LackOfPower(log_last, k - 1);
  return weights;
}

}  // namespace privacy_score
