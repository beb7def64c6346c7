/*
 * decimal_grid.cpp - see decimal_grid.hpp.
 */
#include "core/base/decimal_grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr int kMostDigits = 36;

__extension__ using UnsignedInt128 = unsigned __int128;

constexpr int kDigitsOfMyriad = 4;
constexpr std::array<std::uint32_t, kDigitsOfMyriad + 1> kPowers = {1, 10, 100, 1000, 10000};

// The size of a number in steps, held at kMostSteps; see HeldStepsOf().
template <typename Unsigned>
Unsigned StepsBelow(const MyriadNumber& value, int end, int decimals) {
  const auto digit_at = [&](int place) -> std::uint32_t {
    if (place < 0 || place >= value.count) return 0;
    std::uint16_t digit;
    std::memcpy(&digit, value.digits + place * static_cast<int>(sizeof digit), sizeof digit);
    return digit;
  };
  constexpr auto kMost = static_cast<Unsigned>(kMostSteps);
  const auto rest = static_cast<std::size_t>(decimals % kDigitsOfMyriad);
  Unsigned steps = 0;
  for (int place = 0; place < end && steps < kMost; ++place) steps = steps * kPowers[kDigitsOfMyriad] + digit_at(place);
  if (end >= 0 && steps < kMost) {
    const std::uint32_t last = digit_at(end);
    const std::uint32_t unit = kPowers[kDigitsOfMyriad - rest];
    steps = steps * kPowers[rest] + last / unit + (last % unit >= unit / 2 ? 1 : 0);
  }
  return std::min(steps, kMost);
}

// 10^36: what a number of steps stays below.
Int128 Limit() {
  Int128 limit = 1;
  for (int i = 0; i < kMostDigits; ++i) limit *= 10;
  return limit;
}

Error TooManyDigits(const char* parameter) {
  return Error("22003",
               std::string(parameter) + " has more than " + std::to_string(kMostDigits) + " digits on a common grid",
               "Round the values to fewer decimals.");
}

Error NoDecimal(const char* parameter, std::string_view text) {
  return InvalidValue(std::string(parameter) + " must be a finite number, not " + std::string(text.substr(0, 60)),
                      "Leave out what is not known.");
}

Int128 Times10(const char* parameter, Int128 value) {
  static const Int128 limit = Limit();
  if (value >= limit / 10 || value <= -limit / 10) throw TooManyDigits(parameter);
  return value * 10;
}

}  // namespace

Decimal ParseDecimal(const char* parameter, std::string_view text) {
  Decimal value;
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) ++at;
  bool point = false;
  bool digit = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !point) {
      point = true;
      continue;
    }
    if (text[at] < '0' || text[at] > '9') throw NoDecimal(parameter, text);
    digit = true;
    value.digits = Times10(parameter, value.digits) + (text[at] - '0');
    if (point) ++value.decimals;
  }
  if (!digit) throw NoDecimal(parameter, text);
  if (negative) value.digits = -value.digits;
  return value;
}

Decimal Shortest(Decimal value) {
  while (value.decimals > 0 && value.digits % 10 == 0) {
    value.digits /= 10;
    --value.decimals;
  }
  return value;
}

Int128 StepsOf(const char* parameter, const Decimal& value, int decimals) {
  Int128 steps = value.digits;
  int at = value.decimals;
  for (; at > decimals && steps % 10 == 0; --at) steps /= 10;
  if (at > decimals) throw TooManyDigits(parameter);
  for (; at < decimals; ++at) steps = Times10(parameter, steps);
  return steps;
}

std::int64_t HeldStepsOf(const MyriadNumber& value, int decimals) {
  // Digits up to `end` count as they are; of that one some decimals do, and the next of it rounds.
  const int end = value.weight + 1 + decimals / kDigitsOfMyriad;
  // Four digits of base 10^4 are far from the end of 64 bits.
  const auto size = static_cast<std::int64_t>(end < 4 ? StepsBelow<std::uint64_t>(value, end, decimals)
                                                      : StepsBelow<UnsignedInt128>(value, end, decimals));
  return value.is_negative ? -size : size;
}

int CommonDecimals(const std::vector<Decimal>& values) {
  int decimals = 0;
  for (const Decimal& value : values) decimals = std::max(decimals, Shortest(value).decimals);
  return decimals;
}

std::string DecimalText(Int128 steps, int decimals) {
  const Decimal shortest = Shortest({steps, decimals});
  Int128 rest = shortest.digits < 0 ? -shortest.digits : shortest.digits;
  std::string text;
  for (int i = 0; rest > 0 || i <= shortest.decimals; ++i) {
    if (i == shortest.decimals && i > 0) text += '.';
    text += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (shortest.digits < 0) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

double DecimalValue(Int128 steps, int decimals) {
  return static_cast<double>(static_cast<long double>(steps) / std::pow(10.0L, decimals));
}

Int128 CommonDivisor(Int128 a, Int128 b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace privacy_score
