/*
 * exact_bernoulli_test.cpp - coins with probability exp(-gamma): exact by enumeration, and statistically.
 */
#include "core/exact_bernoulli.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "random_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ScriptedRandom;
using testing_support::SeededRandom;

#if defined(__SANITIZE_ADDRESS__)
constexpr int kTosses = 50000;
#else
constexpr int kTosses = 1000000;
#endif

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
