/*
 * noise_measures_test.cpp - divergence of neighbours and ratios of noisy answers; worked cases pub-037 to pub-043.
 */
#include "core/noise/noise_measures.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_fixture.hpp"
#include "law_fit.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::ProbabilityOf;
using testing_support::ProbabilityOfZero;

// pub-039: shift 1, scale 10.
TEST(NoiseMeasures, DivergenceOfLaplaceNoise) {
  EXPECT_NEAR(NeighbourDivergence(0.1, "laplace") / 0.00483741803596, 1, 1e-11);
  EXPECT_NEAR(NeighbourDivergence(2, "laplace"), 1 + std::exp(-2), 1e-15);
  // s^2/2 - s^3/6 where epsilon + exp(-epsilon) - 1 loses every digit.
  EXPECT_NEAR(NeighbourDivergence(1e-9, "laplace") / (5e-19 - 1e-27 / 6), 1, 1e-14);
  EXPECT_NEAR(NeighbourDivergence(0.5, "laplace") / NeighbourDivergence(0.5 + 1e-15, "laplace"), 1, 1e-13);
}

// pub-038: the law at epsilon 0.5, as the statistical tests have it.
TEST(NoiseMeasures, LawOfTheWorkedCase) {
  EXPECT_NEAR(static_cast<double>(ProbabilityOf(2, 2, 2)), 0.0901005406575, 1e-12);
  EXPECT_NEAR(static_cast<double>(ProbabilityOfZero(2)), 0.244918662404, 1e-12);
  EXPECT_NEAR(static_cast<double>(ProbabilityOf(2, 3, 3)), 0.0546487403655, 1e-12);
}

// Summed from the definition, over the law.
TEST(NoiseMeasures, DivergenceOfDiscreteNoise) {
  for (const double epsilon : {0.01, 0.1, 0.5, 1.0, 3.0}) {
    const auto scale = 1 / static_cast<long double>(epsilon);
    const auto p = [&](std::int64_t k) {
      return k == 0 ? ProbabilityOfZero(scale) : ProbabilityOf(scale, std::abs(k), std::abs(k));
    };
    long double sum = 0;
    const auto reach = static_cast<std::int64_t>(60 * scale) + 60;
    for (std::int64_t k = -reach; k <= reach; ++k) sum += p(k) * std::log(p(k) / p(k - 1));
    EXPECT_NEAR(NeighbourDivergence(epsilon, "discrete") / static_cast<double>(sum), 1, 1e-10) << epsilon;
    EXPECT_LE(NeighbourDivergence(epsilon, "discrete"), epsilon);
  }
  EXPECT_DOUBLE_EQ(NeighbourDivergence(1e-9, "discrete"), 5e-19);
  EXPECT_DOUBLE_EQ(NeighbourDivergence(1e300, "discrete"), 1e300);
}

// pub-042, pub-043 and the factors of set queries: b = 10.
TEST(NoiseMeasures, RatiosOfNoisyAnswers) {
  InferenceRatio ratio = InferNoisyRatio(100, 90, 0.1);
  EXPECT_DOUBLE_EQ(ratio.true_ratio, 0.9);
  EXPECT_NEAR(ratio.expected_ratio, 0.918, 1e-12);
  EXPECT_NEAR(ratio.expected_ratio / ratio.true_ratio, 1.02, 1e-12);
  EXPECT_NEAR(ratio.variance, 0.0362, 1e-12);
  ratio = InferNoisyRatio(1000, 900, 0.1);
  EXPECT_NEAR(ratio.expected_ratio, 0.90018, 1e-12);
  EXPECT_NEAR(ratio.expected_ratio / ratio.true_ratio, 1.0002, 1e-12);
  EXPECT_NEAR(ratio.variance, 0.000362, 1e-12);
}

TEST(NoiseMeasures, Refusals) {
  EXPECT_EQ(ErrorOf([] { NeighbourDivergence(0, "laplace"); }), "22023 epsilon must be greater than zero, not 0");
  EXPECT_EQ(ErrorOf([] { NeighbourDivergence(-1, "discrete"); }), "22023 epsilon must be greater than zero, not -1");
  EXPECT_EQ(ErrorOf([] { NeighbourDivergence(INFINITY, "laplace"); }),
            "22023 epsilon must be a finite number, not inf");
  EXPECT_EQ(ErrorOf([] { NeighbourDivergence(std::nan(""), "laplace"); }),
            "22023 epsilon must be a finite number, not nan");
  EXPECT_EQ(ErrorOf([] { NeighbourDivergence(1, "gauss"); }),
            "22023 mechanism must be \"discrete\" or \"laplace\", not \"gauss\"");
  EXPECT_EQ(ErrorOf([] { InferNoisyRatio(0, 1, 1); }), "22023 x must not be zero");
  EXPECT_EQ(ErrorOf([] { InferNoisyRatio(std::nan(""), 1, 1); }), "22023 x must be a finite number, not nan");
  EXPECT_EQ(ErrorOf([] { InferNoisyRatio(1, INFINITY, 1); }), "22023 y must be a finite number, not inf");
  EXPECT_EQ(ErrorOf([] { InferNoisyRatio(1, 1, 0); }), "22023 epsilon must be greater than zero, not 0");
}

}  // namespace
}  // namespace privacy_score
