/*
 * returning_session_test.cpp - a session that comes back from its history is the one that it was.
 */
#include "core/scoring/returning_session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/error.hpp"
#include "core/base/joined.hpp"
#include "core/scoring/live_scorer.hpp"
#include "score_fixture.hpp"
#include "summary_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

const AbstractionId kAsked[] = {kG, kGh, kLg, kGd, kLgd};

// A session of one scorer, of which both history and journal are kept.
struct KeptSession {
  KeptSession(const ScoreSettings& settings, const std::string& model) : scorer("analyst", settings) {
    scorer.Load(model);
    scorer.WriteTo(&journal);
  }
  void Observe(const NGram& follows, AbstractionId id, std::int64_t rows) {
    if (follows != at) ForEachContext(follows, [&](AbstractionId context) { AppendContext(sequence, context); });
    scorer.Resume(follows);
    scorer.Observe(id);
    AppendRun(sequence, id, 1, rows);
    at = scorer.LastNGram();
  }
  LiveScorer scorer;
  SessionJournal journal;
  Sequence sequence;
  NGram at{};
};

void ExpectSameFigures(const LiveScorer& one, const LiveScorer& other) {
  ExpectSameScores(one.summary(), other.summary());
  for (int figure = 0; figure < kReachFigureCount; ++figure)
    EXPECT_EQ(one.reach().values[figure], other.reach().values[figure]);
  EXPECT_EQ(one.reach().addressed, other.reach().addressed);
  EXPECT_EQ(one.reach().person, other.reach().person);
}

ReturningSession StoredAs(const KeptSession& kept, std::size_t parts) {
  ReturningSession session;
  const std::size_t each = kept.sequence.size() / parts + 1;
  for (std::size_t part = parts; part-- > 0;) {
    Sequence piece;
    for (std::size_t i = part * each; i < std::min((part + 1) * each, kept.sequence.size()); ++i)
      piece.push_back(kept.sequence[i]);
    session.AddPart(static_cast<std::int64_t>(part), IdsText(piece), RunsText(piece), RowsText(piece));
  }
  return session;
}

void DefineAll(ReturningSession& session) {
  const Model model = Model::Parse(WorkedModel().Wire());
  for (const AbstractionId id : session.Abstractions())
    session.Define(id, Joined(*model.FindTokens(id), std::string_view("\0", 1)));
}

TEST(ReturningSession, GoesOnAsOneThatWasNeverAway) {
  std::mt19937 random(5);
  for (const auto counting : {ScoreSettings::kSet, ScoreSettings::kMultiset}) {
    for (int round = 0; round < 20; ++round) {
      ScoreSettings settings = Published();
      settings.counting = counting;
      settings.pad = round % 2 == 0;
      const std::string model = WorkedModel().Wire();
      KeptSession kept(settings, model);
      std::vector<NGram> met = {NGram{}};
      const auto one = [&](LiveScorer* beside) {
        const NGram follows = random() % 4 == 0 ? met[random() % met.size()] : met.back();
        const AbstractionId id = kAsked[random() % 5];
        kept.Observe(follows, id, static_cast<std::int64_t>(random() % 3));
        met.push_back(kept.at);
        if (beside == nullptr) return;
        beside->Resume(follows);
        beside->Observe(id);
        EXPECT_EQ(beside->LastNGram(), kept.scorer.LastNGram());
      };
      for (int i = 0; i < 60; ++i) one(nullptr);
      ReturningSession session = StoredAs(kept, 1 + random() % 4);
      DefineAll(session);
      const auto words =
          session.Journal(settings.ngram_length, counting == ScoreSettings::kMultiset, AskedIn(kept.journal.words()));
      LiveScorer back("analyst", settings);
      back.Load(model);
      back.CatchUp(words.data(), words.size());
      ExpectSameFigures(back, kept.scorer);
      if (counting == ScoreSettings::kMultiset) {
        EXPECT_EQ(back.summary().queries, kept.scorer.summary().queries);
      }
      for (int i = 0; i < 60; ++i) one(&back);
      ExpectSameFigures(back, kept.scorer);
    }
  }
}

TEST(ReturningSession, CountsPartsAndRows) {
  ReturningSession session;
  EXPECT_EQ(session.next_part(), 0);
  session.AddPart(1, "{5,0,5}", "{2,-1,1}", "{7,0,1}");
  session.AddPart(0, "{4}", "{1}", "{3}");
  EXPECT_EQ(session.next_part(), 2);
  EXPECT_EQ(session.rows(), 11);
  EXPECT_EQ(session.Abstractions(), (std::vector<AbstractionId>{4, 5}));
}

TEST(ReturningSession, IsNoneWhereAnythingIsMissing) {
  ReturningSession session;
  session.AddPart(0, "{4}", "{1}", "{3}");
  EXPECT_THROW(session.Journal(2, false, {}), Error);
  session.Define(4, "cmd:select");
  EXPECT_EQ(session.Journal(2, false, {}).size(), 3U + 2U + 8U);
  session.AddPart(2, "{4}", "{1}", "{3}");
  EXPECT_THROW(session.Journal(2, false, {}), Error);
  EXPECT_THROW(session.AddPart(1, "{4,5}", "{1}", ""), Error);
  EXPECT_THROW(session.AddPart(-1, "{4}", "{1}", ""), Error);
  EXPECT_THROW(AskedIn({9}), Error);
}

TEST(ReturningSession, KeepsWhatWasAskedOfStatementsThatItHas) {
  SessionJournal journal;
  const std::uint64_t groups[] = {0};
  journal.Write(SessionJournal::Definition{4, "cmd:select"});
  journal.Write(SessionJournal::Met{{0, 0, 0, 0, 0, 4}});
  journal.Write(SessionJournal::Asked{4, 7, groups, 1});
  journal.Write(SessionJournal::Subject{5, {1, 2}, 3});
  journal.Write(SessionJournal::Reached{{{4, 3, 2}, 9, 8}});
  const auto asked = AskedIn(journal.words());
  EXPECT_EQ(asked.size(), 5U + 5U + 6U);
  ReturningSession session;
  session.AddPart(0, "{4}", "{1}", "");
  session.Define(4, "cmd:select");
  EXPECT_EQ(session.Journal(2, false, asked).size(), 5U + 8U + 5U + 6U);
}

// Figures of constants that are lost are never undercut, under another model either.
TEST(ReturningSession, ReachNeverFalls) {
  LiveScorer scorer("analyst", Published());
  scorer.Load(WorkedModel().Wire());
  SessionJournal journal;
  journal.Write(SessionJournal::Reached{{{40, 30, 2}, 9, 8}});
  scorer.CatchUp(journal.words().data(), journal.words().size());
  scorer.Load(WorkedModel().Wire());
  EXPECT_EQ(scorer.reach().values[0], 40);
  EXPECT_EQ(scorer.reach().values[1], 30);
  EXPECT_EQ(scorer.reach().values[2], 2);
  EXPECT_EQ(scorer.reach().addressed, 9);
  EXPECT_EQ(scorer.reach().person, 8);
}

}  // namespace
}  // namespace privacy_score
