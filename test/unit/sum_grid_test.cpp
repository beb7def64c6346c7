/*
 * sum_grid_test.cpp - the grid of a noisy sum: fine, within the sampler's range, and with the sensitivity of what is
 * really summed.
 */
#include "core/noise/sum_grid.hpp"

#include <gtest/gtest.h>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

Rational R(const char* text) { return ParseRational("r", text); }

TEST(SumGrid, WholeNumbersStayWhole) {
  const SumGrid ages = ChooseSumGrid(R("120"), 1, R("0.1"), 0);
  EXPECT_EQ(ages.decimals, 0);
  EXPECT_EQ(TextOf(ages.scale), "1200");
  const SumGrid of_units = ChooseSumGrid(R("120"), 3, R("0.1"), 0);
  EXPECT_EQ(TextOf(of_units.scale), "3600");
}

// A bound between two steps counts as the upper one: rounding can bring a value there.
TEST(SumGrid, SensitivityCoversTheRounding) {
  EXPECT_EQ(TextOf(ChooseSumGrid(R("120.2"), 1, Rational(1), 0).scale), "121");
  EXPECT_EQ(TextOf(ChooseSumGrid(R("0.001"), 1, Rational(1), 2).scale), "1");
  EXPECT_EQ(TextOf(ChooseSumGrid(R("1/3"), 1, Rational(1), 3).scale), "334");
}

TEST(SumGrid, IsAsFineAsTheSamplerAllows) {
  for (const char* magnitude : {"1e-300", "0.007", "1", "99.99", "123456789", "1e15", "7e300"})
    for (const char* epsilon : {"1e-9", "0.1", "1", "1000"})
      for (const std::int64_t rows : {1, 12}) {
        const SumGrid grid = ChooseSumGrid(R(magnitude), rows, R(epsilon), std::nullopt);
        EXPECT_LE(grid.scale, R("1e12"));
        EXPECT_GE(grid.scale, R("1e10")) << magnitude << " " << epsilon;
      }
}

TEST(SumGrid, LargeBoundsMakeCoarseGrids) {
  const SumGrid grid = ChooseSumGrid(R("1e18"), 1, Rational(1), 0);
  EXPECT_EQ(grid.decimals, -6);
  EXPECT_EQ(TextOf(grid.scale), "1000000000000");
  EXPECT_EQ(ChooseSumGrid(R("1e-18"), 1, Rational(1), std::nullopt).decimals, 30);
}

TEST(SumGrid, Refusals) {
  EXPECT_EQ(ErrorOf([] { ChooseSumGrid(R("0"), 1, Rational(1), 0); }), "22023 bounds must not both be zero");
  EXPECT_EQ(ErrorOf([] { ChooseSumGrid(R("1"), 0, Rational(1), 0); }),
            "22023 rows of a unit must be at least 1, not 0");
  EXPECT_EQ(ErrorOf([] { ChooseSumGrid(R("1"), 1, Rational(0), 0); }),
            "22023 epsilon must be greater than zero, not 0");
  // 10^15 rows a unit with epsilon 1e-12: not even one step a row.
  EXPECT_EQ(ErrorOf([] { ChooseSumGrid(R("1"), 1000000000000000, R("1e-12"), 0); }).substr(0, 55),
            "22023 scale of noise must be between 0.001 and 1e12, no");
}

TEST(SumGrid, StepsAsDecimals) {
  EXPECT_EQ(StepsText(-1234, 2), "-1234e-2");
  EXPECT_EQ(StepsText(7, -3), "7e3");
  EXPECT_EQ(StepsText(0, 0), "0e0");
  EXPECT_EQ(ParseRational("r", StepsText(-1234, 2)), R("-12.34"));
}

}  // namespace
}  // namespace privacy_score
