/*
 * live_scorer_test.cpp - the running score. Equality with the stored history in all modes is in
 * score_property_test.cpp.
 */
#include "core/scoring/live_scorer.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/base/error.hpp"
#include "core/base/keyed_hash.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

TEST(LiveScorer, WorkedDay) {
  LiveScorer live("analyst", Published());
  live.Load(WorkedModel().Wire());
  for (const AbstractionId id : {AbstractionId{kLg}, AbstractionId{0}, AbstractionId{kLgd}, AbstractionId{kGd}}) {
    live.Observe(id);
  }
  const SessionSummary summary = live.summary();
  EXPECT_EQ(summary.queries, 3);
  EXPECT_EQ(summary.mismatched, 2);
  EXPECT_NEAR(summary.score, 1.5504, 5e-5);
  EXPECT_NEAR(summary.tight_max, 3.4832, 5e-5);
  EXPECT_NEAR(live.LastScore(), .6891, 5e-5);
  EXPECT_NE(
      live.LastExplanation().find("\"attributes\": [\"public.hospital.department\", \"public.hospital.last_name\"]"),
      std::string::npos);
  live.Restart();
  EXPECT_EQ(live.summary().queries, 0);
  EXPECT_EQ(live.summary().score, 0);
  EXPECT_EQ(live.LastExplanation(), "{}");
  live.Observe(kLg);
  EXPECT_EQ(live.summary().ngrams, 0);  // nothing of before the restart stands in front
  EXPECT_EQ(live.LastExplanation(), "{}");
}

// What a statement would add to the sum that mode enforce goes by is what it adds, and asking changes nothing.
TEST(LiveScorer, WeighedIsWhatComes) {
  std::mt19937 random(7);
  for (const auto counting : {ScoreSettings::kSet, ScoreSettings::kMultiset}) {
    ScoreSettings settings = Published();
    settings.counting = counting;
    settings.pad = true;
    LiveScorer live("analyst", settings);
    live.Load(WorkedModel().Wire());
    const AbstractionId ids[] = {0, kG, kGh, kLg, kGd, kLgd};
    std::set<AbstractionId> had;
    for (int i = 0; i < 300; ++i) {
      const AbstractionId id = ids[random() % 6];
      const SessionSummary before = live.summary();
      const LiveScorer::Weighed weighed = live.Weigh(id);
      EXPECT_EQ(live.summary().queries, before.queries);
      EXPECT_EQ(live.summary().ngrams, before.ngrams);
      EXPECT_EQ(live.summary().score, before.score);
      EXPECT_EQ(live.summary().statement_score, before.statement_score);
      live.Observe(id);
      const bool lacked = id == kLg || id == kLgd;
      EXPECT_EQ(weighed.adds, lacked && (counting == ScoreSettings::kMultiset || had.count(id) == 0));
      EXPECT_NEAR(weighed.rise, weighed.adds ? .3445 : 0, 5e-5);
      EXPECT_EQ(weighed.sum, live.summary().statement_score);
      EXPECT_FALSE(weighed.estimated);
      had.insert(id);
    }
    EXPECT_THROW(live.Weigh(77), Error);
    const std::string explained = live.ExplainStatement(kLgd);
    EXPECT_NE(explained.find("\"ngram\": [\"cmd:select p:public.hospital.department p:public.hospital.gender "
                             "p:public.hospital.last_name t:public.hospital\"]"),
              std::string::npos)
        << explained;
    EXPECT_NE(explained.find("\"attributes\": [\"public.hospital.last_name\"]"), std::string::npos) << explained;
  }
}

// A rate that only the n-gram misses does not make the sum a bound.
TEST(LiveScorer, WeighedRestsOnItsOwnRates) {
  ModelRows model = WorkedModel();
  model.rates.clear();
  LiveScorer live("analyst", ScoreSettings());
  live.Load(model.Wire());
  EXPECT_FALSE(live.Weigh(kG).adds);
  EXPECT_TRUE(live.Weigh(kLgd).estimated);
  live.Observe(kG);
  live.Observe(kG);  // a pair that the baseline lacks
  EXPECT_TRUE(live.summary().estimated);
  EXPECT_FALSE(live.summary().statement_estimated);
}

