/*
 * binary_loss_test.cpp - worked cases pub-007 to pub-011, and the expectation summed by the definition.
 */
#include "core/loss/binary_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

TEST(BinaryLoss, WorkedCases) {
  EXPECT_EQ(BinaryLoss(4, 2), 0);
  EXPECT_NEAR(BinaryLoss(10, 3), 0.118709100769, 1e-12);
  EXPECT_EQ(BinaryLoss(5, 0), 1);
  EXPECT_EQ(BinaryLoss(5, 5), 1);
  EXPECT_NEAR(ExpectedBinaryLoss(1), 1, 1e-15);
  EXPECT_NEAR(ExpectedBinaryLoss(2), 0.5, 1e-15);
  EXPECT_NEAR(ExpectedBinaryLoss(5), 0.167553348814, 1e-12);
}

// Where the entropy is nearly 1 the loss keeps its digits: 1/(2 ln 2) y^2 with y = (2k-n)/n.
TEST(BinaryLoss, NearTheMiddle) {
  EXPECT_NEAR(BinaryLoss(2'000'000'000, 1'000'000'001) / (1e-18 / (2 * M_LN2)), 1, 1e-14);
  const double y = 0.2;
  const double wanted = ((1 + y) * std::log1p(y) + (1 - y) * std::log1p(-y)) / (2 * M_LN2);
  EXPECT_NEAR(BinaryLoss(10, 6) / wanted, 1, 1e-14);
}

TEST(BinaryLoss, Expectation) {
  for (const std::int64_t n : {3, 4, 10, 57, 400, 1001}) {
    long double sum = 0;
    for (std::int64_t k = 0; k <= n; ++k)
      sum += std::exp(std::lgamma(n + 1.0L) - std::lgamma(k + 1.0L) - std::lgamma(n - k + 1.0L) - n * M_LN2) *
             static_cast<long double>(BinaryLoss(n, k));
    EXPECT_NEAR(ExpectedBinaryLoss(n) / static_cast<double>(sum), 1, 1e-13) << n;
  }
  // A million records, and where the expansion takes over.
  EXPECT_NEAR(ExpectedBinaryLoss(1'000'000) * 2e6 * M_LN2, 1 + 0.5e-6, 1e-11);
  EXPECT_NEAR(ExpectedBinaryLoss(29'999'999) * 29'999'999 / (ExpectedBinaryLoss(30'000'000) * 30'000'000), 1, 1e-14);
}

TEST(BinaryLoss, Refusals) {
  EXPECT_EQ(ErrorOf([] { BinaryLoss(0, 0); }), "22023 n must be at least 1, not 0");
  EXPECT_EQ(ErrorOf([] { BinaryLoss(3, 4); }), "22023 k must be from 0 to n = 3, not 4");
  EXPECT_EQ(ErrorOf([] { BinaryLoss(3, -1); }), "22023 k must be from 0 to n = 3, not -1");
  EXPECT_EQ(ErrorOf([] { ExpectedBinaryLoss(-5); }), "22023 n must be at least 1, not -5");
}

}  // namespace
}  // namespace privacy_score
