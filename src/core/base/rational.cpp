/*
 * rational.cpp - exact rational numbers and how they are read (see rational.hpp).
 */
#include "core/base/rational.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMaxLength = 1000;
constexpr int kMaxExponent = 1000;
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Takes the digits at the front of `text` onto `digits`; returns how many there were.
int TakeDigits(std::string_view& text, std::string& digits) {
  int count = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++count)
    digits.push_back(text.front());
  return count;
}

// Reads a decimal; false when it is none.
bool ParseDecimal(std::string_view text, Rational& value) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::string digits;
  int count = TakeDigits(text, digits);
  int exponent = 0;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const int decimals = TakeDigits(text, digits);
    count += decimals;
    exponent = -decimals;
  }
  if (count == 0) return false;
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(1);
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    int written = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), written);
    if (fault != std::errc() || written > kMaxExponent || written < -kMaxExponent) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    exponent += written;
  }
  if (!text.empty()) return false;
  // A leading zero would make the string constructor read octal.
  const std::size_t first = digits.find_first_not_of('0');
  Integer number = first == std::string::npos ? Integer(0) : Integer(digits.substr(first));
  if (negative) number = -number;
  value = exponent >= 0 ? Rational(number * PowerOfTen(exponent), 1) : Rational(number, PowerOfTen(-exponent));
  return true;
}

}  // namespace

Integer PowerOfTen(int exponent) { return boost::multiprecision::pow(Integer(10), static_cast<unsigned>(exponent)); }

Integer PowerOfTwo(unsigned exponent) {
  Integer power = 0;
  boost::multiprecision::bit_set(power, exponent);
  return power;
}

Rational::Rational(Integer numerator, Integer denominator)
    : numerator_(std::move(numerator)), denominator_(std::move(denominator)) {
  if (denominator_ == 0) throw Error("22012", "division by zero");
  if (denominator_ < 0) {
    numerator_ = -numerator_;
    denominator_ = -denominator_;
  }
  const Integer divisor = boost::multiprecision::gcd(numerator_, denominator_);
  if (divisor != 1) {
    numerator_ /= divisor;
    denominator_ /= divisor;
  }
}

Rational operator+(const Rational& a, const Rational& b) {
  return Rational(a.numerator_ * b.denominator_ + b.numerator_ * a.denominator_, a.denominator_ * b.denominator_);
}

Rational operator-(const Rational& a, const Rational& b) {
  return Rational(a.numerator_ * b.denominator_ - b.numerator_ * a.denominator_, a.denominator_ * b.denominator_);
}

Rational operator*(const Rational& a, const Rational& b) {
  return Rational(a.numerator_ * b.numerator_, a.denominator_ * b.denominator_);
}

Rational operator/(const Rational& a, const Rational& b) {
  return Rational(a.numerator_ * b.denominator_, a.denominator_ * b.numerator_);
}

Integer Floor(const Rational& value) {
  Integer quotient;
  Integer remainder;
  boost::multiprecision::divide_qr(value.numerator(), value.denominator(), quotient, remainder);
  if (remainder < 0) --quotient;  // the division cuts towards zero
  return quotient;
}

std::string DecimalTextOf(const Rational& value, int decimals, bool up) {
  const Rational scaled = value * Rational(PowerOfTen(decimals), 1);
  Integer whole = Floor(scaled);
  if (up && Rational(whole, 1) < scaled) ++whole;
  const bool negative = whole < 0;
  std::string digits = Integer(boost::multiprecision::abs(whole)).str();
  const auto places = static_cast<std::size_t>(decimals);
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  if (places > 0) {
    digits.insert(digits.size() - places, ".");
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  return (negative ? "-" : "") + digits;
}

// Both are cut to 64 bits first: their quotient may be a double although they are none themselves.
double ToDouble(const Rational& value) {
  if (value.numerator() == 0) return 0;
  const Integer magnitude = boost::multiprecision::abs(value.numerator());
  const int top_shift = std::max(0, static_cast<int>(boost::multiprecision::msb(magnitude)) - 63);
  const int bottom_shift = std::max(0, static_cast<int>(boost::multiprecision::msb(value.denominator())) - 63);
  const auto top = static_cast<long double>(static_cast<std::uint64_t>(magnitude >> top_shift));
  const auto bottom = static_cast<long double>(static_cast<std::uint64_t>(value.denominator() >> bottom_shift));
  const auto result = static_cast<double>(std::ldexp(top / bottom, top_shift - bottom_shift));
  return value.numerator() < 0 ? -result : result;
}

std::string TextOf(const Rational& value) {
  std::string text = value.numerator().str();
  if (value.denominator() != 1) text += "/" + value.denominator().str();
  return text;
}

Rational ParseRational(std::string_view parameter, std::string_view text) {
  const std::string_view trimmed = Trimmed(text);
  Rational value;
  bool is_good = trimmed.size() <= kMaxLength;
  if (is_good) {
    const std::size_t slash = trimmed.find('/');
    if (slash == std::string_view::npos) {
      is_good = ParseDecimal(trimmed, value);
    } else {
      Rational divisor;
      is_good = ParseDecimal(Trimmed(trimmed.substr(0, slash)), value) &&
                ParseDecimal(Trimmed(trimmed.substr(slash + 1)), divisor) && divisor != 0;
      if (is_good) value = value / divisor;
    }
  }
  if (!is_good) {
    const bool is_long = trimmed.size() > 60;
    throw InvalidValue(
        std::string(parameter) + " must be a decimal number or a fraction, not \"" +
            std::string(trimmed.substr(0, 60)) + (is_long ? "...\"" : "\""),
        "Write it as 0.29, 29e-2 or 1/3, with at most 1000 characters and exponents from -1000 to 1000.");
  }
  return value;
}

Rational RationalOf(std::string_view parameter, double value) {
  if (!std::isfinite(value)) {
    const char* what = std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
    throw InvalidValue(std::string(parameter) + " must be a finite number, not " + what,
                       "NaN and infinity cannot be computed with exactly.");
  }
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  // 53 bits make every double an integer times a power of two.
  const Integer digits(static_cast<std::int64_t>(std::ldexp(fraction, 53)));
  exponent -= 53;
  if (exponent >= 0) return Rational(digits << exponent, 1);
  return Rational(digits, PowerOfTwo(static_cast<unsigned>(-exponent)));
}

}  // namespace privacy_score
