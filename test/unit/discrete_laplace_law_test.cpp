/*
 * discrete_laplace_law_test.cpp - draws follow the discrete Laplace law, and samplers that do not are caught.
 *
 * A million draws for each of nine scales, seeded anew in each run. A right sampler fails one of the 22 chi-square
 * tests with probability below 22 * 1e-9 a run, and the neighbour test below 1e-8. The broken samplers would
 * pass with about the same probability. Under the sanitizers a tenth of the draws, and coarser faults.
 */
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "core/noise/discrete_laplace.hpp"
#include "law_fit.hpp"
#include "random_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::LawFit;
using testing_support::SeededRandom;

const int kDraws = testing_support::kSanitized ? 100000 : 1000000;
constexpr double kAlarm = 1e-9;

// The first four take whole and fractional scales through words of 16 and 64 bits; the three after the fifth have 30
// digits, which takes the wide numbers: above, below and far above 1.
constexpr const char* kScales[] = {"1/3",
                                   "1",
                                   "10",
                                   "333.3",
                                   "123456.789",
                                   "10/1.00000000000000000000000000001",
                                   "0.333333333333333333333333333331",
                                   "98765432.1000000000000000000001",
                                   "1000000000000"};

// Scales at which zeros are frequent enough to tell whether their number is right: with fewer draws, smaller ones.
std::vector<const char*> ScalesWithZeros() {
  std::vector<const char*> scales = {"1/3", "1", "10"};
  if (kDraws >= 1000000) scales.push_back("333.3");
  return scales;
}

using Sampler = std::function<std::int64_t(RandomSource&)>;

class DiscreteLaplaceLaw : public testing::Test {
 protected:
  DiscreteLaplaceLaw() : seed_(std::random_device()()), random_(seed_) {}

  // What the tests say of a sampler that should have the scale.
  std::pair<double, std::string> Judge(const Rational& scale, const Sampler& draw) {
    LawFit fit(static_cast<long double>(ToDouble(scale)), kDraws);
    for (int i = 0; i < kDraws; ++i) fit.Add(draw(random_));
    return fit.Worst();
  }

  std::uint64_t seed_;
  SeededRandom random_;
};

TEST_F(DiscreteLaplaceLaw, DrawsFollowIt) {
  for (const char* text : kScales) {
    const Rational scale = ParseRational("scale", text);
    const DiscreteLaplace law(scale);
    const auto [p_value, test] = Judge(scale, [&](RandomSource& random) { return law.Draw(random); });
    EXPECT_GT(p_value, kAlarm) << "scale " << text << ", " << test << ", seed " << seed_;
  }
}

TEST_F(DiscreteLaplaceLaw, AWrongScaleIsRejected) {
  // 2 % with a million draws.
  const Rational wrong(1020 + (kDraws < 1000000 ? 60 : 0), 1000);
  for (const char* text : kScales) {
    const Rational scale = ParseRational("scale", text);
    if (scale * wrong > Rational(1000000000000)) continue;  // narrower below
    const DiscreteLaplace law(scale * wrong);
    const auto [p_value, test] = Judge(scale, [&](RandomSource& random) { return law.Draw(random); });
    EXPECT_LT(p_value, kAlarm) << "scale " << text << ", seed " << seed_;
    const DiscreteLaplace narrower(scale / wrong);
    EXPECT_LT(Judge(scale, [&](RandomSource& random) { return narrower.Draw(random); }).first, kAlarm)
        << "scale " << text << ", seed " << seed_;
  }
}

TEST_F(DiscreteLaplaceLaw, AMissingZeroIsRejected) {
  for (const char* text : ScalesWithZeros()) {
    const Rational scale = ParseRational("scale", text);
    const DiscreteLaplace law(scale);
    const auto without_zero = [&](RandomSource& random) {
      for (;;)
        if (const std::int64_t value = law.Draw(random); value != 0) return value;
    };
    EXPECT_LT(Judge(scale, without_zero).first, kAlarm) << "scale " << text << ", seed " << seed_;
  }
}

