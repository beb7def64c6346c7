/*
 * day_scorer_test.cpp - the score of a day that grows. score_property_test.cpp compares it with that of ScoreEachDay.
 */
#include "core/scoring/day_scorer.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "day_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

// The worked model with the abstractions of its baseline alone.
std::shared_ptr<const Model> Known() {
  ModelRows model = WorkedModel();
  model.abstractions = TokensOfIds(model.abstractions, {kG, kGd});
  return std::make_shared<const Model>(Model::Parse(model.Wire()));
}

// The third day of docs/scoring.md, section 5: two of its statements are new to the role.
RecordedDay ThirdDay() { return {{7, {SequenceOf({kLg, kLgd, kGd})}}}; }

TEST(DayScorer, WorkedDay) {
  DayScorer scorer(Known(), "analyst", Published());
  const RecordedDay day = ThirdDay();
  const auto wanted = scorer.Follow(SessionsWire(day));
  ASSERT_TRUE(wanted);
  ASSERT_EQ(wanted->size(), 1U);
  EXPECT_EQ(wanted->front().session, 7);
  EXPECT_EQ(wanted->front().from, 0);
  scorer.TakeParts(PartsWire(day, *wanted));
  EXPECT_EQ(scorer.Unknown(), (std::vector<AbstractionId>{kLg, kLgd}));
  // A row at a time, in the order of ids.
  for (const TextRow& row : TokensOfIds(WorkedModel().abstractions, scorer.Unknown())) scorer.Define(TokensWire({row}));
  const DayScore score = scorer.Score();
  EXPECT_TRUE(scorer.Unknown().empty());
  EXPECT_NEAR(score.score, 1.5504, 5e-5);
  EXPECT_NEAR(score.enforced, .6891, 5e-5);
  EXPECT_TRUE(score.missing.empty());
  // Nothing new.
  EXPECT_TRUE(scorer.Follow(SessionsWire(day)).value().empty());
  EXPECT_EQ(scorer.Score().score, score.score);
  EXPECT_EQ(scorer.size(), 2U + 1U + 1U);
}

TEST(DayScorer, NamesTheRatesThatItMissesAgain) {
  ModelRows model = WorkedModel();
  model.rates.clear();
  DayScorer scorer(std::make_shared<const Model>(Model::Parse(model.Wire())), "analyst", Published());
  const DayScore first = ScoreNow(scorer, ThirdDay(), model.abstractions);
  EXPECT_FALSE(first.missing.empty());
  EXPECT_EQ(ScoreNow(scorer, ThirdDay(), model.abstractions).missing, first.missing);
}

TEST(DayScorer, NothingScoresNothing) {
  DayScorer scorer(Known(), "analyst", Published());
  EXPECT_EQ(ScoreNow(scorer, {}, {}).score, 0);
}

TEST(DayScorer, BeginsAnewWhereHistoryIsAnother) {
  const TextRows tokens = WorkedModel().abstractions;
  RecordedDay day = ThirdDay();
  day[8] = {SequenceOf({kG}), SequenceOf({kGd})};
  const auto scored = [&] {
    auto scorer = std::make_unique<DayScorer>(Known(), "analyst", Published());
    ScoreNow(*scorer, day, tokens);
    return scorer;
  };
  RecordedDay gone = day, replaced = day, less = day;
  gone.erase(8);
  replaced.erase(8);
  replaced[9] = day[8];
  less[8].pop_back();
  for (const RecordedDay& other : {gone, replaced, less}) EXPECT_FALSE(scored()->Follow(SessionsWire(other)));
  day[9] = {SequenceOf({kG})};
  EXPECT_EQ(scored()->Follow(SessionsWire(day)).value().size(), 0U);
}

TEST(DayScorer, RefusesWhatItCannotKnow) {
  const RecordedDay day = ThirdDay();
  const auto following = [&] {
    auto scorer = std::make_unique<DayScorer>(Known(), "analyst", Published());
    scorer->Follow(SessionsWire(day));
    return scorer;
  };
  const std::string parts = PartsWire(day, {{7, 0}});
  {
    auto scorer = following();
    scorer->TakeParts(parts);
    EXPECT_THROW(scorer->Score(), Error);  // no tokens of two statements
  }
  {
    auto scorer = following();
    scorer->TakeParts(parts);
    EXPECT_THROW(scorer->TakeParts(parts), Error);  // twice
  }
  EXPECT_THROW(DayScorer(Known(), "analyst", Published()).TakeParts(parts), Error);  // of no session
  EXPECT_THROW(following()->TakeParts(parts.substr(0, parts.size() - 1)), Error);
  const std::string sessions = SessionsWire(day);
  EXPECT_THROW(following()->Follow(sessions.substr(0, sessions.size() - 1)), Error);
  const std::string tokens = TokensWire(WorkedModel().abstractions);
  EXPECT_THROW(following()->Define(tokens.substr(0, tokens.size() - 1)), Error);
  EXPECT_THROW(following()->Define(TokensWire({{"4", std::nullopt}})), Error);
  EXPECT_THROW(following()->Define(TokensWire({{std::nullopt, "cmd:select"}})), Error);
  ScoreSettings bad;
  bad.alpha = 2;
  EXPECT_THROW(DayScorer(Known(), "analyst", bad), Error);
}

}  // namespace
}  // namespace privacy_score
