/*
 * own_baseline_test.cpp - an end user with a baseline of her own: scored against it, the role's beside it, and nobody
 * else's score another one.
 */
#include <gtest/gtest.h>

#include <random>

#include "core/base/error.hpp"
#include "core/scoring/baseline_check.hpp"
#include "core/scoring/day_scorer.hpp"
#include "core/scoring/explain.hpp"
#include "core/scoring/history.hpp"
#include "core/scoring/live_scorer.hpp"
#include "core/scoring/memory_history.hpp"
#include "core/scoring/pair_score.hpp"
#include "day_fixture.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

// Where the columns of results stand.
constexpr std::size_t kDayScore = 5, kDayEnforced = 12, kDayEndUser = 13, kDayPeers = 14;
constexpr std::size_t kSessionScore = 6, kSessionPeers = 17;

// The worked model, where the end user ann has worked with last names and nobody else has.
ModelRows WithAnn() {
  ModelRows model = WorkedModel();
  model.AddBaseline(2, "analyst", {SequenceOf({kLg, kLg, kG})}, "ann");
  return model;
}

std::vector<TestSession> AnnAndOthers() {
  const std::vector<AbstractionId> ids = {kLg, kLgd, kGd, kGd};
  return {{"2024-01-01", ids, "analyst", "ann"},
          {"2024-01-01", {kG, kLg}, "analyst", "ann"},
          {"2024-01-02", {kGh, kLgd}, "analyst", "ann"},
          {"2024-01-01", ids, "analyst", "bob"},
          {"2024-01-01", ids, "analyst"},
          {"2024-01-01", ids, "stranger", "ann"}};
}

// Settings of every kind, by a number.
ScoreSettings Kind(unsigned number) {
  ScoreSettings settings = (number & 1U) != 0 ? Published() : ScoreSettings();
  settings.counting = (number & 2U) != 0 ? ScoreSettings::kMultiset : ScoreSettings::kSet;
  settings.compare = (number & 4U) != 0 ? ScoreSettings::kUnion : ScoreSettings::kPositionwise;
  settings.pad = (number & 8U) != 0;
  settings.ngram_length = 1 + static_cast<int>(number % 3);
  return settings;
}
constexpr unsigned kKinds = 16;

TEST(OwnBaseline, IsFoundBeforeTheRoles) {
  const Model model = Model::Parse(WithAnn().Wire());
  const Baseline* role = model.BaselineOfRole("analyst");
  ASSERT_NE(role, nullptr);
  EXPECT_EQ(role->id, 1);
  EXPECT_EQ(model.BaselineFor("analyst", "")->id, 1);
  EXPECT_EQ(model.BaselineFor("analyst", "bob")->id, 1);
  EXPECT_EQ(model.BaselineFor("analyst", "ann")->id, 2);
  EXPECT_EQ(model.BaselineFor("stranger", "ann"), nullptr);
  EXPECT_EQ(model.PeersOf("analyst", "ann"), role);
  EXPECT_EQ(model.PeersOf("analyst", "bob"), nullptr);
  EXPECT_EQ(model.PeersOf("analyst", ""), nullptr);
  // One that is all there is of its role is nobody else's.
  ModelRows alone = ModelOf(ExampleTable());
  alone.AddBaseline(7, "clerk", {}, "ann");
  const Model without_role = Model::Parse(alone.Wire());
  EXPECT_EQ(without_role.BaselineOfRole("clerk"), nullptr);
  EXPECT_EQ(without_role.BaselineFor("clerk", "bob"), nullptr);
  EXPECT_EQ(without_role.BaselineFor("clerk", "ann")->id, 7);
  EXPECT_EQ(without_role.PeersOf("clerk", "ann"), nullptr);
}

