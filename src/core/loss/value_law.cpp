/*
 * value_law.cpp - see value_law.hpp.
 */
#include "core/loss/value_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "core/loss/probabilities.hpp"

namespace privacy_score {

namespace {

// What sums of probabilities may be off by rounding.
constexpr double kRounding = 1e-12;

}  // namespace

ValueLaw::ValueLaw(const std::vector<Decimal>& values, const std::vector<double>* probabilities)
    : decimals_(CommonDecimals(values)) {
  if (values.empty()) throw InvalidValue("vals must not be empty", "List the values that are possible.");
  if (probabilities != nullptr) {
    if (probabilities->size() != values.size())
      throw InvalidValue("there must be one probability for each of the " + std::to_string(values.size()) +
                             " values, not " + std::to_string(probabilities->size()),
                         "Give the probabilities in the order of the values.");
    CheckProbabilities("vals", probabilities->data(), probabilities->size());
  }
  std::vector<Int128> given;
  given.reserve(values.size());
  for (const Decimal& value : values) given.push_back(StepsOf("vals", value, decimals_));
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return given[a] < given[b]; });
  const double share = 1 / static_cast<double>(values.size());
  Int128 least = 0;
  for (const std::size_t i : order) {
    const double p = probabilities != nullptr ? (*probabilities)[i] : share;
    if (p <= 0) continue;
    if (steps_.empty()) least = given[i];
    if (given[i] - least >= kMostSteps)
      throw Error("22003", "vals span too many steps of their common grid", "Round the values to fewer decimals.");
    const auto step = static_cast<std::int64_t>(given[i] - least);
    if (steps_.empty() || steps_.back() != step) {
      steps_.push_back(step);
      probabilities_.push_back(p);
    } else {
      probabilities_.back() += p;
    }
  }
}

std::int64_t IntervalPrivacy(const ValueLaw& law, double confidence) {
  if (!(confidence > 0 && confidence <= 1))
    throw InvalidValue("confidence must be greater than 0 and at most 1, not " + TextOf(confidence),
                       "It is the probability with which the interval holds the value.");
  const std::vector<double>& p = law.probabilities();
  std::int64_t width = law.steps().back();
  double inside = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; last < p.size(); ++last) {
    inside += p[last];
    for (; inside - p[first] >= confidence - kRounding && first < last; ++first) inside -= p[first];
    if (inside >= confidence - kRounding) width = std::min(width, law.steps()[last] - law.steps()[first]);
  }
  return width;
}

double InformationLoss(const std::vector<double>& original, const std::vector<double>& estimated, double width) {
  if (!(width > 0) || std::isinf(width))
    throw InvalidValue("width must be finite and greater than 0, not " + TextOf(width),
                       "It is the width of the cells on which the densities are constant.");
  if (original.empty()) throw InvalidValue("original must not be empty", "Give a density for each cell.");
  if (original.size() != estimated.size())
    throw InvalidValue("estimated must have one density for each of the " + std::to_string(original.size()) +
                           " cells, not " + std::to_string(estimated.size()),
                       "Both densities are of the same cells.");
  std::vector<double> p, q;
  for (const double density : original) p.push_back(density * width);
  for (const double density : estimated) q.push_back(density * width);
  CheckProbabilities("original", p.data(), p.size());
  CheckProbabilities("estimated", q.data(), q.size());
  long double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::abs(p[i] - q[i]);
  return static_cast<double>(sum / 2);
}

double ReciprocalRisk(const std::vector<double>& probabilities) {
  if (probabilities.empty())
    throw InvalidValue("probabilities must not be empty", "Give a probability for each value that is possible.");
  CheckProbabilities("the law", probabilities.data(), probabilities.size());
  const double entropy = EntropyOf(probabilities);
  return entropy > 0 ? 1 / entropy : std::numeric_limits<double>::infinity();
}

}  // namespace privacy_score
