/*
 * sum_convolution.hpp - what the other records come to, by convolution: sums of positive terms only, so that every
 * probability has full relative accuracy; for where few sums are possible.
 */
#pragma once

#include "core/loss/tilted_sum.hpp"

namespace privacy_score {

// How many products ConvolveOthers takes at most.
double ConvolutionWork(const std::vector<std::int64_t>& images, const TiltedSum& tilted);

// Throws Error 54000 when the sums do not fit into memory, and Paused.
Likelihoods ConvolveOthers(const std::vector<std::int64_t>& images, const TiltedSum& tilted,
                           const ReleaseWeight& weight, const WorkControl& control);

}  // namespace privacy_score
