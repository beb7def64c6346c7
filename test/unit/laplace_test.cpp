/*
 * laplace_test.cpp - Laplace noise on the reals: its grid, its law, worked case pub-037.
 */
#include "core/noise/laplace.hpp"

#include <gtest/gtest.h>

#include <random>

#include "error_fixture.hpp"
#include "law_fit.hpp"
#include "random_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::LawFit;
using testing_support::SeededRandom;

const int kDraws = testing_support::kSanitized ? 50000 : 1000000;

TEST(Laplace, TheStepIsAPowerOfTwo) {
  for (const double scale : {1e-290, 1e-9, 0.1, 1.0, 10.0, 16.0, 1e100, 1e290}) {
    int exponent = 0;
    EXPECT_EQ(std::frexp(LaplaceStep(scale), &exponent), 0.5) << scale;
    EXPECT_GE(LaplaceStep(scale), scale * 0x1p-39);
    EXPECT_LE(LaplaceStep(scale), scale * 0x1p-38);
  }
}

TEST(Laplace, ScalesHaveLimits) {
  SeededRandom random(1);
  EXPECT_EQ(ErrorOf([&] { DrawLaplace(0, random); }), "22023 scale must be between 1e-290 and 1e290, not 0");
  EXPECT_EQ(ErrorOf([&] { DrawLaplace(-1, random); }), "22023 scale must be between 1e-290 and 1e290, not -1");
  EXPECT_EQ(ErrorOf([&] { DrawLaplace(1e-291, random); }), "22023 scale must be between 1e-290 and 1e290, not 1e-291");
  EXPECT_EQ(ErrorOf([&] { DrawLaplace(1e291, random); }), "22023 scale must be between 1e-290 and 1e290, not 1e+291");
  EXPECT_EQ(ErrorOf([&] { DrawLaplace(INFINITY, random); }), "22023 scale must be between 1e-290 and 1e290, not inf");
  EXPECT_EQ(ErrorOf([&] { DrawLaplace(std::nan(""), random); }),
            "22023 scale must be between 1e-290 and 1e290, not nan");
  for (const double scale : {1e-290, 1e290}) EXPECT_TRUE(std::isnormal(DrawLaplace(scale, random)));
}

// Every draw is a whole number of steps, and the steps follow the discrete law: three chi-square tests, of which a
// right sampler fails one with probability 3e-9.
TEST(Laplace, StepsFollowTheDiscreteLaw) {
  const std::uint64_t seed = std::random_device()();
  SeededRandom random(seed);
  const double scale = 10;
  const double step = LaplaceStep(scale);
  LawFit fit(static_cast<long double>(scale / step), kDraws);
  for (int i = 0; i < kDraws; ++i) {
    const double steps = DrawLaplace(scale, random) / step;
    ASSERT_EQ(steps, std::floor(steps));
    fit.Add(static_cast<std::int64_t>(steps));
  }
  EXPECT_GT(fit.Worst().first, 1e-9) << fit.Worst().second << ", seed " << seed;
}

// pub-037: true answer 10, scale 10, variance 200, distribution function at 0, 10 and 25; 6.5 standard deviations each.
TEST(Laplace, WorkedCase) {
  const std::uint64_t seed = std::random_device()();
  SeededRandom random(seed);
  const double points[] = {0, 10, 25};
  const double cdf[] = {0.183939720586, 0.5, 0.888434919926};
  int below[3] = {};
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double noise = DrawLaplace(10, random);
    squares += noise * noise;
    for (int p = 0; p < 3; ++p) below[p] += 10 + noise <= points[p];
  }
  for (int p = 0; p < 3; ++p)
    EXPECT_NEAR(below[p], cdf[p] * kDraws, 6.5 * std::sqrt(cdf[p] * (1 - cdf[p]) * kDraws)) << "seed " << seed;
  // The variance of a squared Laplace variable is 20 scale^4. Its tail is heavier than the normal: 9 deviations.
  EXPECT_NEAR(squares / kDraws, 200, 9 * std::sqrt(20 * 1e4 / kDraws)) << "seed " << seed;
}

}  // namespace
}  // namespace privacy_score
