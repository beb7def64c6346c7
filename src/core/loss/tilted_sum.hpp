/*
 * tilted_sum.hpp - priors tilted so that a release becomes the expected one, and what both ways to a posterior take.
 */
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/loss/sum_law.hpp"

namespace privacy_score {

struct TiltedGroup {
  std::vector<double> probability;  // by image
  std::int64_t records;
  double mean;
  std::int64_t low, high;  // least and greatest image with a positive probability
};

struct TiltedSum {
  double theta = 0;
  double log_transform = 0;  // log E e^(theta S)
  double mean = 0;
  std::vector<TiltedGroup> groups;
};

// How much a sum t counts, as a function of t - released: 1 for the sum itself, with noise e^(-rate |j|) where the sum
// is released + step j; tilted back as the priors are tilted.
struct ReleaseWeight {
  std::int64_t released = 0;
  SumNoise noise;
  double theta = 0;

  double LogOf(std::int64_t j) const {
    return -noise.rate * std::abs(static_cast<double>(j)) -
           theta * static_cast<double>(noise.step) * static_cast<double>(j);
  }
};

// Tilts to the release; it lies strictly between the least and the greatest sum unless there is noise.
TiltedSum TiltTo(const std::vector<std::int64_t>& images, const std::vector<SumGroup>& groups, std::int64_t released,
                 const SumNoise& noise, const WorkControl& control);

// By group and image: proportional to the weight of what the other records come to. The factor is the same for all.
using Likelihoods = std::vector<std::vector<double>>;

}  // namespace privacy_score
