/*
 * exponential_mechanism.hpp - one of several options, the better ones more likely.
 */
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "random_source.hpp"
#include "rational.hpp"

namespace privacy_score {

// Draws the place of an option with P(i) ~ exp(epsilon u_i/(2 sensitivity)) [McSherry, Talwar 2007], exactly: an option
// is picked uniformly and kept with probability exp(-epsilon (max u - u_i)/(2 sensitivity)), by coins that are exact
// for the rationals that the utilities are. The best option is always kept, so the expected number of picks is at most
// the number of options. `stop` is asked now and then; when it says so, Error 57014 is thrown. Throws Error 22023
// without an option, for a utility that is not finite, and unless epsilon and sensitivity are greater than zero.
std::size_t ChooseExponential(const std::vector<double>& utilities, const Rational& epsilon,
                              const Rational& sensitivity, RandomSource& random, const std::function<bool()>& stop);

}  // namespace privacy_score