TEST(LiveScorer, DefinedAbstractions) {
  LiveScorer live("analyst", ScoreSettings());
  EXPECT_FALSE(live.Knows(kG));
  EXPECT_THROW(live.Observe(kG), Error);
  EXPECT_EQ(live.summary().queries, 0);
  live.Load(WorkedModel().Wire());
  EXPECT_TRUE(live.Knows(kG));
  EXPECT_TRUE(live.Knows(0));
  EXPECT_FALSE(live.Knows(77));
  live.Define(77, {"cmd:select", "p:public.hospital.city"});
  EXPECT_TRUE(live.Knows(77));
  live.Observe(77);
  EXPECT_GT(live.summary().score, 0);
  live.Load(ModelRows().Wire());  // the definition and what was observed stay
  EXPECT_TRUE(live.Knows(77));
  EXPECT_EQ(live.summary().queries, 1);
  EXPECT_EQ(live.summary().score, 0);
}

TEST(LiveScorer, KeepsTheTokensOfWhatANewModelLacks) {
  LiveScorer live("analyst", ScoreSettings());
  live.Load(WorkedModel().Wire());
  live.Observe(kLgd);
  live.Observe(kG);
  const SessionSummary before = live.summary();
  live.Load(ModelRows().Wire());
  EXPECT_TRUE(live.Knows(kLgd));
  live.Load(WorkedModel().Wire());
  EXPECT_EQ(live.summary().score, before.score);
  EXPECT_EQ(live.summary().queries, 2);
}

TEST(LiveScorer, ABadModelChangesNothing) {
  LiveScorer live("analyst", ScoreSettings());
  live.Load(WorkedModel().Wire());
  live.Observe(kLgd);
  const double score = live.summary().score;
  EXPECT_THROW(live.Load(std::string("rubbish")), Error);
  EXPECT_EQ(live.summary().score, score);
  ScoreSettings bad;
  bad.alpha = 2;
  EXPECT_THROW(live.Configure(bad), Error);
  EXPECT_EQ(live.summary().score, score);
}

TEST(LiveScorer, ConfigureScoresAgain) {
  LiveScorer live("analyst", ScoreSettings());
  live.Load(WorkedModel().Wire());
  for (const AbstractionId id : {kLg, kLgd, kGd}) live.Observe(id);
  EXPECT_EQ(live.summary().ngrams, 3);
  live.Configure(Published());
  EXPECT_EQ(live.summary().ngrams, 2);
  EXPECT_NEAR(live.summary().score, 1.5504, 5e-5);
  ScoreSettings longer = Published();
  longer.ngram_length = 3;
  EXPECT_THROW(live.Configure(longer), Error);
  EXPECT_NEAR(live.summary().score, 1.5504, 5e-5);
  live.Restart();
  live.Configure(longer);
  for (const AbstractionId id : {kLg, kLgd, kGd}) live.Observe(id);
  EXPECT_EQ(live.summary().ngrams, 1);
}

TEST(LiveScorer, EstimatedUntilTheRatesAreThere) {
  ModelRows model = WorkedModel();
  const TextRows all = model.rates;
  model.rates.clear();
  LiveScorer live("analyst", ScoreSettings());
  live.Load(model.Wire());
  live.Observe(kLgd);
  const SessionSummary bound = live.summary();
  EXPECT_TRUE(bound.estimated);
  EXPECT_FALSE(live.TakeMissing().empty());
  EXPECT_TRUE(live.TakeMissing().empty());
  model.rates = all;
  live.Load(model.Wire());
  EXPECT_FALSE(live.summary().estimated);
  EXPECT_LE(live.summary().score, bound.score);
}

// What was observed before the model came counts once it is there, and against the baseline's greatest figures.
TEST(LiveScorer, Reach) {
  ModelRows model = WorkedModel();
  model.attributes[0].resize(5);
  model.attributes[0][4] = "0";  // first_name is the subject
  model.baselines[0].resize(6);
  model.baselines[0][3] = "1";
  LiveScorer live("analyst", ScoreSettings());
  live.Define(kLgd, {"cmd:select", "p:public.hospital.department", "p:public.hospital.gender",
                     "p:public.hospital.last_name", "t:public.hospital"});
  for (std::uint64_t i = 0; i < 12; ++i) {
    StatementConstants constants;
    constants.vector = i;
    constants.groups.push_back({{{0, NameHash("public.hospital.first_name")}}, {{{i, {}, false}}}});
    const ConstantWords words = Encode(constants);
    live.Observe(kLgd, {words.data(), words.size(), nullptr, 0});
  }
  EXPECT_EQ(live.reach().values[0], 0);
  EXPECT_TRUE(live.OutOfReach(2).empty());
  live.Load(model.Wire());
  EXPECT_EQ(live.reach().values[0], 12);
  EXPECT_EQ(live.reach().values[1], 12);
  EXPECT_EQ(live.reach().values[2], 3);      // the model's tokens say that kLgd shows three columns
  ASSERT_EQ(live.OutOfReach(2).size(), 1U);  // nothing is known of the baseline's subjects
  live.Observe(kLg);
  EXPECT_EQ(live.reach().values[0], 12);
  live.Restart();
  EXPECT_EQ(live.reach().values[0], 0);
}

