/*
 * sum_law.cpp - see sum_law.hpp.
 */
#include "core/loss/sum_law.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/decimal_grid.hpp"
#include "core/base/error.hpp"
#include "core/loss/sum_convolution.hpp"
#include "core/loss/sum_frequencies.hpp"
#include "core/loss/tilted_sum.hpp"

namespace privacy_score {

namespace {

// Products that are not worth looking for a faster way, and those that nobody waits for.
constexpr double kFewProducts = 2e7;
constexpr double kMostProducts = 2e10;
// Values times grid steps: how many characteristic functions the search looks at, up to a factor.
constexpr double kMostSearch = 1e10;
// Rounding of the frequencies' sum is below 1e-15 of the greatest probability: what is this much below it is computed
// by convolution, which tells the improbable from the impossible.
constexpr double kImprobable = 1e-3;
constexpr double kDoubtful = 1e-7;

Error TooFine() {
  return Error("54000", "the values lie on too fine a grid to compute the posterior exactly",
               "Round them, or merge values that are close to each other.");
}

// The weight of all sums, as any group's record sees it.
double TotalOf(const TiltedGroup& group, const std::vector<double>& likelihood) {
  double total = 0;
  for (std::size_t u = 0; u < likelihood.size(); ++u) total += group.probability[u] * likelihood[u];
  return total;
}

}  // namespace

SumLaw::SumLaw(std::vector<std::int64_t> images, std::vector<SumGroup> groups)
    : images_(std::move(images)), groups_(std::move(groups)) {
  Int128 least = 0;
  Int128 greatest = 0;
  double squares = 0;
  for (const SumGroup& group : groups_) {
    std::int64_t low = images_.back();
    std::int64_t high = images_.front();
    double mean = 0;
    for (std::size_t u = 0; u < images_.size(); ++u) {
      mean += group.probability[u] * static_cast<double>(images_[u]);
      if (group.probability[u] <= 0) continue;
      low = std::min(low, images_[u]);
      high = std::max(high, images_[u]);
    }
    low_.push_back(low);
    high_.push_back(high);
    least += static_cast<Int128>(group.records) * low;
    greatest += static_cast<Int128>(group.records) * high;
    mean_ += static_cast<double>(group.records) * mean;
    const auto range = static_cast<double>(high - low);
    squares += static_cast<double>(group.records) * range * range;
  }
  if (greatest >= kMostSteps) throw Error("54000", "the sums are too large", "Round the values to a coarser grid.");
  least_ = static_cast<std::int64_t>(least);
  greatest_ = static_cast<std::int64_t>(greatest);
  // P(|S - mean| > x) <= 2 exp(-2 x^2 / squares).
  reach_ = std::sqrt(20 * squares);
}

SumPosterior SumLaw::Extreme(bool least) const {
  SumPosterior posterior;
  posterior.possible = true;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::int64_t image = least ? low_[g] : high_[g];
    const auto at = std::lower_bound(images_.begin(), images_.end(), image) - images_.begin();
    std::vector<double> certain(images_.size());
    certain[static_cast<std::size_t>(at)] = 1;
    posterior.probability.push_back(std::move(certain));
    posterior.log_probability +=
        static_cast<double>(groups_[g].records) * std::log(groups_[g].probability[static_cast<std::size_t>(at)]);
  }
  return posterior;
}

SumPosterior SumLaw::Given(std::int64_t released, const SumNoise& noise, const WorkControl& control) const {
  double log_probability = 0;
  if (noise.step == 0) {
    if (released < least_ || released > greatest_) return {};
    if (released == least_ || released == greatest_) return Extreme(released == least_);
  } else {
    // Beyond all sums one more step of noise weighs all of them alike.
    const std::int64_t below = released < least_ ? (least_ - released) / noise.step : 0;
    const std::int64_t above = released > greatest_ ? (released - greatest_) / noise.step : 0;
    released += (below - above) * noise.step;
    log_probability += std::log(std::tanh(noise.rate / 2)) - noise.rate * static_cast<double>(below + above);
  }
  if (least_ == greatest_) {
    // Nothing to learn, but not every release can be had.
    if ((released - least_) % noise.step != 0) return {};
    SumPosterior posterior = Extreme(true);
    posterior.log_probability +=
        log_probability - noise.rate * std::abs(static_cast<double>((released - least_) / noise.step));
    return posterior;
  }
  const TiltedSum tilted = TiltTo(images_, groups_, released, noise, control);
  const ReleaseWeight weight{released, noise, tilted.theta};
  const double work = ConvolutionWork(images_, tilted);
  const double search = static_cast<double>(images_.size()) * static_cast<double>(images_.back() - images_.front());
  double records = 0;
  double variance = 0;
  for (const TiltedGroup& group : tilted.groups) {
    records += static_cast<double>(group.records);
    for (std::size_t u = 0; u < images_.size(); ++u) {
      const double away = static_cast<double>(images_[u]) - group.mean;
      variance += static_cast<double>(group.records) * group.probability[u] * away * away;
    }
  }
  // Of few records hardly any frequency is negligible.
  bool convolve = work <= kFewProducts || (records <= 12 && work <= 20 * search * records);
  if (!convolve && search > kMostSearch) {
    if (work > kMostProducts) throw TooFine();
    convolve = true;
  }
  Likelihoods likelihoods;
  if (!convolve) {
    likelihoods = OthersByFrequencies(images_, tilted, least_, greatest_, weight, control);
    const double usual = 1 / std::sqrt(1 + 2 * M_PI * variance);
    const double total = TotalOf(tilted.groups[0], likelihoods[0]);
    if (total < kImprobable * usual) {
      convolve = work <= kMostProducts;
      if (!convolve && total < kDoubtful * usual) throw TooFine();
    }
  }
  if (convolve) likelihoods = ConvolveOthers(images_, tilted, weight, control);

  SumPosterior posterior;
  for (std::size_t g = 0; g < tilted.groups.size(); ++g) {
    const double total = TotalOf(tilted.groups[g], likelihoods[g]);
    if (total <= 0) return {};
    std::vector<double> row(images_.size());
    for (std::size_t u = 0; u < images_.size(); ++u)
      row[u] = tilted.groups[g].probability[u] * likelihoods[g][u] / total;
    posterior.probability.push_back(std::move(row));
    if (g == 0)
      posterior.log_probability =
          log_probability + tilted.log_transform - tilted.theta * static_cast<double>(released) + std::log(total);
  }
  posterior.possible = true;
  return posterior;
}

}  // namespace privacy_score