TEST(OwnBaseline, ProbabilityOfAColumn) {
  ModelRows rows = ModelOf(ExampleTable());
  rows.AddAbstraction(1, {"cmd:select", "p:public.hospital.gender"});
  rows.AddAbstraction(2, {"cmd:select", "p:public.hospital.department"});
  rows.AddAbstraction(3, {"cmd:select", "w:public.hospital.first_name"});
  rows.AddBaseline(1, "a", {SequenceOf({1}), SequenceOf({1, 2}), SequenceOf({1, 2})});
  rows.AddBaseline(2, "b", {SequenceOf({3})});
  const auto probability = [&](const std::string& role, const std::string& end_user, const std::string& column) {
    const PairScorer pairs(std::make_shared<const Model>(Model::Parse(rows.Wire())), role, {}, end_user);
    return pairs.Probability(pairs.model().FindAttribute("public.hospital." + column).value());
  };
  std::vector<double> before;
  for (const char* role : {"a", "b", "c"})
    for (const char* column : {"gender", "department", "first_name"}) before.push_back(probability(role, "", column));
  rows.AddBaseline(3, "a", {SequenceOf({1}), SequenceOf({3})}, "ann");
  rows.AddBaseline(4, "c", {SequenceOf({2})}, "ann");
  // Of the role's three sessions her peers are made, not of role b's.
  EXPECT_NEAR(probability("a", "ann", "gender"), .8 * 1.02 / 3 + .2 * 3.02 / 4, 1e-15);
  EXPECT_NEAR(probability("a", "ann", "department"), .8 * .02 / 3 + .2 * 2.02 / 4, 1e-15);
  EXPECT_NEAR(probability("a", "ann", "first_name"), .8 * 1.02 / 3 + .2 * .02 / 4, 1e-15);
  // Without a baseline of the role they are all roles'.
  EXPECT_NEAR(probability("c", "ann", "department"), .8 * 1.02 / 2 + .2 * 2.02 / 5, 1e-15);
  std::size_t at = 0;
  for (const char* role : {"a", "b", "c"})
    for (const char* column : {"gender", "department", "first_name"}) {
      EXPECT_EQ(probability(role, "", column), before[at]) << role << column;
      EXPECT_EQ(probability(role, "bob", column), before[at++]) << role << column;
    }
}

TEST(OwnBaseline, ChangesNobodyElsesScore) {
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    const auto before = ScoreDays(HistoryWire(WorkedModel(), Kind(kind), AnnAndOthers())).table.rows;
    const auto after = ScoreDays(HistoryWire(WithAnn(), Kind(kind), AnnAndOthers())).table.rows;
    ASSERT_EQ(before.size(), 5U);
    ASSERT_EQ(after.size(), 5U);
    int anns = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i][kDayPeers], std::nullopt);
      const bool is_ann = before[i][kDayEndUser] == "ann" && before[i][0] == "analyst";
      anns += is_ann ? 1 : 0;
      if (is_ann) {
        // What she scored before is what her peers' baseline says.
        EXPECT_EQ(after[i][kDayPeers], before[i][kDayScore]) << kind;
      } else {
        EXPECT_EQ(after[i], before[i]) << kind;
      }
    }
    EXPECT_EQ(anns, 2);
  }
}

// In the published form a score rests on one baseline alone, so hers makes her the same as a role that has it.
TEST(OwnBaseline, ScoresAsThatOfARole) {
  for (unsigned kind = 1; kind < kKinds; kind += 2) {
    ModelRows model = WithAnn();
    model.AddBaseline(3, "ann_alone", {SequenceOf({kLg, kLg, kG})});
    auto sessions = AnnAndOthers();
    const auto hers =
        ScoreSessions(HistoryWire(model, Kind(kind), {sessions.begin(), sessions.begin() + 3})).table.rows;
    for (TestSession& session : sessions) session.role = "ann_alone";
    const auto as_role =
        ScoreSessions(HistoryWire(model, Kind(kind), {sessions.begin(), sessions.begin() + 3})).table.rows;
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t column = 3; column < kSessionPeers; ++column)
        EXPECT_EQ(hers[i][column], as_role[i][column]) << kind << ' ' << column;
      EXPECT_TRUE(hers[i][kSessionPeers]);
      EXPECT_FALSE(as_role[i][kSessionPeers]);
      sum += Number(hers[i][kSessionScore]);
    }
    EXPECT_GT(sum, 0);
  }
}

