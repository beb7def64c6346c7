/*
 * score_settings_test.cpp - which modes of the score there are.
 */
#include "core/scoring/score_settings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

TEST(ScoreSettings, AreChecked) {
  const auto check = [](const ScoreSettings& settings) { return ErrorOf([&] { CheckSettings(settings); }); };
  ScoreSettings settings;
  EXPECT_EQ(check(settings), "");
  settings.ngram_length = 0;
  EXPECT_EQ(check(settings), "22023 n-gram length must be between 1 and 6, not 0");
  settings.ngram_length = 7;
  EXPECT_EQ(check(settings), "22023 n-gram length must be between 1 and 6, not 7");
  settings = {};
  settings.alpha = 1.5;
  EXPECT_EQ(check(settings), "22023 alpha must be between 0 and 1, not 1.5");
  settings.alpha = std::nan("");
  EXPECT_EQ(check(settings), "22023 alpha must be between 0 and 1, not nan");
  settings = {};
  settings.aggregate_least = -1;
  EXPECT_EQ(check(settings), "22023 aggregate_least must be at least 0, not -1");
}

}  // namespace
}  // namespace privacy_score
