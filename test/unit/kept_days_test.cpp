/*
 * kept_days_test.cpp - days that are kept add up to the same as days that are scored together.
 */
#include "core/scoring/kept_days.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/error.hpp"
#include "core/scoring/history.hpp"
#include "core/scoring/model_sections.hpp"
#include "sanitizers.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

std::vector<TestSession> RandomDays(std::mt19937_64& random, int days) {
  const std::vector<std::int64_t> known = {kG, kGh, kGd, kLg, kLgd};
  std::vector<TestSession> sessions;
  for (int day = 1; day <= days; ++day) {
    TestSession session{"2024-01-0" + std::to_string(day), {}, "analyst"};
    for (std::size_t i = 0, count = 1 + random() % 6; i < count; ++i) session.ids.push_back(known[random() % 5]);
    sessions.push_back(session);
  }
  return sessions;
}

std::vector<ScoredDay> Restored(const std::vector<ScoredDay>& days) {
  WireWriter writer;
  writer.Section(KeptDaySection::kColumns, KeptRows(days).rows);
  WireReader reader(writer.bytes());
  return ReadKeptDays(reader);
}

// Each day scored by itself, kept as text and read again, in any order, with whichever counting.
TEST(KeptDays, AddUpToWhatIsScoredTogether) {
  std::mt19937_64 random(20240101);
  for (int round = 0; round < testing_support::Instances(200); ++round) {
    ScoreSettings settings;
    settings.ngram_length = static_cast<int>(1 + random() % 3);
    settings.counting = random() % 2 == 0 ? ScoreSettings::kSet : ScoreSettings::kMultiset;
    settings.pad = random() % 2 == 0;
    const auto sessions = RandomDays(random, 6);
    std::vector<ScoredDay> kept;
    for (const TestSession& session : sessions) {
      const auto day = ScoreEachDay(HistoryWire(WorkedModel(), settings, {session}));
      const auto read = Restored(day.days);
      kept.insert(kept.end(), read.begin(), read.end());
    }
    std::shuffle(kept.begin(), kept.end(), random);
    EXPECT_EQ(WithCumulative(kept, settings.counting).rows,
              ScoreDays(HistoryWire(WorkedModel(), settings, sessions)).table.rows);
  }
}

TEST(KeptDays, AnNGramCountsWithItsFirstScore) {
  ScoredDay first{"analyst", std::nullopt, "2024-01-01", std::vector<std::optional<std::string>>(11, "0"),
                  {1},       {2},          {.5}};
  ScoredDay second = first;
  second.day = "2024-01-02";
  second.scores = {.75};
  const auto rows = WithCumulative({second, first}, ScoreSettings::kSet).rows;
  EXPECT_EQ(rows[0][9], "0.5");
  EXPECT_EQ(rows[1][9], "0.5");
  EXPECT_EQ(WithCumulative({second, first}, ScoreSettings::kMultiset).rows[1][9], "2.5");
}

TEST(KeptDays, DamageIsToldApart) {
  ScoredDay day{"analyst", "u",    "2024-01-01", std::vector<std::optional<std::string>>(11, "0"),
                {1, 2, 3}, {1, 1}, {.5, .5}};
  EXPECT_THROW(Restored({day}), Error);
  day.ids = {1, 2};
  EXPECT_EQ(Restored({day}).front().ids, day.ids);
  day.scores = {.5};
  EXPECT_THROW(Restored({day}), Error);
}

}  // namespace
}  // namespace privacy_score