TEST(OwnBaseline, TellsWhatANGramAddsToThePeers) {
  const auto rows = ScoreNGrams(HistoryWire(WithAnn(), Published(), AnnAndOthers())).table.rows;
  for (const auto& row : rows) EXPECT_EQ(row[10].has_value(), row[9] == "ann" && row[8] == "analyst");
  // Departments are new for her, and what the others read all the time.
  const auto usual =
      ScoreNGrams(HistoryWire(WithAnn(), Published(), {{"2024-01-01", {kG, kGd, kG}, "analyst", "ann"}})).table.rows;
  ASSERT_EQ(usual.size(), 2U);
  for (const auto& row : usual) {
    EXPECT_GT(Number(row[4]), 0);
    EXPECT_EQ(row[10], "0");
  }
}

// The running score, while baselines and rates come and go, equals that of history to the last bit.
TEST(OwnBaseline, LiveEqualsStored) {
  std::mt19937 random(5);
  const AbstractionId ids[] = {kG, kGh, kLg, kGd, kLgd};
  for (unsigned kind = 0; kind < kKinds; ++kind) {
    std::vector<TestSession> sessions;
    for (int i = 0; i < 12; ++i) {
      sessions.push_back({"2024-01-01", {}, "analyst", i % 3 == 0 ? "bob" : "ann"});
      for (unsigned k = 0; k < 2 + random() % 12; ++k) sessions.back().ids.push_back(ids[random() % 5]);
    }
    const auto rows = ScoreSessions(HistoryWire(WithAnn(), Kind(kind), sessions)).table.rows;
    ModelRows without_rates = WithAnn();
    without_rates.rates.clear();
    const std::string models[] = {WorkedModel().Wire(), without_rates.Wire(), WithAnn().Wire()};
    LiveScorer live("analyst", ScoreSettings(), "bob");
    live.Load(models[2]);
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      live.Restart();
      live.Configure(Kind(kind), *sessions[i].end_user);
      for (std::size_t k = 0; k < sessions[i].ids.size(); ++k) {
        live.Observe(sessions[i].ids[k]);
        if (i % 2 == 1) live.Load(models[k % 3]);
      }
      if (i % 2 == 1) live.Load(models[2]);
      const SessionSummary& summary = live.summary();
      EXPECT_EQ(rows[i][kSessionScore], TextOf(summary.score)) << kind;
      EXPECT_EQ(rows[i][10], TextOf(summary.statement_score)) << kind;
      EXPECT_EQ(rows[i][kSessionPeers].value_or("-1"), TextOf(summary.peer_score)) << kind;
      EXPECT_EQ(rows[i][kSessionPeers].has_value(), sessions[i].end_user == "ann");
      EXPECT_FALSE(summary.estimated || summary.peer_estimated);
    }
  }
}

TEST(OwnBaseline, AsksForTheRatesOfThePeersToo) {
  ModelRows model = WithAnn();
  model.rates.clear();
  LiveScorer live("analyst", Published(), "ann");
  live.Load(model.Wire());
  live.Observe(kLg);
  live.Observe(kLg);  // hers, and new to her peers
  EXPECT_EQ(live.summary().score, 0);
  EXPECT_GT(live.summary().peer_score, 0);
  EXPECT_TRUE(live.summary().peer_estimated);
  EXPECT_TRUE(live.IsMissingRates());
  EXPECT_FALSE(live.TakeMissing().empty());
  EXPECT_FALSE(live.IsMissingRates());
}

