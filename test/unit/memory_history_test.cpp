/*
 * memory_history_test.cpp - history in memory gives the scores that stored history gives, and is bounded.
 */
#include "core/scoring/memory_history.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

void Feed(MemoryHistory& memory, std::uint64_t key, const std::vector<AbstractionId>& ids, std::int64_t run = 1) {
  for (const AbstractionId id : ids)
    EXPECT_TRUE(memory.Append(key, PrincipalKey("analyst", ""), 7, kRecordedLength, id, run));
}

std::string NothingStored() {
  WireWriter writer;
  writer.Section(2, TextRows{});
  writer.Section(2, TextRows{});
  return writer.bytes();
}

double Score(const std::optional<MemoryScore>& score) { return score ? score->summary.score : -1; }

TEST(MemoryHistory, ScoresASessionAsTheLiveScorer) {
  MemoryHistory memory(1000);
  LiveScorer live("analyst", Published());
  live.Load(WorkedModel().Wire());
  for (const AbstractionId id : {kLg, kLgd, kGd}) live.Observe(id);
  Feed(memory, 1, {kLg, kLgd, kGd});
  Feed(memory, 2, {kG});
  const auto score = memory.ScoreSession(1, WorkedModel().Wire(), "analyst", "", Published());
  ASSERT_TRUE(score);
  EXPECT_EQ(score->summary.score, live.summary().score);
  EXPECT_EQ(score->summary.queries, 3);
  EXPECT_EQ(score->summary.mismatched, 2);
  EXPECT_NEAR(score->largest, .8614, 5e-5);
  EXPECT_NE(score->explanation.find("\"ngram\""), std::string::npos);
  EXPECT_TRUE(score->missing.empty());
  EXPECT_FALSE(memory.ScoreSession(3, WorkedModel().Wire(), "analyst", "", Published()));
}

TEST(MemoryHistory, RunsCountAsOftenAsTheyAre) {
  MemoryHistory memory(1000);
  LiveScorer live("analyst", ScoreSettings());
  live.Load(WorkedModel().Wire());
  for (int i = 0; i < 9; ++i) live.Observe(kLgd);
  for (int i = 0; i < 2; ++i) live.Observe(kG);
  EXPECT_TRUE(memory.Append(1, PrincipalKey("analyst", ""), 7, kRecordedLength, kLgd, 4));
  EXPECT_TRUE(memory.Append(1, PrincipalKey("analyst", ""), 7, kRecordedLength, kLgd, 5));
  EXPECT_TRUE(memory.Append(1, PrincipalKey("analyst", ""), 7, kRecordedLength, kG, 2));
  const auto score = memory.ScoreSession(1, WorkedModel().Wire(), "analyst", "", ScoreSettings());
  ASSERT_TRUE(score);
  EXPECT_EQ(score->summary.queries, 11);
  EXPECT_EQ(score->summary.score, live.summary().score);
}

TEST(MemoryHistory, ADayIsAllItsSessionsAndWhatIsStored) {
  MemoryHistory memory(1000);
  Feed(memory, 1, {kG, kGh});
  memory.Close(1);
  Feed(memory, 2, {kGd, kLgd});
  const auto model = WorkedModel();
  const double alone = Score(memory.ScoreDay("analyst", "", 7, model.Wire(), NothingStored(), Published()));
  EXPECT_NEAR(alone, .6891, 5e-5);
  // The same day as stored history has it, with another session that the primary has recorded.
  const std::vector<TestSession> sessions = {{"d", {kG, kGh}}, {"d", {kGd, kLgd}}, {"d", {kLg, 99, kGd}}};
  auto wide = model;
  wide.AddAbstraction(99, {"cmd:select", "t:public.hospital", "p:public.hospital.last_name"});
  const auto days = ScoreDays(HistoryWire(wide, Published(), sessions));
  WireWriter stored;
  stored.Section(2, TextRows{{"99", "cmd:select"}, {"99", "p:public.hospital.last_name"}, {"99", "t:public.hospital"}});
  const Sequence sequence = SequenceOf(sessions[2].ids);
  stored.Section(2, TextRows{{IdsText(sequence), RunsText(sequence)}});
  const double together = Score(memory.ScoreDay("analyst", "", 7, model.Wire(), stored.bytes(), Published()));
  EXPECT_EQ(memory.ScoreDay("analyst", "", 7, model.Wire(), stored.bytes(), Published())->enforced,
            Number(days.table.rows[0][12]));
  EXPECT_EQ(together, Number(days.table.rows[0][5]));
  EXPECT_GT(together, alone);
  EXPECT_EQ(Score(memory.ScoreDay("other", "", 7, model.Wire(), NothingStored(), Published())), 0);
}

