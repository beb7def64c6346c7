/*
 * norm_histogram.cpp - which bins of a noisy histogram hold anybody, and the bound that follows (see
 * norm_histogram.hpp).
 */
#include "core/private_sql/norm_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

namespace {

constexpr int kNothingSeen = -1;
// A tail that falls at least as fast as this goes on below what can be seen.
constexpr double kFallingTail = 0.6;
constexpr int kTailBins = 3;
// Fewer persons than this, times epsilon, do not show their own shape.
constexpr double kLeastShape = 22;

double SeenFrom(int bin, double epsilon) { return (std::log(5.0) + bin * std::log(2.0)) / epsilon; }

int GreatestSeen(const NormBins& noisy, double epsilon) {
  for (int bin = static_cast<int>(noisy.size()) - 1; bin >= 0; --bin)
    if (static_cast<double>(noisy[static_cast<std::size_t>(bin)]) >= SeenFrom(bin, epsilon)) return bin;
  return kNothingSeen;
}

// The bins up to the greatest seen one as they are, but for those below zero, and what the tail goes on with.
std::vector<double> OwnShape(const NormBins& noisy, int top, double epsilon) {
  std::vector<double> persons(noisy.size());
  for (int bin = 0; bin <= top; ++bin) {
    const auto place = static_cast<std::size_t>(bin);
    persons[place] = std::max(0.0, static_cast<double>(noisy[place]));
  }
  if (top < 1) return persons;
  const double last = persons[static_cast<std::size_t>(top)];
  const double before = persons[static_cast<std::size_t>(top) - 1];
  if (last >= kFallingTail * before) return persons;
  double tail = last;
  for (int bin = top + 1; bin <= top + kTailBins && bin < static_cast<int>(persons.size()); ++bin) {
    tail *= last / before;
    persons[static_cast<std::size_t>(bin)] = std::min(tail, SeenFrom(bin, epsilon));
  }
  return persons;
}

// The reference's shares of the persons that the histogram says there are.
std::vector<double> ShapeOf(const NormReference& reference, double persons) {
  std::vector<double> shape(reference.size());
  std::transform(reference.begin(), reference.end(), shape.begin(), [=](double share) { return share * persons; });
  return shape;
}

int GreatestOf(const NormReference& reference) {
  int top = 0;
  for (std::size_t bin = 0; bin < reference.size(); ++bin)
    if (reference[bin] > 0) top = static_cast<int>(bin);
  return top;
}

double SumUpTo(const NormBins& noisy, int top) {
  return std::accumulate(noisy.begin(), noisy.begin() + top + 1, 0.0,
                         [](double sum, std::int64_t persons) { return sum + static_cast<double>(persons); });
}

// What persons of a bin have in the middle.
double MiddleOf(int bin) { return bin == 0 ? 1 : std::ldexp(0.75, bin) + 0.5; }

}  // namespace

NormBins NoisyNorms(const NormBins& bins, const Rational& epsilon, RandomSource& random) {
  const DiscreteLaplace law(Rational(1) / epsilon);
  NormBins noisy(bins.size());
  std::transform(bins.begin(), bins.end(), noisy.begin(),
                 [&](std::int64_t persons) { return SaturatingAdd(persons, law.Draw(random)); });
  return noisy;
}

std::vector<double> EstimatedNorms(const NormBins& noisy, double epsilon, const NormReference& reference) {
  const int top = GreatestSeen(noisy, epsilon);
  if (reference.empty()) return OwnShape(noisy, top, epsilon);
  const int last = std::max(std::min(GreatestOf(reference), static_cast<int>(noisy.size()) - 1), top);
  const double persons = std::max(0.0, SumUpTo(noisy, last)) + 2 / epsilon;
  if (top != kNothingSeen && persons * epsilon >= kLeastShape) return OwnShape(noisy, top, epsilon);
  return ShapeOf(reference, persons);
}

NormReference ReferenceOf(const NormBins& noisy, double epsilon) {
  const int top = GreatestSeen(noisy, epsilon);
  if (top == kNothingSeen) return {};
  NormReference shares = OwnShape(noisy, top, epsilon);
  const double persons = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= persons;
  return shares;
}

NormBound ChooseNormBound(const NormBins& noisy, const Rational& histogram_epsilon, const NormReference& reference,
                          std::int64_t groups, const Rational& measure_epsilon) {
  const std::vector<double> persons = EstimatedNorms(noisy, ToDouble(histogram_epsilon), reference);
  const double noise = static_cast<double>(groups) / ToDouble(measure_epsilon);
  const auto left_out = [&](int log_bound) {
    double sum = 0;
    for (int bin = log_bound + 1; bin < static_cast<int>(persons.size()); ++bin)
      sum += persons[static_cast<std::size_t>(bin)] * std::max(0.0, MiddleOf(bin) - std::ldexp(1.0, log_bound));
    return sum;
  };
  NormBound best;
  double least = left_out(0) + noise;
  for (int log_bound = 1; log_bound <= kMostNormBin; ++log_bound) {
    const double error = left_out(log_bound) + std::ldexp(noise, log_bound);
    if (error >= least) continue;
    least = error;
    best.log_bound = log_bound;
  }
  double all = 0;
  for (std::size_t bin = 0; bin < persons.size(); ++bin) all += persons[bin] * MiddleOf(static_cast<int>(bin));
  best.left_out = all > 0 ? left_out(best.log_bound) / all : 0;
  return best;
}

}  // namespace privacy_score
