/*
 * decimal_grid_test.cpp - reading, scaling and writing decimals.
 */
#include "core/base/decimal_grid.hpp"

#include <gtest/gtest.h>

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
