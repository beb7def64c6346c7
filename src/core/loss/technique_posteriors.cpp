/*
 * technique_posteriors.cpp - see technique_posteriors.hpp.
 */
#include "core/loss/technique_posteriors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"

namespace privacy_score {

namespace {

constexpr std::int64_t kMostNoise = 100'000'000;  // its law fits into memory

}  // namespace

std::vector<double> SamplingProbabilities(const std::vector<std::int64_t>& counts, std::int64_t matching) {
  const std::int64_t sampled = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (matching < 1)
    throw InvalidValue("matching_in_population must be at least 1, not " + std::to_string(matching),
                       "The person is one of the matching records.");
  if (sampled > matching)
    throw InvalidValue("matching_in_population must be at least the " + std::to_string(sampled) +
                           " matching records of the sample, not " + std::to_string(matching),
                       "The sample is a part of the population.");
  const auto all = static_cast<double>(matching);
  const double unseen = static_cast<double>(matching - sampled) / (all * static_cast<double>(counts.size()));
  std::vector<double> probabilities;
  for (const std::int64_t count : counts) probabilities.push_back(static_cast<double>(count) / all + unseen);
  return probabilities;
}

std::vector<std::int64_t> CountsInDomain(const std::vector<Decimal>& domain, const std::vector<Decimal>& sample) {
  if (domain.empty()) throw InvalidValue("domain must not be empty", "List the values that a record can have.");
  const int decimals = CommonDecimals(domain);
  std::vector<std::pair<Int128, std::size_t>> places;
  for (std::size_t i = 0; i < domain.size(); ++i) places.emplace_back(StepsOf("domain", domain[i], decimals), i);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i].first == places[i - 1].first)
      throw InvalidValue("domain has the value " + DecimalText(places[i].first, decimals) + " more than once",
                         "List each value once.");
  std::vector<std::int64_t> counts(domain.size());
  for (const Decimal& value : sample) {
    const Decimal shortest = Shortest(value);
    auto found = places.end();
    if (shortest.decimals <= decimals) {
      const Int128 steps = StepsOf("matching_in_sample", shortest, decimals);
      found = std::lower_bound(places.begin(), places.end(), std::make_pair(steps, std::size_t{0}));
      if (found != places.end() && found->first != steps) found = places.end();
    }
    if (found == places.end())
      throw InvalidValue("domain lacks the value " + DecimalText(value.digits, value.decimals) + " of the sample",
                         "The domain has all values that a record can have.");
    ++counts[found->second];
  }
  return counts;
}

std::int64_t SampleSize(double fraction, std::int64_t records) {
  if (!(fraction > 0 && fraction <= 1))
    throw InvalidValue("fraction must be greater than 0 and at most 1, not " + TextOf(fraction),
                       "It is the share of the records that are released.");
  return std::llround(fraction * static_cast<double>(records));
}

std::int64_t MaxNoise(double percent, std::int64_t domain_size) {
  if (!(percent >= 0) || percent > 1000)
    throw InvalidValue("percent must be from 0 to 1000, not " + TextOf(percent),
                       "The greatest noise is this share of the number of values less one.");
  const double noise = percent / 100 * static_cast<double>(domain_size - 1);
  return 2 * static_cast<std::int64_t>(std::floor(noise / 2 + 0.5));
}

std::vector<double> BinomialNoise(std::int64_t max_noise) {
  if (max_noise < 0 || max_noise > kMostNoise || max_noise % 2 != 0)
    throw InvalidValue("max_noise must be even and from 0 to 100000000, not " + std::to_string(max_noise),
                       "The noise is Binomial(max_noise, 1/2) - max_noise/2.");
  const auto m = static_cast<double>(max_noise);
  std::vector<double> noise(static_cast<std::size_t>(max_noise) + 1);
  // From the middle outwards, so that only what is negligible underflows.
  const std::size_t middle = noise.size() / 2;
  noise[middle] = 1;
  for (std::size_t k = middle; k + 1 < noise.size(); ++k)
    noise[k + 1] = noise[k] * (m - static_cast<double>(k)) / static_cast<double>(k + 1);
  for (std::size_t k = 0; k < middle; ++k) noise[k] = noise[noise.size() - 1 - k];
  double total = 0;
  for (const double p : noise) total += p;
  for (double& p : noise) p /= total;
  return noise;
}