// What is made of the role's baseline stands once in memory, with and without an own one.
TEST(OwnBaseline, SharesWhatIsTheRoles) {
  const auto scorer = [](const char* end_user) {
    return std::make_unique<LiveScorer>("analyst", Published(), end_user);
  };
  const auto bob = scorer("bob"), cid = scorer("cid"), ann = scorer("ann"), ann_again = scorer("ann"), eve = scorer("");
  bob->Load(WithAnn().Wire());
  EXPECT_TRUE(cid->IsAgainstBaselineOf(*bob));
  EXPECT_FALSE(ann->IsAgainstBaselineOf(*bob));
  cid->Share(*bob);
  EXPECT_TRUE(cid->Shares(*bob));
  ann->Share(*bob);
  EXPECT_FALSE(ann->Shares(*bob));
  ann_again->Share(*ann);
  EXPECT_TRUE(ann_again->Shares(*ann));
  eve->Share(*ann);
  EXPECT_TRUE(eve->Shares(*bob));
  // What one of them has defined the peers of another need as well, whoever begins anew meanwhile.
  const Tokens tokens = {"cmd:select", "p:public.hospital.first_name", "t:public.hospital"};
  ann->Define(99, tokens);
  ann->Observe(kG);
  ann->Observe(99);
  bob->Restart();
  ann->Observe(99);
  bob->Define(99, tokens);
  bob->Observe(kG);
  bob->Observe(99);
  bob->Observe(99);
  EXPECT_GT(bob->summary().score, 0);
  EXPECT_EQ(ann->summary().peer_score, bob->summary().score);
  EXPECT_EQ(bob->summary().peer_score, -1);
  // Without an own baseline in the model she is as the others.
  bob->Load(WorkedModel().Wire());
  ann->Share(*bob);
  EXPECT_TRUE(ann->Shares(*bob));
  EXPECT_EQ(ann->summary().peer_score, -1);
  EXPECT_EQ(ann->summary().score, bob->summary().score);
}

// A baseline of hers where the role has none: nobody to compare with.
TEST(OwnBaseline, StandsWithoutTheRoles) {
  ModelRows model = WorkedModel();
  model.AddBaseline(2, "stranger", {SequenceOf({kLg, kLgd})}, "ann");
  LiveScorer ann("stranger", Published(), "ann"), bob("stranger", Published(), "bob");
  ann.Load(model.Wire());
  bob.Share(ann);
  EXPECT_FALSE(bob.Shares(ann));
  for (LiveScorer* live : {&ann, &bob})
    for (const AbstractionId id : {kLg, kLgd}) live->Observe(id);
  EXPECT_EQ(ann.summary().score, 0);
  EXPECT_GT(bob.summary().score, 0);
  EXPECT_EQ(ann.summary().peer_score, -1);
}

TEST(OwnBaseline, SeveralProcessesAreAsOne) {
  for (const auto counting : {ScoreSettings::kSet, ScoreSettings::kMultiset}) {
    ScoreSettings settings = Published();
    settings.counting = counting;
    LiveScorer here("analyst", settings, "ann"), there("analyst", settings, "ann");
    for (LiveScorer* live : {&here, &there}) live->Load(WithAnn().Wire());
    SessionJournal journal;
    here.WriteTo(&journal);
    here.Define(99, {"cmd:select", "p:public.hospital.city", "t:public.hospital"});
    for (const AbstractionId id :
         {AbstractionId{kLg}, AbstractionId{kG}, AbstractionId{99}, AbstractionId{kG}, AbstractionId{99}})
      here.Observe(id);
    there.CatchUp(journal.words().data(), journal.words().size());
    EXPECT_GT(here.summary().peer_score, 0);
    EXPECT_EQ(there.summary().peer_score, here.summary().peer_score);
    EXPECT_EQ(there.summary().score, here.summary().score);
  }
}

TEST(OwnBaseline, OnAStandby) {
  MemoryHistory memory(1000);
  LiveScorer live("analyst", Published(), "ann");
  live.Load(WithAnn().Wire());
  for (const AbstractionId id : {kLg, kLgd, kGd}) {
    live.Observe(id);
    EXPECT_TRUE(memory.Append(1, PrincipalKey("analyst", "ann"), 7, kRecordedLength, id, 1));
  }
  const auto session = memory.ScoreSession(1, WithAnn().Wire(), "analyst", "ann", Published());
  ASSERT_TRUE(session);
  EXPECT_EQ(session->summary.score, live.summary().score);
  EXPECT_EQ(session->summary.peer_score, live.summary().peer_score);
  EXPECT_NE(session->summary.score, session->summary.peer_score);
  WireWriter nothing;
  nothing.Section(2, TextRows{});
  nothing.Section(2, TextRows{});
  const auto day = memory.ScoreDay("analyst", "ann", 7, WithAnn().Wire(), nothing.bytes(), Published());
  ASSERT_TRUE(day);
  EXPECT_EQ(day->summary.score, live.summary().score);
}

