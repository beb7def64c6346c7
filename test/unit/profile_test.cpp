/*
 * profile_test.cpp - P, M, M', Delta of the worked days, set and multiset.
 */
#include "core/scoring/profile.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/base/error.hpp"
#include "score_fixture.hpp"
#include "summary_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

SessionSummary SummaryOf(const std::vector<std::vector<AbstractionId>>& logs, const ScoreSettings& settings) {
  RoleScorer scorer(std::make_shared<const Model>(Model::Parse(WorkedModel().Wire())), "analyst", settings);
  Profile profile;
  for (const auto& log : logs) {
    ForEachNGram(SequenceOf(log),
                 [&](const NGram& ngram, std::int64_t count, std::int64_t) { profile.Add(ngram, count, scorer); });
  }
  return profile.Summary();
}

TEST(Profile, WorkedDays) {
  const std::vector<AbstractionId> days[] = {{kG, kGh, kG}, {kG, kGd, kLgd}, {kLg, kLgd, kGd}};
  const double score[] = {0, .6891, 1.5504};
  const double tight[] = {1.9328, 2.6218, 3.4832};
  const std::int64_t mismatched[] = {2, 1, 2};
  for (std::size_t day = 0; day < 3; ++day) {
    const SessionSummary summary = SummaryOf({days[day]}, Published());
    EXPECT_NEAR(summary.score, score[day], 5e-5);
    EXPECT_EQ(summary.max_score, 4);
    EXPECT_NEAR(summary.tight_max, tight[day], 5e-5);
    EXPECT_EQ(summary.mismatched, mismatched[day]);
    EXPECT_EQ(summary.ngrams, 2);
    EXPECT_EQ(summary.queries, 3);
    EXPECT_EQ(summary.normalised, summary.score / 4);
    EXPECT_FALSE(summary.estimated);
  }
  EXPECT_NEAR(SummaryOf({days[0], days[1]}, Published()).score, .6891, 5e-5);
  EXPECT_NEAR(SummaryOf({days[0], days[1], days[2]}, Published()).score, 2.2395, 5e-5);
}

TEST(Profile, SetAndMultiset) {
  ScoreSettings settings = Published();
  const std::vector<AbstractionId> log = {kGd, kLgd, kGd, kLgd, kGd};
  const SessionSummary set = SummaryOf({log}, settings);
  settings.counting = ScoreSettings::kMultiset;
  const SessionSummary multiset = SummaryOf({log}, settings);
  EXPECT_EQ(set.ngrams, 2);
  EXPECT_EQ(multiset.ngrams, 4);
  EXPECT_EQ(multiset.mismatched, 4);
  EXPECT_EQ(multiset.score, 2 * set.score);
  EXPECT_EQ(multiset.max_score, 8);
  EXPECT_EQ(multiset.normalised, set.normalised);
  EXPECT_EQ(multiset.statement_score, 2 * set.statement_score);
}

TEST(Profile, PaddingSeesShortSessions) {
  ScoreSettings settings = Published();
  EXPECT_EQ(SummaryOf({{kLgd}}, settings).ngrams, 0);
  EXPECT_EQ(SummaryOf({{kLgd}}, settings).normalised, 0);
  EXPECT_GT(SummaryOf({{kLgd}}, settings).statement_score, 0);
  settings.pad = true;
  EXPECT_EQ(SummaryOf({{kLgd}}, settings).ngrams, 1);
  EXPECT_GT(SummaryOf({{kLgd}}, settings).score, 0);
}

// What is added at once, one by one, or repeated where it stands, comes to the same; every n-gram has its place.
TEST(Profile, RepeatedIsAddedAgain) {
  std::mt19937 random(3);
  const AbstractionId ids[] = {kG, kGh, kLg, kGd, kLgd};
  for (int round = 0; round < 100; ++round) {
    ScoreSettings settings = Published();
    settings.ngram_length = 1 + round % 3;
    settings.pad = random() % 2 != 0;
    settings.counting = random() % 2 != 0 ? ScoreSettings::kSet : ScoreSettings::kMultiset;
    RoleScorer scorer(std::make_shared<const Model>(Model::Parse(WorkedModel().Wire())), "analyst", settings);
    Profile at_once, one_by_one, repeated;
    std::map<NGram, std::int64_t> counts;
    NGramWindow window;
    for (int i = 0; i < 30; ++i) {
      window.Push(ids[random() % 5]);
      const NGram ngram = Suffix(window.recorded(), settings.ngram_length);
      one_by_one.Add(window.recorded(), 1, scorer);
      Profile::Place* place = repeated.Find(ngram);
      EXPECT_EQ(place == nullptr, counts.count(ngram) == 0);
      if (place == nullptr)
        repeated.Add(window.recorded(), 1, scorer);
      else
        EXPECT_EQ(repeated.Repeat(*place, settings), settings.counting == ScoreSettings::kMultiset);
      ++counts[ngram];
    }
    for (const auto& [ngram, count] : counts) EXPECT_EQ(at_once.Add(ngram, count, scorer)->second.count, count);
    EXPECT_EQ(repeated.places(), counts.size());
    repeated.ForEachPlace([&](const Profile::Place& place) { EXPECT_EQ(place.second.count, counts[place.first]); });
    for (const Profile* profile : {&one_by_one, &repeated}) {
      ExpectSameScores(profile->Summary(), at_once.Summary());
      EXPECT_EQ(profile->Summary().queries, 30);
    }
    EXPECT_EQ(at_once.Summary().queries, 30);
  }
}

TEST(Profile, AFailureCountsNothing) {
  RoleScorer scorer(std::make_shared<const Model>(Model::Parse(WorkedModel().Wire())), "analyst", ScoreSettings());
  Profile profile;
  EXPECT_THROW(profile.Add({0, 0, 0, 0, 0, 77}, 1, scorer), Error);
  EXPECT_EQ(profile.Summary().queries, 0);
  EXPECT_EQ(profile.Summary().ngrams, 0);
  // One that is known, after one that is not.
  EXPECT_THROW(profile.Add({0, 0, 0, 0, 77, kG}, 1, scorer), Error);
  EXPECT_FALSE(profile.HasStatement(kG));
  EXPECT_EQ(profile.Summary().queries, 0);
}

}  // namespace
}  // namespace privacy_score
