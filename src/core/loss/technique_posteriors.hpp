/*
 * technique_posteriors.hpp - what an intruder believes of a sensitive value once a technique of disclosure control has
 * been applied [Alfalayleh, Brankovic, appendix].
 *
 * The intruder knows how many records of the original match what is known of a person, and sees what the technique
 * shows of them. The domain is that of the sensitive attribute, its values numbered in ascending order.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/decimal_grid.hpp"
#include "core/base/paused.hpp"
#include "core/base/random_source.hpp"

namespace privacy_score {

// A simple random sample is released: f/|Mo| + (|Mo|-|Ms|)/(|Mo| |D|) for a value that f of the matching records in the
// sample have (printed with a product instead of the last quotient, which does not sum to one). Throws Error 22023
// unless matching >= 1 and at least as many as in the sample.
std::vector<double> SamplingProbabilities(const std::vector<std::int64_t>& counts, std::int64_t matching);

// How many records of a sample have each value of the domain, in its order. Throws Error 22023 when the domain is
// empty, has a value twice or lacks one of the sample; both are called what the arguments of sampling_probabilities()
// are.
std::vector<std::int64_t> CountsInDomain(const std::vector<Decimal>& domain, const std::vector<Decimal>& sample);

// How many of the records a sample has: that share of them, to the nearest whole number, of two equally near the
// greater one. Throws Error 22023 unless the fraction is greater than 0 and at most 1.
std::int64_t SampleSize(double fraction, std::int64_t records);

// The greatest noise M: percent of |D| - 1, to the nearest even number; of two equally near the greater one. Throws
// Error 22023 unless percent is from 0 to 1000.
std::int64_t MaxNoise(double percent, std::int64_t domain_size);

// Binomial noise: P(k - M/2) for k = 0 ... M, of Binomial(M, 1/2) - M/2. Throws Error 22023 unless M is even and from 0
// to 10^8.
std::vector<double> BinomialNoise(std::int64_t max_noise);

// Values numbered 1 ... domain_size were released with noise: the mean over the matching records, of which y was
// released for some, of P(noise = y - d)/sum over d' of P(noise = y - d'). Throws Error 22023 when a released number
// cannot come from any value, and Paused when `gives_up` says so, which is asked before each released number.
std::vector<double> NoisePosterior(std::int64_t domain_size, const std::vector<std::int64_t>& released,
                                   const std::vector<double>& noise, GivesUp gives_up = nullptr);

// One draw of that noise.
std::int64_t DrawBinomialNoise(std::int64_t max_noise, RandomSource& random);

// Answers to range sums bound a record to [lower, upper], in numbers of values: adds weight/(number of values in
// between) to each of these.
void AddBetween(std::int64_t lower, std::int64_t upper, double weight, std::vector<double>* probabilities);

// Least and greatest values that the answers leave each of n records, which are known to be numbers in [low, high],
// when all sums of 2 l consecutive records, each beginning l records behind the one before, are answered: floor(n/l) -
// 1 sums. Blocks of l records then differ only by one unknown, so the bounds are in closed form. Records behind the
// last sum stay unbounded. `values` are the true ones, from which the answers are made.
struct ValueRange {
  std::int64_t lower, upper;
};
std::vector<ValueRange> ShiftedSumBounds(const std::vector<std::int64_t>& values, std::int64_t l, std::int64_t low,
                                         std::int64_t high);

}  // namespace privacy_score
