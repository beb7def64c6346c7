/*
 * accepted_work_test.cpp - what is accepted beside a baseline is known to scores as the baseline is: for whom it is
 * accepted, live as from history, and nobody else's score is another one.
 */
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/scoring/day_scorer.hpp"
#include "core/scoring/history.hpp"
#include "core/scoring/live_scorer.hpp"
#include "core/scoring/reach.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

constexpr std::size_t kMismatched = 5, kSessionScore = 6;

void Accept(ModelRows& model, const std::optional<std::string>& end_user, const std::vector<AbstractionId>& ids) {
  const BaselineRows rows = BaselineOf({SequenceOf(ids)});
  for (const auto& row : rows.ngrams.rows)
    model.accepted.push_back({"analyst", end_user, row[0], std::nullopt, std::nullopt});
}

const std::vector<TestSession> kSessions = {{"2024-01-01", {kLg, kLgd}, "analyst", "ann"},
                                            {"2024-01-01", {kLg, kLgd}, "analyst", "bob"},
                                            {"2024-01-01", {kLg, kLgd}, "analyst"},
                                            {"2024-01-01", {kLg, kLgd}, "stranger", "ann"}};

std::vector<std::string> Scores(const ModelRows& model, const ScoreSettings& settings = {}) {
  std::vector<std::string> scores;
  for (const auto& row : ScoreSessions(HistoryWire(model, settings, kSessions)).table.rows)
    scores.push_back(*row[kMismatched] + ' ' + *row[kSessionScore]);
  return scores;
}

// The score of a session that goes on, where another of the role lends what it has made of the model.
SessionSummary Live(const ModelRows& model, const std::string& lender, const std::string& end_user,
                    const std::vector<AbstractionId>& ids) {
  LiveScorer first("analyst", {}, lender);
  first.Load(model.Wire());
  LiveScorer scorer("analyst", {}, end_user);
  scorer.Share(first);
  for (const AbstractionId id : ids) scorer.Observe(id);
  return scorer.summary();
}

TEST(AcceptedWork, IsKnownToWhomItIsAcceptedFor) {
  const ModelRows plain = WorkedModel();
  ModelRows of_ann = plain;
  Accept(of_ann, "ann", {kLg, kLgd});
  const auto before = Scores(plain);
  const auto after = Scores(of_ann);
  EXPECT_EQ(after[0], "0 0");
  EXPECT_NE(before[0], after[0]);
  for (std::size_t i = 1; i < before.size(); ++i) EXPECT_EQ(after[i], before[i]) << i;
  ModelRows of_role = plain;
  Accept(of_role, std::nullopt, {kLg, kLgd});
  const auto all = Scores(of_role);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all[i], "0 0") << i;
  EXPECT_EQ(all[3], before[3]);
}

TEST(AcceptedWork, IsTheSameLive) {
  ModelRows model = WorkedModel();
  Accept(model, "ann", {kLg, kLgd});
  const auto history = Scores(model);
  for (const char* lender : {"ann", "bob", ""}) {
    std::size_t i = 0;
    for (const char* end_user : {"ann", "bob", ""}) {
      const SessionSummary live = Live(model, lender, end_user, {kLg, kLgd});
      EXPECT_EQ(TextOf(live.mismatched) + ' ' + TextOf(live.score), history[i++]) << lender << ' ' << end_user;
    }
  }
}

TEST(AcceptedWork, IsKnownBesideABaselineOfHerOwnAndOnlyWithOne) {
  ModelRows model = WorkedModel();
  model.AddBaseline(2, "analyst", {SequenceOf({kGh})}, "ann");
  Accept(model, std::nullopt, {kLg, kLgd});
  EXPECT_EQ(Scores(model)[0], "0 0");
  // A role without a baseline: nothing is known, whatever was accepted before that was dropped.
  ModelRows without = model;
  without.baselines.clear();
  without.ngrams.clear();
  without.session_sets.clear();
  ModelRows nothing = without;
  nothing.accepted.clear();
  EXPECT_EQ(Scores(without), Scores(nothing));
}

TEST(AcceptedWork, NeverRaisesAScore) {
  for (unsigned kind = 0; kind < 8; ++kind) {
    ScoreSettings settings;
    settings.counting = (kind & 1U) != 0 ? ScoreSettings::kMultiset : ScoreSettings::kSet;
    settings.compare = (kind & 2U) != 0 ? ScoreSettings::kUnion : ScoreSettings::kPositionwise;
    settings.pad = (kind & 4U) != 0;
    ModelRows model = WorkedModel();
    const auto before = ScoreSessions(HistoryWire(model, settings, kSessions)).table.rows;
    Accept(model, "ann", {kGh, kLg});
    const auto after = ScoreSessions(HistoryWire(model, settings, kSessions)).table.rows;
    EXPECT_LE(ParseDouble(*after[0][kSessionScore]), ParseDouble(*before[0][kSessionScore])) << kind;
    EXPECT_EQ(after[1], before[1]) << kind;
  }
}

TEST(AcceptedWork, ReachMayBeAsHighAsIsAccepted) {
  ModelRows model = WorkedModel();
  model.accepted = {{"analyst", std::nullopt, std::nullopt, "subjects", "40"},
                    {"analyst", "ann", std::nullopt, "subjects", "70"},
                    {"analyst", "ann", std::nullopt, "day_reach", "90"}};
  const Model parsed = Model::Parse(model.Wire());
  EXPECT_EQ(parsed.AcceptedReach("analyst", "ann", false), (GreatestReach{std::nullopt, 70, std::nullopt}));
  EXPECT_EQ(parsed.AcceptedReach("analyst", "bob", false), (GreatestReach{std::nullopt, 40, std::nullopt}));
  EXPECT_EQ(parsed.AcceptedReach("analyst", "ann", true), (GreatestReach{90, std::nullopt, std::nullopt}));
  EXPECT_EQ(parsed.AcceptedReach("stranger", "ann", true), GreatestReach());
  const GreatestReach baseline = {5, 10, std::nullopt};
  const GreatestReach accepted = {std::nullopt, 70, 3};
  EXPECT_EQ(LeastOutOfReach(baseline, 2, accepted), (ReachLimits{11, 71, kNeverOutOfReach}));
  ReachFigures figures;
  figures.values[1] = 70;
  EXPECT_TRUE(OutOfReach(figures, baseline, 2, accepted).empty());
  EXPECT_EQ(OutOfReach(figures, baseline, 2).size(), 1U);
  figures.values[1] = 71;
  EXPECT_EQ(OutOfReach(figures, baseline, 2, accepted).size(), 1U);
}

TEST(AcceptedWork, RefusesDamage) {
  for (const TextRow& row : std::vector<TextRow>{{"analyst", "ann", "{1,2}", std::nullopt, std::nullopt},
                                                 {"analyst", "ann", std::nullopt, "height", "1"},
                                                 {"analyst", "ann", std::nullopt, "reach", "-1"},
                                                 {"analyst", "ann", std::nullopt, "reach", std::nullopt},
                                                 {std::nullopt, "ann", std::nullopt, "reach", "1"}}) {
    ModelRows model = WorkedModel();
    model.accepted = {row};
    EXPECT_THROW(Model::Parse(model.Wire()), Error);
  }
}

}  // namespace
}  // namespace privacy_score
