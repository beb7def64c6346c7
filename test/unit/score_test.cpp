/*
 * score_test.cpp - the worked scores of docs/scoring.md, section 5, ties, bounds and speed.
 */
#include "core/scoring/score.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

std::shared_ptr<const Model> Shared(const ModelRows& rows) {
  return std::make_shared<const Model>(Model::Parse(rows.Wire()));
}

TEST(RoleScorer, WorkedPairs) {
  RoleScorer scorer(Shared(WorkedModel()), "analyst", Published());
  const auto score = [&](AbstractionId a, AbstractionId b) {
    return scorer.Score({0, 0, 0, 0, a, b}, ScoreLevel::kNGram);
  };
  EXPECT_TRUE(score(kG, kGd).matched);
  EXPECT_TRUE(score(kGd, kG).matched);
  EXPECT_FALSE(score(kG, kGh).matched);
  EXPECT_EQ(score(kG, kGh).score, 0);  // a mismatched n-gram may tell nothing
  EXPECT_EQ(score(kGh, kG).score, 0);
  EXPECT_NEAR(score(kGd, kLgd).score, .6891, 5e-5);
  EXPECT_NEAR(score(kLg, kLgd).score, .8614, 5e-5);
  EXPECT_NEAR(score(kLgd, kGd).score, .6891, 5e-5);
  EXPECT_FALSE(score(kLg, kLgd).estimated);
}

TEST(RoleScorer, Explanations) {
  RoleScorer scorer(Shared(WorkedModel()), "analyst", Published());
  const NGram ngram{0, 0, 0, 0, kLg, kLgd};
  const NGramExplanation explained = scorer.Explain(ngram, ScoreLevel::kNGram);
  EXPECT_EQ(explained.nearest, (NGram{0, 0, 0, 0, kG, kGd}));
  ASSERT_EQ(explained.deltas.size(), 2U);
  EXPECT_NEAR(explained.deltas[0] + explained.deltas[1], explained.score.score, 1e-15);
  EXPECT_EQ(explained.attributes, (std::vector<std::string>{"public.hospital.last_name"}));
  EXPECT_EQ(scorer.ReadableForm(explained.nearest, ScoreLevel::kNGram)[0],
            "cmd:select p:public.hospital.gender t:public.hospital");
  const NGramExplanation known = scorer.Explain({0, 0, 0, 0, kG, kGd}, ScoreLevel::kNGram);
  EXPECT_EQ(known.nearest, (NGram{0, 0, 0, 0, kG, kGd}));
  EXPECT_EQ(known.deltas, (std::vector<double>{0, 0}));
  EXPECT_TRUE(known.attributes.empty());
}

TEST(RoleScorer, AmongEquallyNearTheMostAlikeIsNamed) {
  ModelRows rows = WorkedModel();
  rows.AddBaseline(2, "other", {SequenceOf({kGd, kGd, kGd, kGh, kGd})});
  RoleScorer scorer(Shared(rows), "other", Published());
  EXPECT_EQ(scorer.Explain({0, 0, 0, 0, kG, kGh}, ScoreLevel::kNGram).nearest, (NGram{0, 0, 0, 0, kGd, kGh}));
  EXPECT_EQ(scorer.Explain({0, 0, 0, 0, kG, kG}, ScoreLevel::kNGram).nearest, (NGram{0, 0, 0, 0, kGd, kGd}));
}

TEST(RoleScorer, WithoutABaselineAgainstTheEmptyNGram) {
  RoleScorer scorer(Shared(WorkedModel()), "stranger", Published());
  const NGramScore score = scorer.Score({0, 0, 0, 0, kG, kGd}, ScoreLevel::kNGram);
  EXPECT_FALSE(score.matched);
  EXPECT_NEAR(score.score, ExampleTable().Rate({2}) + ExampleTable().Rate({2, 3}), 1e-14);
  EXPECT_EQ(score.score, score.tight);
  const auto explained = scorer.Explain({0, 0, 0, 0, kG, kGd}, ScoreLevel::kNGram);
  EXPECT_EQ(explained.nearest, NGram{});
  EXPECT_EQ(scorer.ReadableForm(explained.nearest, ScoreLevel::kNGram), (std::vector<std::string>{"", ""}));
}

