/*
 * median_integrals.hpp - the law of the median of records with one prior, as integrals of positive functions.
 *
 * The records are taken as uniform numbers, each of which lies in the interval of its value; that the middle ones lie
 * in (b, a] is then an integral of their density over it, where the difference of two distribution functions would
 * cancel.
 */
#pragma once

#include <cstdint>

#include "core/loss/order_law.hpp"

namespace privacy_score {

// An interval of uniform numbers by both of its ends, each with its distance from 1.
struct UniformInterval {
  double low, low_rest;    // b and 1 - b
  double high, high_rest;  // a and 1 - a
  double width;            // a - b, as accurate as it is known
};

// Weights of a median whose middle value, or both of whose middle values, have this interval.
OrderWeights MedianWithin(std::int64_t records, const UniformInterval& interval);

// Of a median between two values: `first` and `last` are their intervals. The number of records is even.
OrderWeights MedianBetween(std::int64_t records, const UniformInterval& first, const UniformInterval& last);

}  // namespace privacy_score
