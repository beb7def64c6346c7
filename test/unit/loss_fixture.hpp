/*
 * loss_fixture.hpp - databases of few records, enumerated: what a release tells by the definition alone.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/decimal_grid.hpp"
#include "core/loss/privacy_loss.hpp"

namespace privacy_score::testing_support {

inline std::vector<privacy_score::Decimal> Decimals(const std::vector<const char*>& texts) {
  std::vector<privacy_score::Decimal> values;
  for (const char* text : texts) values.push_back(privacy_score::ParseDecimal("value", text));
  return values;
}

// Twice the statistic of a database, times the number of records for averages: an integer for integer values.
inline std::int64_t TwiceStatistic(privacy_score::ReleaseStatistic statistic, std::vector<std::int64_t> database) {
  using privacy_score::ReleaseStatistic;
  std::sort(database.begin(), database.end());
  const std::size_t n = database.size();
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const std::int64_t value : database) {
    sum += value;
    count += value != 0 ? 1 : 0;
  }
  switch (statistic) {
    case ReleaseStatistic::kCount:
      return 2 * count;
    case ReleaseStatistic::kMinimum:
      return 2 * database.front();
    case ReleaseStatistic::kMaximum:
      return 2 * database.back();
    case ReleaseStatistic::kMedian:
      return database[(n - 1) / 2] + database[n / 2];
    default:
      return 2 * sum;
  }
}

struct Enumerated {
  double probability = 0;                      // of the release, without the constant of the noise
  std::vector<std::vector<double>> posterior;  // by record and value
};

// Values and priors by record. `rate` 0: no noise, else the release is the statistic plus a whole number, and for
// averages `released2` counts in 2/n as TwiceStatistic does.
inline Enumerated Enumerate(privacy_score::ReleaseStatistic statistic, const std::vector<std::int64_t>& values,
                            const std::vector<std::vector<double>>& priors, std::int64_t released2, double rate) {
  const std::size_t n = priors.size();
  const auto unit =
      static_cast<std::int64_t>(statistic == privacy_score::ReleaseStatistic::kAverage ? 2 * n : std::size_t{2});
  Enumerated result;
  result.posterior.assign(n, std::vector<double>(values.size()));
  std::vector<std::size_t> at(n);
  std::vector<std::int64_t> database(n);
  for (;;) {
    double probability = 1;
    for (std::size_t i = 0; i < n; ++i) {
      probability *= priors[i][at[i]];
      database[i] = values[at[i]];
    }
    const std::int64_t away = released2 - TwiceStatistic(statistic, database);
    double weight = away == 0 ? 1 : 0;
    if (rate > 0 && away % unit == 0) weight = std::exp(-rate * std::abs(static_cast<double>(away / unit)));
    result.probability += probability * weight;
    for (std::size_t i = 0; i < n; ++i) result.posterior[i][at[i]] += probability * weight;
    std::size_t i = 0;
    while (i < n && ++at[i] == values.size()) at[i++] = 0;
    if (i == n) break;
  }
  for (std::vector<double>& row : result.posterior)
    for (double& p : row) p /= result.probability;
  return result;
}

}  // namespace privacy_score::testing_support
