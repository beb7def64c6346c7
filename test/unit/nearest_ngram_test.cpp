/*
 * nearest_ngram_test.cpp - the nearest n-gram of a baseline, against all of its n-grams one by one.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "core/scoring/score.hpp"
#include "sanitizers.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

// The nearest of all n-grams of the baseline, one by one; whether another might be nearer; the rates that would tell.
TEST(RoleScorer, TheNearestIsThatOfAll) {
  for (unsigned seed = 0; seed < testing_support::Instances(40U); ++seed) {
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
    const auto model = std::make_shared<const Model>(Model::Parse(rows.Wire()));
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
