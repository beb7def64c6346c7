/*
 * sum_frequencies.hpp - what the other records come to, from the characteristic function of the tilted sum.
 *
 * Of all frequencies only those matter at which the product of the records' characteristic functions is above e^-46;
 * these are few and found by bisection. One record is left out by division.
 */
#pragma once

#include "core/loss/tilted_sum.hpp"

namespace privacy_score {

// `least` and `greatest` are those of the sum. A likelihood is wrong by a few units in the last place of the greatest
// that a value could have. Throws Paused.
Likelihoods OthersByFrequencies(const std::vector<std::int64_t>& images, const TiltedSum& tilted, std::int64_t least,
                                std::int64_t greatest, const ReleaseWeight& weight, const WorkControl& control);

}  // namespace privacy_score
