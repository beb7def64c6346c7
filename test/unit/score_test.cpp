/*
 * score_test.cpp - the worked scores of docs/scoring.md, section 5, ties, bounds and speed.
 */
#include "core/scoring/score.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "core/base/error.hpp"
#include "sanitizers.hpp"
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

// The nearest of all n-grams of the baseline, one by one; whether another might be nearer; the rates that would tell.
TEST(RoleScorer, TheNearestIsThatOfAll) {
  for (unsigned seed = 0; seed < ::testing_support::Instances(40U); ++seed) {
    std::mt19937 random(seed);
    ModelRows rows;
    rows.relations = {{"public.r0", "1", "t"}, {"public.r1", "1", seed % 2 == 0 ? "t" : "f"}};
    const auto column = [](std::size_t i) { return "public.r" + std::to_string(i / 6) + ".c" + std::to_string(i % 6); };
    for (std::size_t i = 0; i < 12; ++i)
      rows.attributes.push_back({column(i), column(i).substr(0, 9), std::nullopt, i == 0 ? "t" : "f"});
    for (AbstractionId id = 1; id <= 40; ++id) {
      std::set<std::string> tokens = {"cmd:select"};
      for (std::size_t k = random() % 5; k > 0; --k) tokens.insert("p:" + column(random() % 12));
      rows.AddAbstraction(id, {tokens.begin(), tokens.end()});
    }
    for (int i = 0; i < 25; ++i) {
      const std::size_t relation = random() % 2;
      std::set<std::string> names;
      for (std::size_t k = 1 + random() % 3; k > 0; --k) names.insert(column(relation * 6 + random() % 6));
      std::string joined;
      for (const auto& name : names) joined += (joined.empty() ? "" : std::string(1, kAttributeSeparator)) + name;
      rows.rates.push_back({"public.r" + std::to_string(relation), joined, "0." + std::to_string(10 + random() % 80)});
    }
    std::vector<Sequence> sessions;
    // In the long ones a statement ends so many n-grams that the scorer looks at its delta* first.
    const int each = seed % 4 == 3 ? 700 : 30;
    for (int i = 0; i < 4; ++i) {
      std::vector<AbstractionId> ids;
      for (int k = 0; k < each; ++k) ids.push_back(static_cast<AbstractionId>(1 + random() % 25));
      sessions.push_back(SequenceOf(ids));
    }
    rows.AddBaseline(1, "analyst", sessions);
    const auto model = Shared(rows);
    ScoreSettings settings;
    settings.ngram_length = static_cast<int>(1 + seed % 3);
    settings.alpha = seed % 5 == 0 ? 1 : .5;
    RoleScorer scorer(model, "analyst", settings);
    PairScorer pairs(model, "analyst", settings);
    const auto length = static_cast<std::size_t>(settings.ngram_length);
    const auto class_at = [&](const NGram& ngram, std::size_t k) {
      const AbstractionId id = ngram[ngram.size() - length + k];
      return id == 0 ? kEmptyClass : pairs.ClassOf(*model->FindTokens(id));
    };
    // Combined, each once.
    std::map<std::pair<AbstractionId, AbstractionId>, RateBounds> combined;
    const auto bounds_at = [&](const NGram& ngram, const NGram& other, std::size_t k) -> const RateBounds& {
      const std::size_t at = ngram.size() - length + k;
      const auto [found, is_new] = combined.try_emplace({ngram[at], other[at]});
      if (!is_new) return found->second;
      found->second = pairs.Combined(class_at(ngram, k), class_at(other, k));
      EXPECT_LE(pairs.Surprises(class_at(ngram, k), {class_at(other, k)})[0], found->second.lower);
      return found->second;
    };
    // Of a length, and how often each was recorded.
    std::map<NGram, std::int64_t> counts;
    for (const auto& other : model->BaselineOfRole("analyst")->ngrams.List())
      counts[Suffix(other.ngram, settings.ngram_length)] += other.count;
    for (int i = 0; i < 60; ++i) {
      NGram ngram{};
      for (std::size_t k = 0; k < length; ++k)
        ngram[ngram.size() - 1 - k] = static_cast<AbstractionId>(1 + random() % 40);
      const NGramScore score = scorer.Score(ngram, ScoreLevel::kNGram);
      if (score.matched) continue;
      double least = std::numeric_limits<double>::infinity();
      const auto sums = [&](const NGram& other) {
        RateBounds sum;
        for (std::size_t k = 0; k < length; ++k) {
          const RateBounds& bounds = bounds_at(ngram, other, k);
          sum = {sum.lower + bounds.lower, sum.upper + bounds.upper};
        }
        return sum;
      };
      for (const auto& [other, count] : counts) least = std::min(least, sums(other).upper);
      EXPECT_EQ(score.score, least);
      // What is named as the nearest: the same to rounding, then most equal places, most frequent, first.
      std::tuple<double, int, std::int64_t, NGram> best{std::numeric_limits<double>::infinity(), 0, 0, NGram{}};
      for (const auto& [other, count] : counts) {
        int different = 0;
        for (std::size_t k = 0; k < other.size(); ++k) different += other[k] != ngram[k] ? 1 : 0;
        best = std::min(best, {std::round(sums(other).upper / 1e-12), different, -count, other});
      }
      EXPECT_EQ(scorer.Explain(ngram, ScoreLevel::kNGram).nearest, std::get<NGram>(best));
      bool estimated = false;
      for (std::size_t k = 0; k < length; ++k) {
        estimated = estimated || !pairs.Combined(class_at(ngram, k), kEmptyClass).exact();
        pairs.Want(class_at(ngram, k), kEmptyClass);
      }
      for (const auto& [other, count] : counts) {
        if (!(sums(other).lower < least)) continue;
        estimated = true;
        for (std::size_t k = 0; k < length; ++k) pairs.Want(class_at(ngram, k), class_at(other, k));
      }
      EXPECT_EQ(score.estimated, estimated);
    }
    const auto expected = pairs.rates().TakeMissing();
    const auto missing = scorer.TakeMissing();
    // Of n-grams that are known the scorer wants what their own greatest score lacks.
    for (const MissingRate& rate : expected)
      EXPECT_NE(std::find(missing.begin(), missing.end(), rate), missing.end()) << seed;
  }
}

}  // namespace
}  // namespace privacy_score
