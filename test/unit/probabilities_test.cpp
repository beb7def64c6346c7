/*
 * probabilities_test.cpp - what is a law, what is none and why, and entropies.
 */
#include "core/loss/probabilities.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

TEST(Probabilities, AreALaw) {
  const auto check = [](const std::vector<double>& values) {
    return ErrorOf([&] { CheckProbabilities("law", values.data(), values.size()); });
  };
  EXPECT_EQ(check({.25, .75, 0}), "");
  EXPECT_EQ(check({.1, .2, .3, .4 + 5e-10}), "");
  EXPECT_EQ(check({.5, .6}), "22023 the probabilities of law must sum to one, not to 1.1");
  EXPECT_EQ(check({}), "22023 the probabilities of law must sum to one, not to 0");
  EXPECT_EQ(check({1.5, -.5}), "22023 probability 1 of law must be from 0 to 1, not 1.5");
  EXPECT_EQ(check({1, -.5}), "22023 probability 2 of law must be from 0 to 1, not -0.5");
  EXPECT_EQ(check({1, std::nan("")}), "22023 probability 2 of law must be from 0 to 1, not nan");
}

TEST(Probabilities, Entropy) {
  EXPECT_EQ(EntropyOf({1, 0}), 0);
  EXPECT_NEAR(EntropyOf({.5, .25, .25}), 1.5, 1e-15);
}

}  // namespace
}  // namespace privacy_score
