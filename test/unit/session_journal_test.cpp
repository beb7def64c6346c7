/*
 * session_journal_test.cpp - a session that several scorers keep together is scored as one scorer would.
 */
#include "core/scoring/session_journal.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/keyed_hash.hpp"
#include "core/scoring/live_scorer.hpp"
#include "score_fixture.hpp"
#include "summary_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

// Keeps what it reads.
struct Kept {
  std::vector<SessionJournal::Definition> definitions;
  std::vector<SessionJournal::Met> met;
  std::vector<SessionJournal::Asked> asked;
  std::vector<SessionJournal::Subject> subjects;
  std::vector<SessionJournal::Reached> reached;
  std::vector<SessionJournal::Sketch> sketches;
  void Take(const SessionJournal::Definition& entry) { definitions.push_back(entry); }
  void Take(const SessionJournal::Met& entry) { met.push_back(entry); }
  void Take(const SessionJournal::Asked& entry) { asked.push_back(entry); }
  void Take(const SessionJournal::Subject& entry) { subjects.push_back(entry); }
  void Take(const SessionJournal::Reached& entry) { reached.push_back(entry); }
  void Take(const SessionJournal::Sketch& entry) { sketches.push_back(entry); }
};

TEST(SessionJournal, IsReadAsItWasWritten) {
  SessionJournal journal;
  const std::string tokens("cmd:select\0p:public.t.name", 26);
  const std::uint64_t groups[] = {1, 1, 0, 77, 1, 1, 5};
  journal.Write(SessionJournal::Definition{-7, tokens});
  journal.Write(SessionJournal::Met{{0, 0, 0, 3, -7, -7}, 5});
  journal.Write(SessionJournal::Asked{-7, 99, groups, 7});
  journal.Write(SessionJournal::Subject{-7, {3, 88}, 1234});
  journal.Write(SessionJournal::Reached{{{4, 3, 2}, 9, 8}});
  journal.Write(SessionJournal::Sketch{-7, false, "twelve bytes"});
  journal.Write(SessionJournal::Sketch{0, true, "12345678"});
  journal.Write(SessionJournal::Definition{8, ""});
  Kept kept;
  SessionJournal::Read(journal.words().data(), journal.words().size(), kept);
  ASSERT_EQ(kept.definitions.size(), 2U);
  EXPECT_EQ(kept.definitions[0].id, -7);
  EXPECT_EQ(kept.definitions[0].tokens, tokens);
  EXPECT_EQ(kept.definitions[1].tokens, "");
  ASSERT_EQ(kept.sketches.size(), 2U);
  EXPECT_EQ(kept.sketches[0].id, -7);
  EXPECT_FALSE(kept.sketches[0].of_subjects);
  EXPECT_EQ(kept.sketches[0].bytes, "twelve bytes");
  EXPECT_TRUE(kept.sketches[1].of_subjects);
  EXPECT_EQ(kept.sketches[1].bytes, "12345678");
  ASSERT_EQ(kept.met.size(), 1U);
  EXPECT_EQ(kept.met[0].ngram, (NGram{0, 0, 0, 3, -7, -7}));
  EXPECT_EQ(kept.met[0].count, 5U);
  ASSERT_EQ(kept.asked.size(), 1U);
  EXPECT_EQ(kept.asked[0].vector, 99U);
  EXPECT_EQ(std::vector<std::uint64_t>(kept.asked[0].groups, kept.asked[0].groups + kept.asked[0].size),
            std::vector<std::uint64_t>(groups, groups + 7));
  ASSERT_EQ(kept.subjects.size(), 1U);
  EXPECT_EQ(kept.subjects[0].column.item, 3U);
  EXPECT_EQ(kept.subjects[0].column.name, 88U);
  EXPECT_EQ(kept.subjects[0].value, 1234U);
  ASSERT_EQ(kept.reached.size(), 1U);
  EXPECT_EQ(kept.reached[0].figures.values[2], 2);
  EXPECT_EQ(kept.reached[0].figures.addressed, 9);
  EXPECT_EQ(kept.reached[0].figures.person, 8);
  for (std::size_t size = 1; size < journal.words().size(); ++size) {
    Kept cut;
    try {
      SessionJournal::Read(journal.words().data(), size, cut);
    } catch (const Error& error) {
      EXPECT_EQ(error.sqlstate(), "XX001");
    }
  }
  const std::uint64_t unknown[] = {9, 1};
  EXPECT_THROW(SessionJournal::Read(unknown, 2, kept), Error);
}

