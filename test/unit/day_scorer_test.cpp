/*
 * day_scorer_test.cpp - the score of a day whose abstractions come in parts. score_property_test.cpp compares it with
 * that of ScoreDays.
 */
#include "core/scoring/day_scorer.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

// The third day of docs/scoring.md, section 5: two of its statements are new to the role.
const TestSession kThirdDay = {"2024-01-03", {kLg, kLgd, kGd}, "analyst"};

// The worked model with the abstractions of its baseline alone.
ModelRows Known() {
  ModelRows model = WorkedModel();
  TextRows all;
  std::swap(all, model.abstractions);
  for (TextRow& row : all)
    if (row[0] == TextOf(AbstractionId{kG}) || row[0] == TextOf(AbstractionId{kGd})) model.abstractions.push_back(row);
  return model;
}

std::string TokensWire(const TextRows& rows) {
  WireWriter writer;
  writer.Section(2, rows);
  return writer.bytes();
}

DayScorer ThirdDay() { return {HistoryWire(Known(), Published(), {kThirdDay}), "analyst"}; }

TEST(DayScorer, WorkedDay) {
  DayScorer scorer = ThirdDay();
  for (const TextRow& row : WorkedModel().abstractions) scorer.Define(TokensWire({row}));
  const DayScore day = scorer.Score();
  EXPECT_NEAR(day.score, 1.5504, 5e-5);
  EXPECT_NEAR(day.enforced, .6891, 5e-5);
  EXPECT_TRUE(day.missing.empty());
}

TEST(DayScorer, NamesTheRatesThatItMisses) {
  ModelRows model = WorkedModel();
  model.rates.clear();
  DayScorer scorer(HistoryWire(model, Published(), {kThirdDay}), "analyst");
  scorer.Define(TokensWire(model.abstractions));
  EXPECT_FALSE(scorer.Score().missing.empty());
}

TEST(DayScorer, NothingScoresNothing) {
  DayScorer scorer(HistoryWire(Known(), Published(), {}), "analyst");
  EXPECT_EQ(scorer.Score().score, 0);
}

TEST(DayScorer, RefusesWhatItCannotKnow) {
  EXPECT_THROW(ThirdDay().Score(), Error);  // no tokens of two statements
  const std::string wire = HistoryWire(Known(), Published(), {kThirdDay});
  EXPECT_THROW(DayScorer(wire.substr(0, wire.size() - 1), "analyst"), Error);
  const std::string tokens = TokensWire(WorkedModel().abstractions);
  EXPECT_THROW(ThirdDay().Define(tokens.substr(0, tokens.size() - 1)), Error);
  EXPECT_THROW(ThirdDay().Define(TokensWire({{"4", std::nullopt}})), Error);
  EXPECT_THROW(ThirdDay().Define(TokensWire({{std::nullopt, "cmd:select"}})), Error);
}

}  // namespace
}  // namespace privacy_score
