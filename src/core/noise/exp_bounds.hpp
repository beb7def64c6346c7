/*
 * exp_bounds.hpp - bounds of exp(-x) for rational x, as tight as one likes.
 */
#pragma once

#include "core/base/rational.hpp"

namespace privacy_score {

// lower <= exp(-x) 2^bits <= upper.
struct ExpBounds {
  Integer lower;
  Integer upper;
};

// Bounds of exp(-x), x >= 0, with upper - lower at most 2 (so an absolute error below 2^(1-bits)).
ExpBounds BoundExp(const Rational& x, unsigned bits);

}  // namespace privacy_score