TEST(MemoryHistory, DefinitionsAreNeededAndForgotten) {
  MemoryHistory memory(1000);
  EXPECT_FALSE(memory.Knows(99));
  Feed(memory, 1, {99});
  EXPECT_THROW(memory.ScoreSession(1, WorkedModel().Wire(), "analyst", "", Published()), Error);
  memory.Define(99, {"cmd:select", "p:public.hospital.city", "t:public.hospital"});
  EXPECT_TRUE(memory.ScoreSession(1, WorkedModel().Wire(), "analyst", "", Published()));
  memory.ForgetBefore(7);
  EXPECT_TRUE(memory.Knows(99));
  EXPECT_EQ(memory.size(), 2u);
  memory.ForgetBefore(8);
  EXPECT_TRUE(memory.Knows(99));  // its session is open
  memory.Close(1);
  memory.ForgetBefore(8);
  EXPECT_FALSE(memory.Knows(99));
  EXPECT_EQ(memory.size(), 0u);
}

TEST(MemoryHistory, KeepsNoLongerNGramsOfASession) {
  const ScoreSettings settings = Published();
  const AbstractionId ids[] = {kG, kGh, kLg, kGd, kLgd};
  MemoryHistory memory(1000), whole(1000);
  LiveScorer live("analyst", settings);
  live.Load(WorkedModel().Wire());
  std::mt19937 random(9);
  for (int i = 0; i < 100; ++i) {
    const AbstractionId id = ids[random() % 5];
    EXPECT_TRUE(memory.Append(1, PrincipalKey("analyst", ""), 7, settings.ngram_length, id, 1));
    EXPECT_TRUE(whole.Append(1, PrincipalKey("analyst", ""), 7, kRecordedLength, id, 1));
    live.Observe(id);
  }
  for (const MemoryHistory* each : {&memory, &whole}) {
    const auto score = each->ScoreSession(1, WorkedModel().Wire(), "analyst", "", settings);
    ASSERT_TRUE(score);
    EXPECT_EQ(score->summary.score, live.summary().score);
    EXPECT_EQ(score->summary.queries, live.summary().queries);
  }
  EXPECT_LE(memory.size(), whole.size() / 2 + 5 * 5 + 1);
  memory.Close(1);
  whole.Close(1);
  EXPECT_EQ(memory.size(), whole.size());
}

TEST(MemoryHistory, SaysWhatDoesNotFit) {
  MemoryHistory memory(2);
  EXPECT_TRUE(memory.Append(1, PrincipalKey("analyst", ""), 7, kRecordedLength, kG, 1));
  EXPECT_TRUE(memory.Append(1, PrincipalKey("analyst", ""), 7, kRecordedLength, kG, 0));
  EXPECT_FALSE(memory.Append(2, PrincipalKey("analyst", ""), 7, kRecordedLength, kGd, 1));
  EXPECT_TRUE(memory.ScoreSession(1, WorkedModel().Wire(), "analyst", "", Published()));
  EXPECT_FALSE(memory.ScoreSession(2, WorkedModel().Wire(), "analyst", "", Published()));
  EXPECT_FALSE(memory.ScoreDay("analyst", "", 7, WorkedModel().Wire(), NothingStored(), Published()));
  EXPECT_EQ(memory.size(), 2u);
}

}  // namespace
}  // namespace privacy_score
