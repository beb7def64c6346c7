/*
 * record_priors.cpp - see record_priors.hpp.
 */
#include "core/loss/record_priors.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/base/error.hpp"
#include "core/loss/probabilities.hpp"

namespace privacy_score {

namespace {

// What a prior is called in messages.
std::string NameOf(const PriorRows& priors, std::size_t row) {
  return priors.rows == 1 ? "prior" : "prior of record " + std::to_string(row + 1);
}

void CheckShape(std::size_t values, std::int64_t records, const PriorRows& priors) {
  if (values == 0) throw InvalidValue("domain must not be empty", "List the values that a record can have.");
  if (records < 1)
    throw InvalidValue("records must be at least 1, not " + std::to_string(records),
                       "It is the number of records that the statistic is of.");
  if (priors.rows == 0) return;
  if (priors.width != values)
    throw InvalidValue("prior must have one probability for each of the " + std::to_string(values) + " values, not " +
                           std::to_string(priors.width),
                       "Give the probabilities in the order of the domain.");
  if (priors.rows != 1 && priors.rows != static_cast<std::uint64_t>(records))
    throw InvalidValue("prior must have one row or one for each of the " + std::to_string(records) + " records, not " +
                           std::to_string(priors.rows),
                       "One row is the prior of all records.");
}

}  // namespace

RecordPriors::RecordPriors(const std::vector<Decimal>& domain, std::int64_t records, const PriorRows& priors)
    : records_(records), decimals_(CommonDecimals(domain)) {
  CheckShape(domain.size(), records, priors);
  std::vector<Int128> steps;
  steps.reserve(domain.size());
  for (const Decimal& value : domain) steps.push_back(StepsOf("domain", value, decimals_));
  std::vector<std::size_t> order(domain.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return steps[a] < steps[b]; });
  std::vector<std::size_t> place(domain.size());  // of each listed value among the distinct ones
  for (const std::size_t i : order) {
    if (values_.empty() || values_.back() != steps[i]) values_.push_back(steps[i]);
    place[i] = values_.size() - 1;
  }
  if (priors.rows == 0) {
    groups_.push_back({std::vector<double>(values_.size(), 1.0 / static_cast<double>(values_.size())), records});
    return;
  }
  std::vector<std::vector<double>> laws(priors.rows, std::vector<double>(values_.size()));
  std::vector<char> used(values_.size());
  for (std::size_t row = 0; row < priors.rows; ++row) {
    const double* given = &priors.probabilities[row * priors.width];
    CheckProbabilities(NameOf(priors, row).c_str(), given, priors.width);
    long double total = 0;
    for (std::size_t i = 0; i < priors.width; ++i) total += given[i];
    for (std::size_t i = 0; i < priors.width; ++i) {
      laws[row][place[i]] += static_cast<double>(given[i] / total);
      if (given[i] > 0) used[place[i]] = 1;
    }
  }
  std::size_t kept = 0;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    if (used[v] == 0) continue;
    values_[kept] = values_[v];
    for (std::vector<double>& law : laws) law[kept] = law[v];
    ++kept;
  }
  values_.resize(kept);
  for (std::vector<double>& law : laws) law.resize(kept);
  if (priors.rows == 1) {
    groups_.push_back({std::move(laws[0]), records});
    return;
  }
  std::vector<std::size_t> by_law(priors.rows);
  std::iota(by_law.begin(), by_law.end(), std::size_t{0});
  std::stable_sort(by_law.begin(), by_law.end(), [&](std::size_t a, std::size_t b) { return laws[a] < laws[b]; });
  group_of_.resize(priors.rows);
  for (const std::size_t row : by_law) {
    if (groups_.empty() || groups_.back().probability != laws[row]) groups_.push_back({laws[row], 0});
    ++groups_.back().records;
    group_of_[row] = groups_.size() - 1;
  }
}

}  // namespace privacy_score