// What comes of forgetting that zero has no sign.
TEST_F(DiscreteLaplaceLaw, ADoubledZeroIsRejected) {
  for (const char* text : ScalesWithZeros()) {
    const Rational scale = ParseRational("scale", text);
    const DiscreteLaplace law(scale);
    const auto zero_twice = [&](RandomSource& random) {
      for (;;)
        if (const std::int64_t value = law.Draw(random); value == 0 || random.Below(2) == 0) return value;
    };
    EXPECT_LT(Judge(scale, zero_twice).first, kAlarm) << "scale " << text << ", seed " << seed_;
  }
}

// The textbook's inverse distribution function in single precision: most integers are never drawn.
TEST_F(DiscreteLaplaceLaw, AFloatSamplerWithHolesIsRejected) {
  const Rational scale(1000000000000);
  const auto textbook = [](RandomSource& random) {
    const float uniform = (static_cast<float>(random.Word() >> 40U) + 0.5F) * 0x1p-24F;
    const float magnitude = std::floor(-1e12F * std::log(uniform));
    return static_cast<std::int64_t>(random.Below(2) == 0 ? magnitude : -magnitude);
  };
  const auto [p_value, test] = Judge(scale, textbook);
  EXPECT_LT(p_value, kAlarm) << "seed " << seed_;
  EXPECT_EQ(test, "low bits");
}

// A sampler that hands out each value twice has the right law and is still none.
TEST_F(DiscreteLaplaceLaw, DependentDrawsAreRejected) {
  const DiscreteLaplace law(Rational(10));
  bool again = false;
  std::int64_t value = 0;
  const auto twice = [&](RandomSource& random) {
    if (!again) value = law.Draw(random);
    again = !again;
    return value;
  };
  EXPECT_LT(Judge(Rational(10), twice).first, kAlarm) << "seed " << seed_;
}

// Differential privacy itself: with a count of 100 and one of 101 every answer that comes up often, and each half-line
// of answers, has likelihoods within a factor of e^epsilon; 7 standard deviations of the logarithm are allowed. Returns
// how many comparisons went beyond.
int BrokenBounds(double epsilon, const DiscreteLaplace& law, RandomSource& random) {
  constexpr int kAnswers = 201;
  const auto tally = [&](std::int64_t count) {
    std::vector<std::int64_t> tallies(kAnswers);
    for (int i = 0; i < kDraws; ++i) {
      const std::int64_t answer = std::clamp<std::int64_t>(SaturatingAdd(count, law.Draw(random)), 0, kAnswers - 1);
      ++tallies[static_cast<std::size_t>(answer)];
    }
    return tallies;
  };
  const std::vector<std::int64_t> first = tally(100);
  const std::vector<std::int64_t> second = tally(101);
  int broken = 0;
  const auto compare = [&](std::int64_t n, std::int64_t m) {
    if (n < 1000 || m < 1000) return;
    const double ratio = std::abs(std::log(static_cast<double>(n) / static_cast<double>(m)));
    const double deviation = std::sqrt(1.0 / static_cast<double>(n) + 1.0 / static_cast<double>(m));
    broken += ratio > epsilon + 7 * deviation;
  };
  std::int64_t below_first = 0;
  std::int64_t below_second = 0;
  for (std::size_t i = 0; i < kAnswers; ++i) {
    compare(first[i], second[i]);
    compare(below_first += first[i], below_second += second[i]);
    compare(kDraws - below_first, kDraws - below_second);
  }
  return broken;
}

TEST_F(DiscreteLaplaceLaw, NeighboursAreWithinEpsilon) {
  for (const char* epsilon : {"0.1", "0.5", "1", "2"}) {
    const Rational value = ParseEpsilon(epsilon);
    EXPECT_EQ(BrokenBounds(ToDouble(value), DiscreteLaplace(Rational(1) / value), random_), 0)
        << "epsilon " << epsilon << ", seed " << seed_;
  }
  // Noise for one row a unit where a unit has two: the bound breaks.
  EXPECT_GT(BrokenBounds(0.5, DiscreteLaplace(Rational(1)), random_), 0) << "seed " << seed_;
}

}  // namespace
}  // namespace privacy_score
