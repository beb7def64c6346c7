/*
 * noise_measures.hpp - what noisy answers still tell: the divergence of neighbours, and ratios of answers.
 */
#pragma once

#include <string_view>

namespace privacy_score {

// Kullback-Leibler divergence, in nats, between the answers to a count from two tables that differ in one record; at
// most epsilon. `mechanism` is 'discrete', epsilon (1-a)/(1+a) with a = exp(-epsilon), or 'laplace', epsilon +
// exp(-epsilon) - 1 [Dwork]. Throws Error 22023 for another mechanism and unless epsilon is finite and greater than
// zero.
double NeighbourDivergence(double epsilon, std::string_view mechanism);

// Mean and variance of y'/x', the ratio of two noisy counts x and y with Laplace noise of scale b = 1/epsilon each, by
// the delta method [Wang, theorem 2]: (y/x)(1 + 2(b/x)^2) and 2(b/x)^2 (1 + (y/x)^2). Good for b well below x; the
// moments themselves do not exist.
struct InferenceRatio {
  double true_ratio;
  double expected_ratio;
  double variance;
};

// Throws Error 22023 unless all are finite, x is not zero and epsilon is greater than zero.
InferenceRatio InferNoisyRatio(double x, double y, double epsilon);

}  // namespace privacy_score