std::vector<double> NoisePosterior(std::int64_t domain_size, const std::vector<std::int64_t>& released,
                                   const std::vector<double>& noise, GivesUp gives_up) {
  const auto half = static_cast<std::int64_t>(noise.size() / 2);
  std::vector<double> posterior(static_cast<std::size_t>(domain_size));
  for (const std::int64_t y : released) {
    GiveUpIfAsked(gives_up);
    const std::int64_t first = std::max<std::int64_t>(1, y - half);
    const std::int64_t last = std::min(domain_size, y + half);
    double total = 0;
    for (std::int64_t d = first; d <= last; ++d) total += noise[static_cast<std::size_t>(y - d + half)];
    if (total <= 0)
      throw InvalidValue("released number " + std::to_string(y) + " cannot come from any value",
                         "Values are numbered from 1, and the noise is at most max_noise/2.");
    for (std::int64_t d = first; d <= last; ++d)
      posterior[static_cast<std::size_t>(d - 1)] += noise[static_cast<std::size_t>(y - d + half)] / total;
  }
  for (double& p : posterior) p /= static_cast<double>(released.size());
  return posterior;
}

std::int64_t DrawBinomialNoise(std::int64_t max_noise, RandomSource& random) {
  std::int64_t ones = 0;
  std::int64_t left = max_noise;
  for (; left >= 64; left -= 64) ones += __builtin_popcountll(random.Word());
  if (left > 0) ones += __builtin_popcountll(random.Word() & ((std::uint64_t{1} << left) - 1));
  return ones - max_noise / 2;
}

void AddBetween(std::int64_t lower, std::int64_t upper, double weight, std::vector<double>* probabilities) {
  const double share = weight / static_cast<double>(upper - lower + 1);
  for (std::int64_t d = lower; d <= upper; ++d) (*probabilities)[static_cast<std::size_t>(d)] += share;
}

std::vector<ValueRange> ShiftedSumBounds(const std::vector<std::int64_t>& values, std::int64_t l, std::int64_t low,
                                         std::int64_t high) {
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<ValueRange> bounds(values.size(), {low, high});
  const std::int64_t blocks = n / l;
  if (blocks < 2) return bounds;
  // Block sums: B_0 = t, B_1 = a_0 - t, B_2 = a_1 - a_0 + t, ...: known offset plus or minus t, each in [l low, l
  // high].
  std::vector<std::int64_t> offset(static_cast<std::size_t>(blocks));
  std::int64_t t_low = l * low;
  std::int64_t t_high = l * high;
  const auto block_sum = [&](std::int64_t j) {
    return std::accumulate(values.begin() + j * l, values.begin() + (j + 1) * l, std::int64_t{0});
  };
  std::int64_t before = block_sum(0);
  for (std::int64_t j = 1; j < blocks; ++j) {
    const std::int64_t own = block_sum(j);
    const auto at = static_cast<std::size_t>(j);
    offset[at] = before + own - offset[at - 1];
    before = own;
    const bool falling = j % 2 != 0;  // B_j = offset - t
    const std::int64_t least = falling ? offset[at] - l * high : l * low - offset[at];
    const std::int64_t most = falling ? offset[at] - l * low : l * high - offset[at];
    t_low = std::max(t_low, least);
    t_high = std::min(t_high, most);
  }
  for (std::int64_t j = 0; j < blocks; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const bool falling = j % 2 != 0;
    const std::int64_t least = falling ? offset[at] - t_high : offset[at] + t_low;
    const std::int64_t most = falling ? offset[at] - t_low : offset[at] + t_high;
    // One record of the block against all others at an end of their range.
    const ValueRange range = {std::max(low, least - (l - 1) * high), std::min(high, most - (l - 1) * low)};
    for (std::int64_t i = j * l; i < (j + 1) * l; ++i) bounds[static_cast<std::size_t>(i)] = range;
  }
  return bounds;
}

}  // namespace privacy_score