TEST(OwnBaseline, OfADayInParts) {
  const std::vector<TestSession> sessions = {{"d", {kLg, kLgd, kGd}, "analyst", "ann"}};
  const auto rows = ScoreDays(HistoryWire(WithAnn(), Published(), sessions)).table.rows;
  const auto model = std::make_shared<const Model>(Model::Parse(WithAnn().Wire()));
  const RecordedDay day = {{1, {SequenceOf(sessions[0].ids)}}};
  const auto score = [&](const std::string& end_user) {
    DayScorer scorer(model, "analyst", Published(), end_user);
    return ScoreNow(scorer, day, WithAnn().abstractions);
  };
  const DayScore hers = score("ann");
  EXPECT_EQ(TextOf(hers.score), rows[0][kDayScore]);
  EXPECT_EQ(TextOf(hers.enforced), rows[0][kDayEnforced]);
  const DayScore roles = score({});
  EXPECT_EQ(TextOf(roles.score), rows[0][kDayPeers]);
}

TEST(OwnBaseline, LimitsOfReach) {
  ModelRows model = WithAnn();
  model.baselines[0][3] = "100";
  model.baselines[1][3] = "2";
  LiveScorer ann("analyst", Published(), "ann"), bob("analyst", Published(), "bob");
  for (LiveScorer* live : {&ann, &bob}) live->Load(model.Wire());
  EXPECT_LT(ann.LeastOutOfReach(1)[0], bob.LeastOutOfReach(1)[0]);
}

TEST(OwnBaseline, Explained) {
  const Tokens tokens = {"cmd:select", "p:public.hospital.gender", "p:public.hospital.last_name", "t:public.hospital"};
  const auto json = [&](const char* end_user) {
    return ExplainQuery(WithAnn().Wire(), "analyst", Published(), tokens, {}, end_user).json;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(
      has(json("ann"), "\"role\": \"analyst\", \"end_user\": \"ann\", \"own_baseline\": true, \"baseline\": true"));
  EXPECT_TRUE(has(json("ann"), "\"score\": 0,"));
  EXPECT_TRUE(has(json("ann"), "\"peer_known\": false, \"peer_score\": 0.3445"));
  EXPECT_TRUE(has(json("bob"), "\"end_user\": \"bob\", \"own_baseline\": false, \"baseline\": true"));
  EXPECT_TRUE(has(json("bob"), "\"score\": 0.3445"));
  EXPECT_FALSE(has(json("bob"), "peer"));
  EXPECT_FALSE(has(json(""), "end_user"));
}

TEST(OwnBaseline, Checked) {
  std::vector<TestSession> sessions;
  for (int day = 1; day <= 5; ++day)
    sessions.push_back({"2026-01-0" + std::to_string(day), {kLg, kLg, kLgd}, "analyst", "ann"});
  sessions.back().ids = {kLg, kGh, kGd};
  ModelRows model = WorkedModel();
  const auto check = [&](const char* end_user) {
    return CheckBaseline(HistoryWire(model, Published(), sessions), "analyst", "2026-01-01", "2026-01-05", nullptr,
                         end_user);
  };
  EXPECT_THROW(check("ann"), Error);
  std::vector<Sequence> sequences;
  for (const TestSession& session : sessions) sequences.push_back(SequenceOf(session.ids));
  model.AddBaseline(2, "analyst", sequences, "ann");
  const BaselineCheck hers = check("ann");
  model.baselines.back().back() = std::nullopt;
  model.baselines.back()[1] = "ann_alone";
  for (TestSession& session : sessions) session.role = "ann_alone";
  const BaselineCheck as_role =
      CheckBaseline(HistoryWire(model, Published(), sessions), "ann_alone", "2026-01-01", "2026-01-05");
  ASSERT_EQ(hers.days.size(), 5U);
  EXPECT_GT(hers.days.back().score, 0);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(hers.days[i].score, as_role.days[i].score);
  EXPECT_EQ(hers.columns, as_role.columns);
  EXPECT_EQ(hers.rate.upper, as_role.rate.upper);
}

}  // namespace
}  // namespace privacy_score
