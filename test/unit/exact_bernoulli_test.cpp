/*
 * exact_bernoulli_test.cpp - coins with probability exp(-gamma): exact by enumeration, and statistically.
 */
#include "core/noise/exact_bernoulli.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "random_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::ScriptedRandom;
using testing_support::SeededRandom;

const int kTosses = testing_support::kSanitized ? 50000 : 1000000;

// Each coin is given 6.5 standard deviations: a false alarm in 10^10 coins.
void ExpectProbability(double p, const std::function<bool()>& toss, const std::string& what) {
  int heads = 0;
  for (int i = 0; i < kTosses; ++i) heads += toss();
  const double deviation = std::sqrt(p * (1 - p) * kTosses);
  EXPECT_NEAR(heads, p * kTosses, 6.5 * deviation + 1e-9) << what;
}

TEST(ExactBernoulli, ProbabilityIsExpOfMinusGamma) {
  SeededRandom random(2);
  for (const char* text :
       {"0", "1e-6", "0.01", "1/3", "0.5", "0.999999999999999999999999999999", "1", "1.5", "2", "7.25"}) {
    const Rational gamma = ParseRational("gamma", text);
    ExpectProbability(
        std::exp(-ToDouble(gamma)), [&] { return BernoulliExp(gamma, random); }, text);
  }
  ExpectProbability(
      std::exp(-1), [&] { return BernoulliExpOne(random); }, "one");
}

// An astronomic gamma ends at the first tails, about as soon as exp(-1) does.
TEST(ExactBernoulli, LargeGammaEndsSoon) {
  SeededRandom random(3);
  const Rational gamma = ParseRational("gamma", "1e300");
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(BernoulliExp(gamma, random));
}

// gamma = 1/2 by hand: coins for gamma/1, gamma/2, .. until tails; heads when an odd one was the first tails.
TEST(ExactBernoulli, CountsTheCoinsUntilTails) {
  const auto toss = [](std::vector<bool> coins) {
    SeededRandom random(4);
    std::size_t next = 0;
    // With k = 1 the random source is not asked, so the first coin alone decides the first step.
    return BernoulliExpOfCoin([&] { return static_cast<bool>(coins.at(next++)); }, random);
  };
  EXPECT_TRUE(toss({false}));
  // The second step needs Below(2) == 0, then tails: two steps, so tails in all.
  ScriptedRandom random({0});
  std::vector<bool> coins = {true, false};
  std::size_t next = 0;
  EXPECT_FALSE(BernoulliExpOfCoin([&] { return static_cast<bool>(coins.at(next++)); }, random));
}

// Digits that are those of the fraction do not tell, and more are drawn.
TEST(ExactBernoulli, IsBelowDrawsDigitsUntilTheyTell) {
  const Rational third(1, 3);
  constexpr std::uint64_t kThird = 0x5555555555555555U;
  const auto is_below = [&](std::uint64_t digits, std::vector<std::uint64_t> more) {
    ScriptedRandom random(std::move(more));
    return IsBelow(digits, third, random);
  };
  EXPECT_TRUE(is_below(kThird - 1, {}));
  EXPECT_FALSE(is_below(kThird + 1, {}));
  EXPECT_TRUE(is_below(kThird, {kThird, kThird - 1}));
  EXPECT_FALSE(is_below(kThird, {kThird, kThird + 1}));
  ScriptedRandom none({});
  EXPECT_FALSE(IsBelow(1ULL << 63, Rational(1, 2), none));  // exactly the fraction, or above
  EXPECT_TRUE(IsBelow((1ULL << 63) - 1, Rational(1, 2), none));
  EXPECT_FALSE(IsBelow(0, Rational(0), none));
}

// The first 16 digits decide, or 64, or as many as it takes; what is known of the fraction may be one too small.
TEST(ExactBernoulli, TossFractionDecidesByAsFewDigitsAsTell) {
  constexpr std::uint64_t kThird = 0x5555555555555555U;
  int asked = 0;
  const auto toss = [&](std::uint64_t lower, std::vector<std::uint64_t> words) {
    ScriptedRandom random(std::move(words));
    const bool heads = TossFraction(
        lower,
        [&] {
          ++asked;
          return Rational(1, 3);
        },
        random);
    return heads;
  };
  EXPECT_TRUE(toss(kThird, {0x5554}));
  EXPECT_FALSE(toss(kThird, {0x5556}));
  EXPECT_TRUE(toss(kThird, {0x5555, 0x5555555555540000U}));
  EXPECT_FALSE(toss(kThird, {0x5555, 0x5555555555570000U}));
  EXPECT_EQ(asked, 0);
  for (const std::uint64_t lower : {kThird, kThird - 1}) {
    EXPECT_TRUE(toss(lower, {0x5555, 0x5555555555550000U, kThird - 1}));
    EXPECT_FALSE(toss(lower, {0x5555, 0x5555555555550000U, kThird + 1}));
  }
  EXPECT_FALSE(toss(kThird, {0x5555, 0x5555555555560000U}));
  EXPECT_EQ(asked, 5);
  ScriptedRandom ones({~0ULL, ~0ULL, ~0ULL});
  EXPECT_TRUE(TossFraction(
      ~0ULL, [] { return Rational(1) - Rational(1, PowerOfTwo(200)); }, ones));
}

TEST(ExactBernoulli, TossFractionHasItsProbability) {
  SeededRandom random(8);
  int heads = 0;
  for (int i = 0; i < kTosses; ++i)
    heads += TossFraction(
        0x5555555555555555U, [] { return Rational(1, 3); }, random);
  EXPECT_NEAR(heads, kTosses / 3.0, 6.5 * std::sqrt(kTosses * 2 / 9.0));
}

TEST(ExactBernoulli, RandomBelowReachesEveryNumberEquallyOften) {
  SeededRandom random(5);
  const Integer bound = 5;
  int counts[5] = {};
  for (int i = 0; i < kTosses; ++i) ++counts[static_cast<int>(RandomBelow(bound, random))];
  for (const int count : counts) EXPECT_NEAR(count, kTosses / 5, 6.5 * std::sqrt(kTosses * 0.16));
}

TEST(ExactBernoulli, RandomBelowOfManyDigits) {
  SeededRandom random(6);
  const Integer bound = boost::multiprecision::pow(Integer(10), 40);
  Integer least = bound;
  Integer greatest = 0;
  for (int i = 0; i < 20000; ++i) {
    const Integer value = RandomBelow(bound, random);
    ASSERT_LT(value, bound);
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  EXPECT_LT(least, bound / 500);  // missed with probability e^-40
  EXPECT_GT(greatest, bound - bound / 500);
  EXPECT_EQ(RandomBelow(Integer(1), random), 0);
}

}  // namespace
}  // namespace privacy_score
