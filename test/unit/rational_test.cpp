/*
 * rational_test.cpp - exact rationals: arithmetic, reading, doubles.
 */
#include "core/base/rational.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

std::string Read(const std::string& text) { return TextOf(ParseRational("p", text)); }

TEST(Rational, KeepsLowestTermsAndSign) {
  EXPECT_EQ(TextOf(Rational(6, 4)), "3/2");
  EXPECT_EQ(TextOf(Rational(6, -4)), "-3/2");
  EXPECT_EQ(TextOf(Rational(-8, -4)), "2");
  EXPECT_EQ(TextOf(Rational(0, -7)), "0");
  EXPECT_EQ(ErrorOf([] { Rational(1, 0); }), "22012 division by zero");
}

TEST(Rational, Arithmetic) {
  const Rational third(1, 3);
  const Rational half(1, 2);
  EXPECT_EQ(TextOf(third + half), "5/6");
  EXPECT_EQ(TextOf(third - half), "-1/6");
  EXPECT_EQ(TextOf(third * half), "1/6");
  EXPECT_EQ(TextOf(third / half), "2/3");
  EXPECT_EQ(TextOf(half / Rational(-1, 3)), "-3/2");
  EXPECT_EQ(ErrorOf([&] { third / Rational(0); }), "22012 division by zero");
  EXPECT_LT(third, half);
  EXPECT_GT(Rational(-1, 3), Rational(-1, 2));
  EXPECT_LE(half, Rational(2, 4));
  EXPECT_GE(half, Rational(2, 4));
  EXPECT_NE(third, half);
}

TEST(Rational, FloorRoundsDown) {
  EXPECT_EQ(Floor(Rational(7, 2)), 3);
  EXPECT_EQ(Floor(Rational(-7, 2)), -4);
  EXPECT_EQ(Floor(Rational(-4, 2)), -2);
  EXPECT_EQ(Floor(Rational(0)), 0);
}

// Thresholds of releases: floor(f S) must be exact.
TEST(Rational, FloorOfProductsIsThatOfTheDecimals) {
  EXPECT_EQ(Floor(ParseRational("f", "0.29") * Rational(100)), 29);
  EXPECT_EQ(Floor(ParseRational("f", "1/3") * Rational(3)), 1);
  EXPECT_EQ(Floor(ParseRational("f", "0.333") * Rational(3)), 0);
}

TEST(Rational, ReadsDecimalsAndFractions) {
  EXPECT_EQ(Read("0.29"), "29/100");
  EXPECT_EQ(Read(".5"), "1/2");
  EXPECT_EQ(Read("5."), "5");
  EXPECT_EQ(Read("-0.125"), "-1/8");
  EXPECT_EQ(Read("+3"), "3");
  EXPECT_EQ(Read("1e3"), "1000");
  EXPECT_EQ(Read("1.5E+1"), "15");
  EXPECT_EQ(Read("25e-4"), "1/400");
  EXPECT_EQ(Read("010"), "10");  // not octal
  EXPECT_EQ(Read("0"), "0");
  EXPECT_EQ(Read("0.000"), "0");
  EXPECT_EQ(Read(" 1 / 3 "), "1/3");
  EXPECT_EQ(Read("0.2/-0.3"), "-2/3");
  EXPECT_EQ(Read("0.100000000000000000000000000001"), "100000000000000000000000000001/1000000000000000000000000000000");
  EXPECT_EQ(ParseRational("p", "1e-1000").denominator(), boost::multiprecision::pow(Integer(10), 1000));
  EXPECT_EQ(Read(std::string(999, '0') + "7"), "7");
}

TEST(Rational, RefusesAnythingElse) {
  for (const char* text : {"",    " ",     ".",   "-",     "NaN",    "Infinity", "1/0",           "1/",
                           "/3",  "1/2/3", "1e",  "1e+-3", "1e1001", "1e-1001",  "1e99999999999", "0x10",
                           "1,5", "1 2",   "--1", "e5",    "1_000"})
    EXPECT_EQ(ErrorOf([&] { ParseRational("theta", text); }).substr(0, 63),
              (std::string("22023 theta must be a decimal number or a fraction, not \"") +
               (std::string(text) == " " ? "" : text) + "\"")
                  .substr(0, 63))
        << text;
  const std::string error = ErrorOf([] { ParseRational("theta", std::string(1001, '1')); });
  EXPECT_EQ(error, "22023 theta must be a decimal number or a fraction, not \"" + std::string(60, '1') + "...\"");
}

TEST(Rational, DoublesAreExact) {
  EXPECT_EQ(TextOf(RationalOf("p", 0.5)), "1/2");
  EXPECT_EQ(TextOf(RationalOf("p", -3.0)), "-3");
  EXPECT_EQ(TextOf(RationalOf("p", -0.0)), "0");
  EXPECT_EQ(TextOf(RationalOf("p", 0.1)), "3602879701896397/36028797018963968");
  EXPECT_EQ(RationalOf("p", std::numeric_limits<double>::denorm_min()), Rational(1, PowerOfTwo(1074)));
  EXPECT_EQ(RationalOf("p", std::ldexp(1.0, 1000)), Rational(PowerOfTwo(1000), 1));
  EXPECT_EQ(ErrorOf([] { RationalOf("p", std::nan("")); }), "22023 p must be a finite number, not NaN");
  EXPECT_EQ(ErrorOf([] { RationalOf("p", -INFINITY); }), "22023 p must be a finite number, not -Infinity");
}

TEST(Rational, NearestDoubles) {
  for (const double value : {0.1, -1.0 / 3, 1e300, 1e-300, 12345.678, 0.0})
    EXPECT_DOUBLE_EQ(ToDouble(RationalOf("p", value)), value);
  EXPECT_DOUBLE_EQ(ToDouble(ParseRational("p", "1e-1000") * ParseRational("p", "1e999")), 0.1);
  EXPECT_DOUBLE_EQ(ToDouble(Rational(2, 3)), 2.0 / 3);
  EXPECT_EQ(ToDouble(ParseRational("p", "1e-1000")), 0);
}

}  // namespace
}  // namespace privacy_score
