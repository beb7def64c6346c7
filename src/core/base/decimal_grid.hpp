/*
 * decimal_grid.hpp - decimals as whole numbers of steps of one decimal grid, exactly.
 *
 * Values of a domain are compared, subtracted and added as integers, so that 0.1 + 0.2 is 0.3 and two releases are the
 * same exactly when they are written so.
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

__extension__ using Int128 = __int128;

// Sums of steps up to here, and differences of them, are far from the end of 64 bits.
constexpr Int128 kMostSteps = Int128{1} << 62;

// digits 10^-decimals, as written: 1.50 has two decimals. At most 36 digits.
struct Decimal {
  Int128 digits = 0;
  int decimals = 0;
};

// Reads a decimal number without exponent, as the server's numeric prints it. Throws Error 22023 that names `parameter`
// for anything else (NaN and infinities too) and 22003 for more than 36 digits.
Decimal ParseDecimal(const char* parameter, std::string_view text);

// The same number with no zeros at its end.
Decimal Shortest(Decimal value);

// value 10^decimals. Throws Error 22003 that names `parameter` when that has more than 36 digits.
Int128 StepsOf(const char* parameter, const Decimal& value, int decimals);

// A number as the server's numeric holds it: digits of base 10^4, the first of which counts 10^(4 weight); digits that
// are not there are 0. They need not be aligned.
struct MyriadNumber {
  const char* digits = nullptr;  // two bytes each
  int count = 0;
  int weight = 0;
  bool is_negative = false;
};

// value 10^decimals (0 to 18), rounded to the nearest, halves away from zero, and held within +-kMostSteps.
std::int64_t HeldStepsOf(const MyriadNumber& value, int decimals);

// The fewest decimals that all values can be written with.
int CommonDecimals(const std::vector<Decimal>& values);

// steps 10^-decimals as text, without zeros at the end of its fraction.
std::string DecimalText(Int128 steps, int decimals);

double DecimalValue(Int128 steps, int decimals);

// The greatest common divisor, not negative; 0 for two zeros.
Int128 CommonDivisor(Int128 a, Int128 b);

}  // namespace privacy_score
