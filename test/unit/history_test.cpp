/*
 * history_test.cpp - the SQL functions over the stored history.
 */
#include "core/scoring/history.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

const std::vector<TestSession> kDays = {{"2024-01-01", {kG, kGh, kG}, "analyst"},
                                        {"2024-01-02", {kG, kGd, kLgd}, "analyst"},
                                        {"2024-01-03", {kLg, kLgd, kGd}, "analyst"}};

TEST(ScoreDays, WorkedDays) {
  const HistoryResult result = ScoreDays(HistoryWire(WorkedModel(), Published(), kDays));
  ASSERT_EQ(result.table.rows.size(), 3U);
  EXPECT_TRUE(result.missing.empty());
  const double score[] = {0, .6891, 1.5504};
  const double tight[] = {1.9328, 2.6218, 3.4832};
  const double cumulative[] = {0, .6891, 2.2395};
  for (std::size_t day = 0; day < 3; ++day) {
    const auto& row = result.table.rows[day];
    ASSERT_EQ(row.size(), 15U);
    EXPECT_EQ(row[13], std::nullopt);
    EXPECT_EQ(row[14], std::nullopt);
    EXPECT_EQ(row[0], "analyst");
    EXPECT_EQ(row[1], kDays[day].day);
    EXPECT_EQ(row[2], "3");
    EXPECT_EQ(row[3], "2");
    EXPECT_NEAR(Number(row[5]), score[day], 5e-5);
    EXPECT_EQ(row[6], "4");
    EXPECT_NEAR(Number(row[7]), tight[day], 5e-5);
    EXPECT_NEAR(Number(row[8]), score[day] / 4, 5e-5);
    EXPECT_NEAR(Number(row[9]), cumulative[day], 5e-5);
  }
}

TEST(ScoreDays, RolesAreApart) {
  auto sessions = kDays;
  sessions.push_back({"2024-01-01", {kG}, "stranger"});
  const HistoryResult result = ScoreDays(HistoryWire(WorkedModel(), ScoreSettings(), sessions));
  ASSERT_EQ(result.table.rows.size(), 4U);
  const auto& row = result.table.rows[3];
  EXPECT_EQ(row[0], "stranger");
  EXPECT_EQ(row[5], row[9]);   // cumulative starts afresh
  EXPECT_EQ(row[5], row[7]);   // no baseline
  EXPECT_EQ(row[5], row[10]);  // one statement after padding
}

TEST(ScoreSessions, PartsOfOneSessionAreOneSequence) {
  WireWriter whole;
  WorkedModel().Write(whole);
  whole.Section(8, {SettingsRow(Published())});
  whole.Section(
      11, ModelRows::Padded({{"1", "analyst", "2024-01-01", "a", "{4,5,2}", "{1,1,1}", "{3,0,9}", "30", "7"}}, 11));
  WireWriter parts;
  WorkedModel().Write(parts);
  parts.Section(8, {SettingsRow(Published())});
  parts.Section(11, ModelRows::Padded({{"1", "analyst", "2024-01-01", "a", "{4}", "{1}", "{3}", "30", "7"},
                                       {"1", "analyst", "2024-01-01", "a", "{5,2}", "{1,1}", "{0,9}", "30", "7"}},
                                      11));
  EXPECT_EQ(ScoreSessions(whole.bytes()).table.rows, ScoreSessions(parts.bytes()).table.rows);
  const auto rows = ScoreSessions(whole.bytes()).table.rows;
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_EQ(rows[0].size(), 18U);
  EXPECT_EQ(rows[0][11], "12");
  EXPECT_EQ(rows[0][12], "30");
  EXPECT_EQ(rows[0][13], "7");
  EXPECT_EQ(rows[0][14], std::nullopt);
  EXPECT_EQ(rows[0][2], "a");
  EXPECT_NEAR(Number(rows[0][6]), 1.5504, 5e-5);
}

// A principal is a role and an end user: each has days of its own, against the baseline of the role.
TEST(ScoreDays, EndUsersAreApart) {
  WireWriter writer;
  WorkedModel().Write(writer);
  writer.Section(8, {SettingsRow(Published())});
  TextRows sessions = ModelRows::Padded({{"1", "analyst", "2024-01-01", "a", "{4,5,2}", "{1,1,1}"},
                                         {"2", "analyst", "2024-01-01", "b", "{4,5,2}", "{1,1,1}"},
                                         {"3", "analyst", "2024-01-02", "c", "{1,2}", "{1,1}"},
                                         {"4", "analyst", "2024-01-02", "d", "{1,2}", "{1,1}"}},
                                        11);
  sessions[1][10] = sessions[3][10] = "ann";
  writer.Section(11, sessions);
  const auto days = ScoreDays(writer.bytes()).table.rows;
  ASSERT_EQ(days.size(), 4U);
  EXPECT_EQ(days[0][13], std::nullopt);
  EXPECT_EQ(days[2][13], "ann");
  EXPECT_EQ(days[2][1], "2024-01-01");
  for (const std::size_t column : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U}) EXPECT_EQ(days[0][column], days[2][column]);
  EXPECT_EQ(days[1][9], days[3][9]);
  EXPECT_EQ(ScoreSessions(writer.bytes()).table.rows[1][16], "ann");
  EXPECT_EQ(ScoreNGrams(writer.bytes()).table.rows.size(), 4U);
}

