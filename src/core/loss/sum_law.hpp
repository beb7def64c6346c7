/*
 * sum_law.hpp - what a released sum tells of each of the independent records that it is the sum of, exactly and without
 * enumerating databases.
 *
 * The posterior of a record is its prior times the probability that the others come to the rest. All priors are tilted
 * first, q(u) ~ p(u) e^(theta u), so that the released sum becomes the expected one: the posterior does not change, and
 * nothing underflows however unlikely the release is. The probabilities of the others then come from few convolutions
 * when few sums are possible (sum_convolution.hpp), else from the characteristic function at the frequencies where it
 * is not negligible (sum_frequencies.hpp).
 *
 * Values are non-negative integers, the images of the records' values on a grid. A noisy sum is one plus discrete
 * Laplace noise times a whole number of grid steps.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/paused.hpp"

namespace privacy_score {

// Records that share a prior: a probability for each image, summing to one.
struct SumGroup {
  std::vector<double> probability;
  std::int64_t records;
};

// P(k) ~ e^(-rate |k|); the release is the sum plus step k. No noise: step 0.
struct SumNoise {
  double rate = 0;
  std::int64_t step = 0;
};

// What a release tells. Nothing else is filled in when it is impossible.
struct SumPosterior {
  bool possible = false;
  double log_probability = 0;                    // of the release
  std::vector<std::vector<double>> probability;  // by group and image
};

class SumLaw {
 public:
  // Images are distinct, ascending and not negative. Throws Error 54000 when sums exceed 2^62.
  SumLaw(std::vector<std::int64_t> images, std::vector<SumGroup> groups);

  // Throws Error 54000 when the values lie on too fine a grid for the work to end, and Paused.
  SumPosterior Given(std::int64_t released, const SumNoise& noise, const WorkControl& control) const;

  std::int64_t least() const { return least_; }
  std::int64_t greatest() const { return greatest_; }
  // The expected sum, and a distance from it that sums exceed with probability below 1e-17 [Hoeffding].
  double mean() const { return mean_; }
  double reach() const { return reach_; }

 private:
  SumPosterior Extreme(bool least) const;

  std::vector<std::int64_t> images_;
  std::vector<SumGroup> groups_;
  std::vector<std::int64_t> low_, high_;  // by group: the images with a positive probability lie between
  std::int64_t least_ = 0;
  std::int64_t greatest_ = 0;
  double mean_ = 0;
  double reach_ = 0;
};

}  // namespace privacy_score
