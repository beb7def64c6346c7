/*
 * decimal_grid_test.cpp - reading, scaling and writing decimals.
 */
#include "core/base/decimal_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

std::string Written(const char* text) {
  const Decimal value = ParseDecimal("value", text);
  return DecimalText(value.digits, value.decimals);
}

TEST(DecimalGrid, ReadsAndWrites) {
  EXPECT_EQ(Written("0"), "0");
  EXPECT_EQ(Written("-0.00"), "0");
  EXPECT_EQ(Written("12.340"), "12.34");
  EXPECT_EQ(Written("-0.05"), "-0.05");
  EXPECT_EQ(Written("100"), "100");
  EXPECT_EQ(Written(".5"), "0.5");
  EXPECT_EQ(Written("123456789012345678901234567890.123456"), "123456789012345678901234567890.123456");
  EXPECT_EQ(ParseDecimal("value", "1.50").decimals, 2);
  EXPECT_DOUBLE_EQ(DecimalValue(-225, 2), -2.25);
}

TEST(DecimalGrid, CommonGrid) {
  const std::vector<Decimal> values = {ParseDecimal("v", "0.5"), ParseDecimal("v", "-1"), ParseDecimal("v", "2.2500")};
  ASSERT_EQ(CommonDecimals(values), 2);
  EXPECT_TRUE(StepsOf("v", values[0], 2) == 50);
  EXPECT_TRUE(StepsOf("v", values[1], 2) == -100);
  EXPECT_TRUE(StepsOf("v", values[2], 2) == 225);
  EXPECT_TRUE(CommonDivisor(-50, 225) == 25);
  EXPECT_TRUE(CommonDivisor(0, 0) == 0);
}

// Digits of base 10^4 of a number without a sign, as the server has them: none at the ends is 0.
std::vector<std::uint16_t> MyriadsOf(const std::string& whole, const std::string& fraction, int* weight) {
  const std::string padded =
      std::string((4 - whole.size() % 4) % 4, '0') + whole + fraction + std::string((4 - fraction.size() % 4) % 4, '0');
  std::vector<std::uint16_t> digits;
  for (std::size_t i = 0; i < padded.size(); i += 4)
    digits.push_back(static_cast<std::uint16_t>(std::stoi(padded.substr(i, 4))));
  *weight = static_cast<int>((whole.size() + 3) / 4) - 1;
  while (!digits.empty() && digits.front() == 0) {
    digits.erase(digits.begin());
    --*weight;
  }
  while (!digits.empty() && digits.back() == 0) digits.pop_back();
  if (digits.empty()) *weight = 0;
  return digits;
}

std::int64_t HeldSteps(const std::string& whole, const std::string& fraction, bool is_negative, int decimals) {
  int weight = 0;
  const std::vector<std::uint16_t> digits = MyriadsOf(whole, fraction, &weight);
  std::string bytes(1, '?');  // not aligned
  bytes.append(reinterpret_cast<const char*>(digits.data()), digits.size() * sizeof digits[0]);
  return HeldStepsOf({bytes.data() + 1, static_cast<int>(digits.size()), weight, is_negative}, decimals);
}

TEST(DecimalGrid, StepsOfTheServersDigits) {
  EXPECT_EQ(HeldSteps("0", "", false, 6), 0);
  EXPECT_EQ(HeldSteps("12", "345", false, 2), 1235);
  EXPECT_EQ(HeldSteps("12", "345", true, 2), -1235);
  EXPECT_EQ(HeldSteps("12", "3449999", false, 2), 1234);
  EXPECT_EQ(HeldSteps("0", "00001234", false, 6), 12);
  EXPECT_EQ(HeldSteps("0", "000000004", false, 6), 0);
  EXPECT_EQ(HeldSteps("9999", "5", false, 0), 10000);
  EXPECT_EQ(HeldSteps("4611686018427387903", "4", false, 0), 4611686018427387903);
  EXPECT_EQ(HeldSteps("4611686018427387903", "5", false, 0), std::int64_t{1} << 62);
  EXPECT_EQ(HeldSteps("1" + std::string(40, '0'), "", true, 0), -(std::int64_t{1} << 62));
}

TEST(DecimalGrid, StepsOfTheServersDigitsAreThoseOfTheText) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto digits_of = [&](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
      text.push_back(static_cast<char>(random() % 3 == 0 ? '0' : '0' + random() % 10));
    return text;
  };
  for (int round = 0; round < 20000; ++round) {
    const std::string whole = "1" + digits_of(random() % 14);
    const std::string fraction = digits_of(random() % 19);
    const int decimals = static_cast<int>(random() % 19);
    const bool is_negative = random() % 2 == 0;
    // One digit more than wanted, which rounds.
    std::string longer = fraction + std::string(20, '0');
    longer.resize(static_cast<std::size_t>(decimals) + 1);
    Int128 expected = ParseDecimal("value", whole + longer).digits;
    expected = std::min<Int128>((expected + 5) / 10, kMostSteps);
    ASSERT_EQ(HeldSteps(whole, fraction, is_negative, decimals),
              static_cast<std::int64_t>(is_negative ? -expected : expected))
        << whole << "." << fraction << " with " << decimals;
  }
}

TEST(DecimalGrid, Refusals) {
  EXPECT_EQ(ErrorOf([] { ParseDecimal("released", "NaN"); }), "22023 released must be a finite number, not NaN");
  EXPECT_EQ(ErrorOf([] { ParseDecimal("released", "-Infinity"); }),
            "22023 released must be a finite number, not -Infinity");
  EXPECT_EQ(ErrorOf([] { ParseDecimal("released", ""); }), "22023 released must be a finite number, not ");
  EXPECT_EQ(ErrorOf([] { ParseDecimal("value", "1234567890123456789012345678901234567"); }),
            "22003 value has more than 36 digits on a common grid");
  EXPECT_EQ(ErrorOf([] { StepsOf("value", ParseDecimal("value", "123456789012345678901234567890"), 10); }),
            "22003 value has more than 36 digits on a common grid");
}

}  // namespace
}  // namespace privacy_score
