/*
 * ngram_test.cpp - cutting sessions and n-grams.
 */
#include "core/scoring/ngram.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/base/error.hpp"

namespace privacy_score {
namespace {

TEST(NGram, PaddingStandsInFront) {
  NGramWindow window;
  window.Push(7);
  window.Push(8);
  EXPECT_EQ(window.recorded(), (NGram{0, 0, 0, 0, 7, 8}));
  EXPECT_EQ(Suffix(window.recorded(), 1), (NGram{0, 0, 0, 0, 0, 8}));
  EXPECT_FALSE(HasPadding(window.recorded(), 2));
  EXPECT_TRUE(HasPadding(window.recorded(), 3));
  EXPECT_EQ(TextOf(window.recorded()), "{0,0,0,0,7,8}");
  EXPECT_EQ(ParseNGram("{0,0,0,0,7,8}"), window.recorded());
  EXPECT_THROW(ParseNGram("{7,8}"), Error);
}

TEST(NGram, RunsCutAsSingleExecutionsWould) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Sequence sequence;
    std::map<NGram, std::int64_t> expected;
    NGramWindow window;
    for (unsigned run = random() % 6; run > 0; --run) {
      const AbstractionId id = 1 + static_cast<AbstractionId>(random() % 3);
      const auto count = static_cast<std::int64_t>(1 + random() % 20);
      AppendRun(sequence, id, count);
      for (std::int64_t i = 0; i < count; ++i) {
        window.Push(id);
        ++expected[window.recorded()];
      }
    }
    std::map<NGram, std::int64_t> actual;
    std::int64_t total = 0;
    ForEachNGram(sequence, [&](const NGram& ngram, std::int64_t count, std::int64_t) {
      actual[ngram] += count;
      total += count;
    });
    EXPECT_EQ(actual, expected);
    EXPECT_EQ(total, LengthOf(sequence));
  }
}

// Statements of one session over several connections: each says what it follows unless that stands before it.
TEST(NGram, ContextSaysWhatAStatementFollows) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Sequence sequence;
    std::vector<NGram> met = {NGram{}};
    std::map<NGram, std::int64_t> expected;
    std::int64_t statements = 0;
    NGram tail{};
    for (unsigned steps = 1 + random() % 30; steps > 0; --steps) {
      const NGram follows = random() % 2 == 0 ? tail : met[random() % met.size()];
      if (follows != tail) ForEachContext(follows, [&](AbstractionId id) { AppendContext(sequence, id); });
      NGramWindow window(follows);
      const AbstractionId id = 1 + static_cast<AbstractionId>(random() % 3);
      window.Push(id);
      AppendRun(sequence, id);
      tail = window.recorded();
      met.push_back(tail);
      ++expected[tail];
      ++statements;
    }
    // As they are stored and read again.
    Sequence read;
    AppendStored(read, IdsText(sequence), RunsText(sequence));
    std::map<NGram, std::int64_t> actual;
    ForEachNGram(read, [&](const NGram& ngram, std::int64_t count, std::int64_t) { actual[ngram] += count; });
    EXPECT_EQ(actual, expected);
    EXPECT_EQ(LengthOf(read), statements);
    EXPECT_EQ(BaselineOf({read}).sessions, 1);
  }
}

TEST(NGram, ContextIsNoStatement) {
  Sequence sequence;
  AppendStored(sequence, "{5,0,5,5}", "{1,-1,-1,2}");
  EXPECT_EQ(LengthOf(sequence), 3);
  EXPECT_EQ(RunsText(sequence), "{1,-1,-1,2}");
  EXPECT_THROW(AppendStored(sequence, "{5}", "{-2}"), Error);
  Sequence only;
  AppendStored(only, "{0,7}", "{-1,-1}");
  EXPECT_EQ(*BaselineOf({sequence}).session_sets.rows.front()[1], "{5}");
}

TEST(NGram, StoredSequences) {
  Sequence sequence;
  AppendStored(sequence, "{5,6}", "{2,1}");
  AppendStored(sequence, "{6,0,6}", "{1,9,1}");
  EXPECT_EQ(IdsText(sequence), "{5,6}");
  EXPECT_EQ(RunsText(sequence), "{2,3}");
  EXPECT_THROW(AppendStored(sequence, "{5}", "{1,2}"), Error);
  EXPECT_THROW(AppendStored(sequence, "{5}", "{-2}"), Error);
}