// What was expected is taken in as Observe() takes it, and not once anything else came in between.
TEST(LiveScorer, ExpectedIsObserved) {
  ModelRows model = WorkedModel();
  model.attributes[0].resize(5);
  model.attributes[0][4] = "0";  // first_name is the subject
  for (const auto counting : {ScoreSettings::kSet, ScoreSettings::kMultiset}) {
    ScoreSettings settings = Published();
    settings.counting = counting;
    LiveScorer plain("analyst", settings);
    LiveScorer live("analyst", settings);
    plain.Load(model.Wire());
    live.Load(model.Wire());
    std::mt19937 random(3);
    const AbstractionId ids[] = {kG, kGh, kLg};
    int taken = 0;
    for (int i = 0; i < 2000; ++i) {
      const AbstractionId id = ids[random() % 30 == 0 ? random() % 3 : 0];
      const std::uint64_t value = random() % (random() % 4 == 0 ? 20 : 100000) + 1;
      const ComparedColumn column = {
          0, NameHash(random() % 8 == 0 ? "public.hospital.gender" : "public.hospital.first_name")};
      StatementConstants constants;
      constants.vector = FoldHash(0, value);
      constants.groups.push_back({{column}, {{{value, {}, false}}}});
      const ConstantWords words = Encode(constants);
      const LiveScorer::Expected expected = live.Expect(id, column, value);
      const bool late = random() % 30 == 0;
      if (late) live.Observe(kLgd), plain.Observe(kLgd);
      const bool done = live.ObserveExpected(expected);
      EXPECT_FALSE(done && late);
      taken += done ? 1 : 0;
      if (!done) live.Observe(id, {words.data(), words.size(), nullptr, 0});
      plain.Observe(id, {words.data(), words.size(), nullptr, 0});
      ASSERT_EQ(live.summary().queries, plain.summary().queries);
      ASSERT_EQ(live.summary().ngrams, plain.summary().ngrams);
      ASSERT_EQ(live.summary().score, plain.summary().score);
      for (int figure = 0; figure < kReachFigureCount; ++figure)
        ASSERT_EQ(live.reach().values[figure], plain.reach().values[figure]) << figure << " after " << i;
    }
    EXPECT_GT(taken, 800);
    EXPECT_EQ(live.LastExplanation(), plain.LastExplanation());
  }
  LiveScorer empty("analyst", Published());
  EXPECT_FALSE(empty.ObserveExpected(empty.Expect(kG, {}, 1)));
}

TEST(LiveScorer, ForgetsWhatTheSessionHasNotHad) {
  LiveScorer live("analyst", ScoreSettings());
  live.Load(WorkedModel().Wire());
  for (AbstractionId id = 100; id < 110; ++id) live.Define(id, {"cmd:select", "t:public.hospital"});
  for (const AbstractionId id : {100, 101, 100}) live.Observe(id);
  const SessionSummary before = live.summary();
  live.ForgetUnused();
  EXPECT_TRUE(live.Knows(100));
  EXPECT_TRUE(live.Knows(101));
  EXPECT_FALSE(live.Knows(102));
  EXPECT_EQ(live.summary().score, before.score);
  EXPECT_EQ(live.summary().ngrams, before.ngrams);
  EXPECT_EQ(live.summary().queries, before.queries);
  live.Observe(101);
  EXPECT_EQ(live.summary().queries, before.queries + 1);
  EXPECT_EQ(live.summary().ngrams, before.ngrams);  // 100, 101 has been
  EXPECT_THROW(live.Observe(102), Error);
  live.Define(102, {"cmd:select"});
  live.Observe(102);
  EXPECT_EQ(live.summary().ngrams, before.ngrams + 1);
}

