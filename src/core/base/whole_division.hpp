/*
 * whole_division.hpp - divisions of whole numbers that round to one side, and inverses modulo a number.
 */
#pragma once

#include <cstdint>
#include <utility>

namespace privacy_score {

// a/b rounded down, and rounded up.
template <typename Whole>
constexpr Whole FloorDivide(Whole a, Whole b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
template <typename Whole>
constexpr Whole CeilDivide(Whole a, Whole b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}

// The inverse of a modulo m, which have no common divisor; 0 for m = 1. From 0 to below m.
inline std::int64_t InverseModulo(std::int64_t a, std::int64_t m) {
  std::int64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const std::int64_t quotient = r0 / r1;
    r0 -= quotient * r1;
    std::swap(r0, r1);
    t0 -= quotient * t1;
    std::swap(t0, t1);
  }
  return ((t0 % m) + m) % m;
}

}  // namespace privacy_score
