/*
 * norm_histogram.hpp - how much of a person's contribution counts: a private choice of the bound t.
 *
 * The histogram of norms (clipped_sums.hpp) gets discrete Laplace noise of scale 1/epsilon_T in each bin, since one
 * person is in one bin. All else here is a function of the noisy histogram and costs nothing: which bins hold anybody,
 * how the tail goes on, and which power of two is the best bound, where what is left out and the noise together are
 * least.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random_source.hpp"
#include "core/base/rational.hpp"
#include "core/private_sql/clipped_sums.hpp"

namespace privacy_score {

// The shares of the bins in a larger population of the same shape (the level without WHERE on private columns), from
// a noisy histogram of its own: they add up to 1. Empty: there is none.
using NormReference = std::vector<double>;

struct NormBound {
  int log_bound = 0;    // t = 2^log_bound
  double left_out = 0;  // the share of all contributions that is estimated to be beyond the bound, 0 to 1
};

// What the reference's own histogram costs, once for a norm of a level's shape.
constexpr const char* kReferenceEpsilon = "0.05";

// Adds the noise: the only step that reads what is private. Throws Error 22023 when epsilon makes no law.
NormBins NoisyNorms(const NormBins& bins, const Rational& epsilon, RandomSource& random);

// How many persons are taken to be in each bin of a noisy histogram.
//   seen: H_b >= (ln 5 + b ln 2)/epsilon; an empty bin seems seen with probability 2^-b/10, and costs noise 2^b then.
//   Above the greatest seen bin nobody is, but if it has less than 0.6 of the one before it, three more bins go on at
//   that ratio, held at what would have been seen.
//   Where no bin is seen, or n epsilon < 22 for n = max(0, sum of H up to the greatest bin of the reference, or the
//   greatest seen one if that is beyond it) + 2/epsilon, the reference's shares of n stand for the bins: errs towards
//   more noise, which intervals tell, not towards bias. The reference's own noise may have hidden its greatest bin;
//   those whom the histogram shows beyond it count. One false bin alone adds less than 22/epsilon to n.
std::vector<double> EstimatedNorms(const NormBins& noisy, double epsilon, const NormReference& reference);

// The shares of a reference, from its own noisy histogram; empty when no bin is seen.
NormReference ReferenceOf(const NormBins& noisy, double epsilon);

// t = 2^j that minimises sum over b > j of H_b max(0, m_b - 2^j) + groups 2^j/epsilon, where m_b is the middle of bin b
// (0.75 2^b + 0.5, exact for whole norms that are spread evenly over it) and epsilon that of the measure.
NormBound ChooseNormBound(const NormBins& noisy, const Rational& histogram_epsilon, const NormReference& reference,
                          std::int64_t groups, const Rational& measure_epsilon);

}  // namespace privacy_score