// More steps than are kept at hand, many times: what is counted is what ScoreSessions would count, n-gram by n-gram.
TEST(LiveScorer, MoreStepsThanAreKept) {
  for (const auto counting : {ScoreSettings::kSet, ScoreSettings::kMultiset}) {
    ScoreSettings settings;
    settings.counting = counting;
    LiveScorer live("analyst", settings);
    live.Load(WorkedModel().Wire());
    Tokens tokens = {"cmd:select", "t:public.hospital"};
    for (AbstractionId id = 100; id < 1300; ++id) live.Define(id, tokens);
    std::set<std::pair<AbstractionId, AbstractionId>> pairs;
    std::int64_t count = 0;
    AbstractionId last = 0;
    for (int round = 0; round < 3; ++round) {
      for (AbstractionId id = 100; id < 1300; id += round == 1 ? 7 : 1) {
        live.Observe(id);
        pairs.emplace(last, id);
        last = id;
        ++count;
        ASSERT_EQ(live.summary().queries, count);
        const auto expected = counting == ScoreSettings::kSet ? static_cast<std::int64_t>(pairs.size()) : count;
        ASSERT_EQ(live.summary().ngrams, expected);
      }
    }
    live.Restart();
    EXPECT_FALSE(live.Repeats(100));
    EXPECT_FALSE(live.Knows(100));
    live.Define(100, tokens);
    live.Observe(100);
    EXPECT_EQ(live.summary().ngrams, 1);
  }
}

// Only what is new fills it.
TEST(LiveScorer, IsFullOfDifferentNGrams) {
  ScoreSettings settings;
  settings.ngram_length = kRecordedLength;
  LiveScorer live("analyst", settings);
  for (AbstractionId id = 100; id < 150; ++id) live.Define(id, {"cmd:select", "t:public.hospital"});
  std::mt19937 random(7);
  std::set<NGram> different;
  NGramWindow window;
  while (different.size() < LiveScorer::kMostNGrams) {
    ASSERT_FALSE(live.IsFull()) << different.size();
    const auto id = static_cast<AbstractionId>(100 + random() % 50);
    for (int i = 0; i < 2; ++i) {
      live.Observe(id);
      window.Push(id);
      different.insert(window.recorded());
    }
  }
  EXPECT_TRUE(live.IsFull());
  live.Restart();
  EXPECT_FALSE(live.IsFull());
}

// Few statements in ever new order make few n-grams of the length that counts.
TEST(LiveScorer, IsNotFullOfLongerNGrams) {
  LiveScorer live("analyst", ScoreSettings());
  for (AbstractionId id = 100; id < 150; ++id) live.Define(id, {"cmd:select", "t:public.hospital"});
  std::mt19937 random(7);
  NGramWindow window;
  for (std::size_t i = 0; i < 2 * LiveScorer::kMostNGrams; ++i) {
    const auto id = static_cast<AbstractionId>(100 + random() % 50);
    live.Observe(id);
    window.Push(id);
    ASSERT_EQ(live.LastNGram(), window.recorded());
  }
  EXPECT_FALSE(live.IsFull());
  EXPECT_EQ(live.summary().ngrams, 50 * 50 + 1);
}

// Long before it has so many n-grams, when each has a statement of its own; what is only weighed does not count.
TEST(LiveScorer, IsFullOfAbstractions) {
  LiveScorer live("analyst", ScoreSettings());
  live.Load(WorkedModel().Wire());
  Tokens tokens = {"cmd:select", "t:public.hospital"};
  for (int i = 0; i < 20; ++i) tokens.push_back("p:public.hospital.column_" + std::to_string(i));
  const std::size_t most = LiveScorer::kMostBytes / LiveScorer::BytesOf(tokens);
  ASSERT_LT(most, LiveScorer::kMostNGrams / 10);
  for (int session = 0; session < 2; ++session) {
    std::size_t had = 0;
    for (; !live.IsFull(); ++had) {
      const auto id = static_cast<AbstractionId>(1000000 + had);
      ASSERT_LE(had, most);
      EXPECT_FALSE(live.Knows(id));
      live.Define(id, tokens);
      live.Define(id + 1000000, tokens);
      live.Weigh(id + 1000000);
      live.Observe(id);
      live.Observe(id);
    }
    EXPECT_EQ(had, most + 1);
    live.Configure(live.settings());
    EXPECT_TRUE(live.IsFull());
    live.Restart();
    EXPECT_FALSE(live.IsFull());
    live.Configure(live.settings());
  }
}

}  // namespace
}  // namespace privacy_score
