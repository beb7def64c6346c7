/*
 * tilted_sum.cpp - see tilted_sum.hpp. The tilt is the root of an increasing function: Newton within a bracket.
 */
#include "core/loss/tilted_sum.hpp"

#include <algorithm>
#include <limits>

namespace privacy_score {

namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

// Tilts one group; returns its log transform.
double Tilt(const std::vector<std::int64_t>& images, const SumGroup& group, double theta,
            std::vector<double>* probability, Moments* moments) {
  double greatest = -std::numeric_limits<double>::infinity();
  probability->resize(images.size());
  for (std::size_t u = 0; u < images.size(); ++u) {
    const double p = group.probability[u];
    (*probability)[u] = p > 0 ? std::log(p) + theta * static_cast<double>(images[u]) : -HUGE_VAL;
    greatest = std::max(greatest, (*probability)[u]);
  }
  double total = 0;
  for (double& q : *probability) total += q = std::exp(q - greatest);
  double mean = 0;
  for (std::size_t u = 0; u < images.size(); ++u) {
    (*probability)[u] /= total;
    mean += (*probability)[u] * static_cast<double>(images[u]);
  }
  double variance = 0;
  for (std::size_t u = 0; u < images.size(); ++u) {
    const double away = static_cast<double>(images[u]) - mean;
    variance += (*probability)[u] * away * away;
  }
  *moments = {mean, variance};
  return greatest + std::log(total);
}

// Of the noise, tilted likewise: ratios of the two geometric tails.
Moments TiltedNoise(const SumNoise& noise, double theta) {
  if (noise.step == 0) return {};
  const auto step = static_cast<double>(noise.step);
  const double up = -std::expm1(-noise.rate + theta * step);
  const double down = -std::expm1(-noise.rate - theta * step);
  const double total = 1 + (1 - up) / up + (1 - down) / down;
  const double mean = ((1 - up) / (up * up) - (1 - down) / (down * down)) / total;
  const double square = ((1 - up) * (2 - up) / (up * up * up) + (1 - down) * (2 - down) / (down * down * down)) / total;
  return {step * mean, step * step * std::max(0.0, square - mean * mean)};
}

}  // namespace

TiltedSum TiltTo(const std::vector<std::int64_t>& images, const std::vector<SumGroup>& groups, std::int64_t released,
                 const SumNoise& noise, const WorkControl& control) {
  TiltedSum tilted;
  for (const SumGroup& group : groups) {
    TiltedGroup entry{{}, group.records, 0, images.back(), images.front()};
    for (std::size_t u = 0; u < images.size(); ++u) {
      if (group.probability[u] <= 0) continue;
      entry.low = std::min(entry.low, images[u]);
      entry.high = std::max(entry.high, images[u]);
    }
    tilted.groups.push_back(std::move(entry));
  }
  PauseCounter pause(control);
  const auto moments_at = [&](double theta) {
    Moments all = TiltedNoise(noise, theta);
    tilted.theta = theta;
    tilted.log_transform = 0;
    tilted.mean = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      pause.Add(images.size() * 16);
      Moments one;
      const auto records = static_cast<double>(groups[g].records);
      tilted.log_transform += records * Tilt(images, groups[g], theta, &tilted.groups[g].probability, &one);
      tilted.groups[g].mean = one.mean;
      tilted.mean += records * one.mean;
      all.variance += records * one.variance;
    }
    all.mean += tilted.mean;
    return all;
  };
  const double target = static_cast<double>(released);
  // With noise the tilt stays below the rate at which the noise falls.
  const double bound = noise.step > 0 ? noise.rate / static_cast<double>(noise.step) : HUGE_VAL;
  double low = -bound;
  double high = bound;
  double theta = 0;
  for (int round = 0; round < 200; ++round) {
    const Moments moments = moments_at(theta);
    const double miss = moments.mean - target;
    const double deviation = std::sqrt(moments.variance);
    // A tenth of a standard deviation is near enough: any tilt gives the same posterior.
    if (std::abs(miss) <= 0.1 * deviation) break;
    (miss > 0 ? high : low) = theta;
    double next = moments.variance > 0 ? theta - miss / moments.variance : theta;
    if (!(next > low && next < high) || next == theta) {
      if (std::isinf(low) || std::isinf(high)) {
        const double width = 1 / static_cast<double>(std::max<std::int64_t>(1, images.back() - images.front()));
        next = miss > 0 ? std::min(2 * theta, theta - width) : std::max(2 * theta, theta + width);
      } else {
        next = low + (high - low) / 2;
      }
    }
    if (next == theta || !(next > -bound && next < bound)) break;
    theta = next;
  }
  return tilted;
}

}  // namespace privacy_score
