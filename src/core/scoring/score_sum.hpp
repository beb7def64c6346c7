/*
 * score_sum.hpp - a sum of scores in fixed point.
 *
 * It does not depend on the order of its terms, so that the live score equals the stored one to the last bit.
 */
#pragma once

#include <cmath>
#include <cstdint>

namespace privacy_score {

class ScoreSum {
 public:
  // Adds a score of at most 6 so many times; below zero takes it back.
  void Add(double score, std::int64_t times) { sum_ += static_cast<Sum>(std::llround(score * kUnits)) * times; }
  void Add(const ScoreSum& other) { sum_ += other.sum_; }
  double value() const {
    return static_cast<double>(static_cast<long double>(sum_) / static_cast<long double>(kUnits));
  }

 private:
  // The server's memory is aligned to eight bytes, and sums lie there, too.
  __extension__ using Sum __attribute__((aligned(8))) = __int128;
  // Units of 2^-60: a score of at most 6 fits 63 bits, and powers of two change an exponent and nothing else.
  static constexpr double kUnits = static_cast<double>(std::int64_t{1} << 60);

  Sum sum_ = 0;
};
static_assert(alignof(ScoreSum) <= 8);

}  // namespace privacy_score
