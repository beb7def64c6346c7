/*
 * exp_bounds_test.cpp - bounds of exp(-x): true, tight, and in agreement with the C library.
 */
#include "core/noise/exp_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace privacy_score {
namespace {

TEST(ExpBounds, EncloseWhatTheLibrarySays) {
  for (const double x : {0.0, 1e-12, 0.25, 0.5, 1.0, 3.7, 40.0, 700.0}) {
    const ExpBounds bounds = BoundExp(RationalOf("x", x), 1200);
    const Rational lower(bounds.lower, PowerOfTwo(1200));
    const Rational upper(bounds.upper, PowerOfTwo(1200));
    EXPECT_LE(lower, upper);
    EXPECT_NEAR(ToDouble(lower) / std::exp(-x), 1, 4e-16) << x;
    EXPECT_NEAR(ToDouble(upper) / std::exp(-x), 1, 4e-16) << x;
  }
}

// 1/e to 60 decimals.
TEST(ExpBounds, EncloseManyDigits) {
  const Rational reference = ParseRational("e", "0.367879441171442321595523770161460867445811131031767834507837");
  for (const unsigned bits : {8U, 64U, 128U, 180U}) {
    const ExpBounds bounds = BoundExp(Rational(1), bits);
    EXPECT_LE(Rational(bounds.lower, PowerOfTwo(bits)), reference + Rational(1, PowerOfTwo(198)));
    EXPECT_GE(Rational(bounds.upper, PowerOfTwo(bits)), reference - Rational(1, PowerOfTwo(198)));
  }
}

// Bounds at few bits enclose those at many bits, which a rounding in the wrong direction would break.
TEST(ExpBounds, NestAndStayTight) {
  for (const char* text : {"0", "1e-30", "1/3", "0.999999", "1", "17/4", "25", "127.9", "300", "1000000000000"}) {
    const Rational x = ParseRational("x", text);
    const ExpBounds fine = BoundExp(x, 4096);
    for (const unsigned bits : {1U, 16U, 100U, 128U, 1024U, 2048U}) {
      const ExpBounds coarse = BoundExp(x, bits);
      EXPECT_LE(coarse.lower << (4096 - bits), fine.lower) << text << " at " << bits;
      EXPECT_GE(coarse.upper << (4096 - bits), fine.upper) << text << " at " << bits;
      EXPECT_LE(coarse.upper - coarse.lower, 2) << text << " at " << bits;
    }
  }
}

TEST(ExpBounds, OfZeroIsOne) {
  const ExpBounds bounds = BoundExp(Rational(0), 100);
  EXPECT_EQ(bounds.lower, PowerOfTwo(100));
  EXPECT_EQ(bounds.upper, PowerOfTwo(100));
}

}  // namespace
}  // namespace privacy_score