TEST(RoleScorer, UnionTakesAllPositionsTogether) {
  ScoreSettings settings = Published();
  settings.compare = ScoreSettings::kUnion;
  RoleScorer scorer(Shared(WorkedModel()), "analyst", settings);
  EXPECT_NEAR(scorer.Score({0, 0, 0, 0, kLg, kG}, ScoreLevel::kNGram).score, 1 - .6554588, 1e-6);
  EXPECT_EQ(scorer.MostPerNGram(ScoreLevel::kNGram), 1);
  EXPECT_EQ(scorer.Explain({0, 0, 0, 0, kLg, kG}, ScoreLevel::kNGram).deltas.size(), 1U);
}

TEST(RoleScorer, UnknownAbstractions) {
  ModelRows rows = WorkedModel();
  rows.AddBaseline(2, "lost", {SequenceOf({99})});
  RoleScorer scorer(Shared(rows), "lost", Published());
  EXPECT_THROW(scorer.Score({0, 0, 0, 0, kG, 77}, ScoreLevel::kNGram), Error);
  // One of the baseline reveals nothing, as far as is known.
  EXPECT_NEAR(scorer.Score({0, 0, 0, 0, 0, kG}, ScoreLevel::kStatement).score, ExampleTable().Rate({2}), 1e-14);
  const auto explained = scorer.Explain({0, 0, 0, 0, 0, kG}, ScoreLevel::kStatement);
  EXPECT_EQ(scorer.ReadableForm(explained.nearest, ScoreLevel::kStatement)[0], "unknown");
  const TokenMap defined = {{77, {"cmd:select", "p:public.hospital.gender"}}};
  RoleScorer knowing(Shared(rows), "lost", Published(), &defined);
  EXPECT_NEAR(knowing.Score({0, 0, 0, 0, 0, 77}, ScoreLevel::kStatement).score, ExampleTable().Rate({2}), 1e-14);
}

TEST(RoleScorer, RateOfTheWholeBaseline) {
  RoleScorer scorer(Shared(WorkedModel()), "analyst", Published());
  EXPECT_NEAR(scorer.BaselineRate().upper, .6554588, 1e-6);
}

// The rates that could change a score are asked for, and one round of answers makes it exact.
TEST(RoleScorer, BoundsThenExact) {
  ModelRows rows = WorkedModel();
  const TextRows all = rows.rates;
  const NGram ngram{0, 0, 0, 0, kLg, kLgd};
  const double exact = RoleScorer(Shared(rows), "analyst", Published()).Score(ngram, ScoreLevel::kNGram).score;
  rows.rates = ExampleTable().RatesOfMasks({1, 2, 4, 8, 16, 32});
  RoleScorer bounded(Shared(rows), "analyst", Published());
  const NGramScore bound = bounded.Score(ngram, ScoreLevel::kNGram);
  EXPECT_TRUE(bound.estimated);
  EXPECT_GE(bound.score, exact);
  const auto missing = bounded.TakeMissing();
  EXPECT_FALSE(missing.empty());
  for (const auto& row : all) {
    for (const auto& want : missing) {
      if (row[1] == want.attributes) rows.rates.push_back(row);
    }
  }
  RoleScorer again(Shared(rows), "analyst", Published());
  EXPECT_FALSE(again.Score(ngram, ScoreLevel::kNGram).estimated);
  EXPECT_EQ(again.Score(ngram, ScoreLevel::kNGram).score, exact);
  EXPECT_TRUE(again.TakeMissing().empty());
}

}  // namespace
}  // namespace privacy_score
