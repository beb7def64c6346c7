/*
 * exponential_mechanism.hpp - one of several options, the better ones more likely.
 */
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/paused.hpp"
#include "core/base/random_source.hpp"
#include "core/base/rational.hpp"

namespace privacy_score {

// Draws the place of an option with P(i) ~ exp(epsilon u_i/(2 sensitivity)) [McSherry, Talwar 2007], exactly: an option
// is picked uniformly and kept with probability exp(-epsilon (max u - u_i)/(2 sensitivity)), by coins that are exact
// for the rationals that the utilities are. The best option is always kept, so the expected number of picks is at most
// the number of options. Throws Paused when `gives_up` says so, which is asked now and then: begun anew, the choice has
// the same law. Throws Error 22023 without an option, for a utility that is not finite, and unless epsilon and
// sensitivity are greater than zero.
std::size_t ChooseExponential(const std::vector<double>& utilities, const Rational& epsilon,
                              const Rational& sensitivity, RandomSource& random, GivesUp gives_up = nullptr);

}  // namespace privacy_score