TEST(NGram, CountsThatWouldNotAddUpAreRefused) {
  Sequence sequence;
  AppendRun(sequence, 5, kMostCounted);
  AppendRun(sequence, 5, kMostCounted);
  EXPECT_EQ(LengthOf(sequence), 2 * kMostCounted);
  EXPECT_THROW(AppendRun(sequence, 5, kMostCounted + 1), Error);
  EXPECT_THROW(AppendRun(sequence, 5, -1), Error);
  EXPECT_THROW(AppendRun(sequence, 5, 1, kMostCounted + 1), Error);
  EXPECT_THROW(AppendRun(sequence, 5, 1, -1), Error);
  EXPECT_EQ(ParseCount("0"), 0);
  EXPECT_THROW(ParseCount("-1"), Error);
  EXPECT_THROW(ParseCount("9223372036854775807"), Error);
}

TEST(NGram, RowsKeepToTheirNGrams) {
  // 5 5 6, then rows of the second 5, then seven more 6 of which the last returned 4.
  Sequence sequence;
  AppendStored(sequence, "{5,5,6,5,6,6}", "{1,1,1,0,6,1}", "{10,2,0,30,0,4}");
  AppendStored(sequence, "{9}", "{0}", "{7}");  // of a statement of an earlier part that is not here
  EXPECT_EQ(LengthOf(sequence), 10);
  std::map<NGram, std::int64_t> rows;
  std::int64_t visited = 0;
  ForEachNGram(sequence, [&](const NGram& ngram, std::int64_t count, std::int64_t returned) {
    rows[ngram] += returned;
    visited += count;
  });
  EXPECT_EQ(visited, 10);
  EXPECT_EQ(rows[(NGram{0, 0, 0, 0, 0, 5})], 10);
  EXPECT_EQ(rows[(NGram{0, 0, 0, 0, 5, 5})], 32);
  EXPECT_EQ(rows[(NGram{6, 6, 6, 6, 6, 6})], 4);
  EXPECT_THROW(AppendStored(sequence, "{5}", "{1}", "{1,2}"), Error);
}

TEST(CutSessions, AtPausesMidnightsAndRoles) {
  const auto sessions = CutSessions(
      {
          {1, "b", 100, 0, 11},
          {1, "b", 110, 0, 12},
          {1, "b", 115, 0, 0},   // empty: takes no place and ends no pause
          {1, "b", 121, 0, 13},  // 11 after 110
          {1, "b", 122, 1, 14},  // midnight
          {2, "b", 101, 0, 15},  // another connection
          {1, "a", 111, 0, 16},  // another role on the same connection
          {1, "a", 105, 0, 17},  // out of order
          {3, "a", 105, 0, 0},
      },
      10);
  ASSERT_EQ(sessions.size(), 5U);
  const auto ids = [&](std::size_t i) { return sessions[i].role + IdsText(sessions[i].sequence); };
  EXPECT_EQ(ids(0), "a{17,16}");
  EXPECT_EQ(ids(1), "b{11,12}");
  EXPECT_EQ(ids(2), "b{15}");
  EXPECT_EQ(ids(3), "b{13}");
  EXPECT_EQ(ids(4), "b{14}");
  EXPECT_EQ(sessions[4].day, 1);
  EXPECT_EQ(sessions[1].started, 100);
  EXPECT_EQ(sessions[1].ended, 110);
  EXPECT_TRUE(CutSessions({}, 10).empty());
  EXPECT_THROW(CutSessions({}, -1), Error);
}

TEST(CutSessions, APauseOfExactlyTheGapCutsNot) {
  EXPECT_EQ(CutSessions({{1, "a", 0, 0, 1}, {1, "a", 10, 0, 1}}, 10).size(), 1U);
  EXPECT_EQ(CutSessions({{1, "a", 0, 0, 1}, {1, "a", 11, 0, 1}}, 10).size(), 2U);
}

TEST(BaselineOf, CountsNGramsAndSessionSets) {
  const BaselineRows rows = BaselineOf({{{1, 2}}, {{1, 1}}, {{2, 1}, {1, 1}}, {}});
  EXPECT_EQ(rows.sessions, 3);
  ASSERT_EQ(rows.ngrams.rows.size(), 4U);
  EXPECT_EQ(rows.ngrams.rows[0][0], "{0,0,0,0,0,1}");
  EXPECT_EQ(rows.ngrams.rows[0][1], "2");
  EXPECT_EQ(rows.ngrams.rows[3][0], "{0,0,0,0,2,1}");
  ASSERT_EQ(rows.session_sets.rows.size(), 2U);
  EXPECT_EQ(rows.session_sets.rows[0][0], "2");
  EXPECT_EQ(rows.session_sets.rows[0][1], "{1}");
  EXPECT_EQ(rows.session_sets.rows[1][1], "{1,2}");
}

}  // namespace
}  // namespace privacy_score