TEST(ScoreNGrams, MismatchedOnesByScore) {
  const auto rows = ScoreNGrams(HistoryWire(WorkedModel(), Published(), kDays)).table.rows;
  ASSERT_EQ(rows.size(), 5U);
  ASSERT_EQ(rows[0].size(), 11U);
  EXPECT_EQ(rows[0][0], "2024-01-01");
  EXPECT_EQ(rows[0][4], "0");
  EXPECT_EQ(rows[3][0], "2024-01-03");
  EXPECT_NEAR(Number(rows[3][4]), .8614, 5e-5);
  EXPECT_EQ(rows[3][1],
            "{\"cmd:select p:public.hospital.gender p:public.hospital.last_name t:public.hospital\","
            "\"cmd:select p:public.hospital.department p:public.hospital.gender p:public.hospital.last_name "
            "t:public.hospital\"}");
  EXPECT_EQ(rows[3][2], "1");
  EXPECT_EQ(rows[3][6], "{\"public.hospital.last_name\"}");
  EXPECT_EQ(rows[3][7], "0");
  EXPECT_EQ(rows[3][8], "analyst");
  EXPECT_NEAR(Number(rows[4][4]), .6891, 5e-5);
}

TEST(History, MissingRatesComeBack) {
  ModelRows model = WorkedModel();
  const TextRows all = model.rates;
  const std::string exact_wire = HistoryWire(model, ScoreSettings(), kDays);
  model.rates.clear();
  const HistoryResult first = ScoreDays(HistoryWire(model, ScoreSettings(), kDays));
  ASSERT_FALSE(first.missing.empty());
  for (const auto& row : all) {
    for (const auto& want : first.missing) {
      if (row[1] == want.attributes && row[0] == want.relation) model.rates.push_back(row);
    }
  }
  const HistoryResult second = ScoreDays(HistoryWire(model, ScoreSettings(), kDays));
  EXPECT_TRUE(second.missing.empty());
  EXPECT_EQ(second.table.rows, ScoreDays(exact_wire).table.rows);
}

TEST(History, NothingToScore) {
  EXPECT_TRUE(ScoreDays(HistoryWire({}, ScoreSettings(), {})).table.rows.empty());
  EXPECT_TRUE(ScoreSessions(HistoryWire({}, ScoreSettings(), {})).table.rows.empty());
  EXPECT_TRUE(ScoreNGrams(HistoryWire({}, ScoreSettings(), {})).table.rows.empty());
}

TEST(History, GivesUp) {
  const std::string wire = HistoryWire(WorkedModel(), Published(), kDays);
  const GivesUp at_once = [] { return true; };
  EXPECT_FALSE(Finishes([&] { ScoreDays(wire, at_once); }));
  EXPECT_FALSE(Finishes([&] { ScoreSessions(wire, at_once); }));
  EXPECT_FALSE(Finishes([&] { ScoreNGrams(wire, at_once); }));
}

TEST(History, RefusesBadSettings) {
  for (const TextRow& row : TextRows{{"0", "set", "union", "1", "t", "t", "t", "10"},
                                     {"99999999999", "set", "union", "1", "t", "t", "t", "10"},
                                     {"2", "bag", "union", "1", "t", "t", "t", "10"},
                                     {"2", "set", "both", "1", "t", "t", "t", "10"},
                                     {"2", "set", "union", "1.01", "t", "t", "t", "10"},
                                     {"2", "set", "union", "1", "t", "t", "t", "-1"}}) {
    WireWriter writer;
    ModelRows().Write(writer);
    writer.Section(8, {row});
    writer.Section(11, {});
    EXPECT_THROW(ScoreDays(writer.bytes()), Error);
  }
}

std::string SessionsWire(const std::vector<TestSession>& sessions) {
  WireWriter writer;
  writer.Section(11, ModelRows::Padded(SessionRows(sessions), 11));
  return writer.bytes();
}

TEST(BaselineOfHistory, ReadsSessions) {
  const BaselineRows rows = BaselineOfHistory(SessionsWire({{"2024-01-01", {1, 1}}, {"2024-01-02", {1}}}));
  EXPECT_EQ(rows.sessions, 2);
  ASSERT_EQ(rows.session_sets.rows.size(), 1U);
  EXPECT_EQ(rows.session_sets.rows[0][0], "2");
}

TEST(ChooseNGramLength, LeaveOneDayOut) {
  // Single statements are always known, pairs half of the time.
  const auto table = ChooseNGramLength(
      SessionsWire({{"2024-01-01", {1, 2}}, {"2024-01-02", {2, 1}}, {"2024-01-03", {1, 2}}, {"2024-01-04", {2, 1, 1}}}),
      3);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0], (TextRow{"1", "0", "t"}));
  EXPECT_NEAR(Number(table.rows[1][1]), 1.0 / 3 / 4, 1e-15);
  EXPECT_EQ(table.rows[1][2], "f");
  EXPECT_EQ(table.rows[2][2], "f");
  // Repeated work: as long as wanted.
  const auto same = ChooseNGramLength(SessionsWire({{"2024-01-01", {1, 2, 3}}, {"2024-01-02", {1, 2, 3}}}), 6);
  EXPECT_EQ(same.rows[5], (TextRow{"6", "0", "t"}));
  // One day tells nothing.
  const auto one = ChooseNGramLength(SessionsWire({{"2024-01-01", {1, 2, 3}}}), 6);
  EXPECT_EQ(one.rows[1][2], "t");
  // Nor do lengths that no session has: they have no rate.
  EXPECT_EQ(ChooseNGramLength(SessionsWire({}), 1).rows[0], (TextRow{"1", std::nullopt, "t"}));
  const auto brief = ChooseNGramLength(SessionsWire({{"2024-01-01", {1}}}), 2, false);
  EXPECT_EQ(brief.rows[0][2], "t");
  EXPECT_EQ(brief.rows[1], (TextRow{"2", std::nullopt, "f"}));
  EXPECT_THROW(ChooseNGramLength(SessionsWire({}), 0), Error);
  EXPECT_THROW(ChooseNGramLength(SessionsWire({}), 7), Error);
}

}  // namespace
}  // namespace privacy_score
