/*
 * rational.hpp - exact rational numbers of any size.
 *
 * Privacy parameters and thresholds are read as the decimal that was written, never as the nearest double:
 * 0.29 * 100 is exactly 29.
 * Not for inner loops: each operation allocates.
 */
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace privacy_score {

// Signed, of any size. Without expression templates, so that `auto` holds a value.
using Integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;

Integer PowerOfTwo(unsigned exponent);
Integer PowerOfTen(int exponent);  // not negative

// A value in lowest terms; the denominator is greater than zero.
class Rational {
 public:
  Rational() : denominator_(1) {}
  Rational(std::int64_t value) : numerator_(value), denominator_(1) {}  // NOLINT: a number is a rational
  // Throws Error 22012 when the denominator is zero.
  Rational(Integer numerator, Integer denominator);

  const Integer& numerator() const { return numerator_; }
  const Integer& denominator() const { return denominator_; }

  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  // Throws Error 22012 when b is zero.
  friend Rational operator/(const Rational& a, const Rational& b);
  friend bool operator==(const Rational& a, const Rational& b) {
    return a.numerator_ == b.numerator_ && a.denominator_ == b.denominator_;
  }
  friend bool operator!=(const Rational& a, const Rational& b) { return !(a == b); }
  friend bool operator<(const Rational& a, const Rational& b) {
    return a.numerator_ * b.denominator_ < b.numerator_ * a.denominator_;
  }
  friend bool operator>(const Rational& a, const Rational& b) { return b < a; }
  friend bool operator<=(const Rational& a, const Rational& b) { return !(b < a); }
  friend bool operator>=(const Rational& a, const Rational& b) { return !(a < b); }

 private:
  Integer numerator_;
  Integer denominator_;
};

// The greatest integer that is not greater.
Integer Floor(const Rational& value);

// The nearest double, up to one unit in the last place; for estimates and display only.
double ToDouble(const Rational& value);

// 3, -29/100.
std::string TextOf(const Rational& value);

// As a decimal with at most `decimals` places and no zeros at the end; what has more places is rounded down, or up.
std::string DecimalTextOf(const Rational& value, int decimals, bool up);

// Reads a decimal (12, -0.29, .5, 1e-3) or a fraction of two decimals (1/3). Throws Error 22023 that names `parameter`
// for anything else, NaN and infinity included, and for more than 1000 characters or an exponent beyond 1000.
Rational ParseRational(std::string_view parameter, std::string_view text);

// The value of a double, exactly. Throws Error 22023 that names `parameter` when it is not finite.
Rational RationalOf(std::string_view parameter, double value);

}  // namespace privacy_score