// What one scorer writes all others catch up with before they go on.
class Together {
 public:
  Together(int scorers, const ScoreSettings& settings, const std::string& model) {
    for (int i = 0; i < scorers; ++i) {
      parts_.push_back(std::make_unique<Part>(settings));
      if (i == 0)
        parts_.back()->scorer.Load(model);
      else
        parts_.back()->scorer.Share(parts_.front()->scorer);
      parts_.back()->scorer.WriteTo(&parts_.back()->own);
    }
  }
  LiveScorer& At(std::size_t part) { return parts_[part]->scorer; }
  void CatchUp(std::size_t part) {
    Part& at = *parts_[part];
    at.scorer.CatchUp(all_.data() + at.read, all_.size() - at.read);
    at.read = all_.size();
  }
  void Observe(std::size_t part, const NGram& follows, AbstractionId id, const BoundConstants& constants) {
    CatchUp(part);
    Part& at = *parts_[part];
    at.scorer.Resume(follows);
    at.scorer.Observe(id, constants);
    all_.insert(all_.end(), at.own.words().begin(), at.own.words().end());
    at.own.Clear();
    at.read = all_.size();
  }

 private:
  struct Part {
    explicit Part(const ScoreSettings& settings) : scorer("analyst", settings) {}
    LiveScorer scorer;
    SessionJournal own;
    std::size_t read = 0;
  };
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<std::uint64_t> all_;
};

void ExpectSame(const SessionSummary& a, const SessionSummary& b) {
  ExpectSameScores(a, b);
  EXPECT_EQ(a.estimated, b.estimated);
  EXPECT_EQ(a.peer_score, b.peer_score);
}

TEST(SessionJournal, SeveralScorersAreAsOne) {
  std::mt19937 random(11);
  for (const auto counting : {ScoreSettings::kSet, ScoreSettings::kMultiset}) {
    for (int round = 0; round < 20; ++round) {
      ScoreSettings settings = Published();
      settings.counting = counting;
      settings.pad = round % 2 == 0;
      const std::string model = WorkedModel().Wire();
      Together together(4, settings, model);
      LiveScorer alone("analyst", settings);
      alone.Load(model);
      const AbstractionId ids[] = {kG, kGh, kLg, kGd, kLgd};
      std::vector<NGram> met = {NGram{}};
      for (int i = 0; i < 120; ++i) {
        const NGram follows = random() % 4 == 0 ? met[random() % met.size()] : met.back();
        const AbstractionId id = ids[random() % 5];
        const std::size_t part = random() % 4;
        together.Observe(part, follows, id, {});
        alone.Resume(follows);
        alone.Observe(id);
        EXPECT_EQ(together.At(part).LastNGram(), alone.LastNGram());
        ExpectSame(together.At(part).summary(), alone.summary());
        met.push_back(alone.LastNGram());
      }
      for (std::size_t part = 0; part < 4; ++part) {
        together.CatchUp(part);
        ExpectSame(together.At(part).summary(), alone.summary());
        // With counting as a set only what is new is written down.
        if (counting == ScoreSettings::kMultiset) {
          EXPECT_EQ(together.At(part).summary().queries, alone.summary().queries);
        }
      }
    }
  }
}

// A new model in one of them changes nothing of what the session has had.
TEST(SessionJournal, CatchesUpUnderAnotherModel) {
  const ScoreSettings settings = Published();
  Together together(2, settings, ModelRows().Wire());
  together.At(0).Define(kLgd, {"cmd:select", "p:public.hospital.city"});
  together.Observe(0, {}, kLgd, {});
  EXPECT_EQ(together.At(0).summary().score, 0);
  EXPECT_TRUE(together.At(1).Shares(together.At(0)));
  together.At(1).Load(WorkedModel().Wire());
  EXPECT_FALSE(together.At(1).Shares(together.At(0)));
  together.CatchUp(1);
  EXPECT_EQ(together.At(1).summary().queries, 1);
  together.At(0).Share(together.At(1));
  ExpectSame(together.At(0).summary(), together.At(1).summary());
}

// What is handed on in pieces goes entry by entry.
TEST(SessionJournal, IsCutBetweenEntries) {
  SessionJournal journal;
  const std::uint64_t groups[] = {0};
  for (AbstractionId id = 1; id <= 3; ++id) {
    journal.Write(SessionJournal::Subject{id, {0, 7}, 9});
    journal.Write(SessionJournal::Asked{id, 5, groups, 1});
  }
  ASSERT_EQ(journal.words().size(), 30U);
  EXPECT_EQ(journal.Fitting(4), 0U);
  EXPECT_EQ(journal.Fitting(5), 5U);
  EXPECT_EQ(journal.Fitting(14), 10U);
  EXPECT_EQ(journal.Fitting(1000), 30U);
  journal.Drop(25);
  EXPECT_EQ(journal.Fitting(1000), 5U);
  EXPECT_EQ(journal.words()[1], 3U);
}

}  // namespace
}  // namespace privacy_score
