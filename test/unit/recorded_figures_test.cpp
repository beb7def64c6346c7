/*
 * recorded_figures_test.cpp - what is said of recorded sessions is what is said of them as they go on.
 */
#include "core/detection/recorded_figures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "alarm_fixture.hpp"
#include "core/detection/alarm_reason.hpp"
#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

using Rows = std::vector<std::vector<std::optional<std::string>>>;

std::string Wire(const Rows& sessions, const Rows& heights = {}, const Rows& statements = {}) {
  WireWriter wire;
  wire.Section(2, TokenRows(1, 30));
  wire.Section(2, TokenRows(1, 60));
  wire.Section(1, {{"1"}, {"50"}});
  wire.Section(3, heights);
  wire.Section(3, statements);
  wire.Section(11, sessions);
  return wire.bytes();
}

const Rows kTwoSessions = {
    {"11", "2026-01-05", "s1", std::nullopt, "{1,2,0}", "{3,0,5}", "4", "2", "400", "3", "2"},
    {"11", "2026-01-05", "s1", std::nullopt, "{1,50}", "{2,1}", "4", "2", "400", "3", "2"},
    {"12", "2026-01-06", "s2", "anna", "{3,-7}", "{1,-1}", std::nullopt, std::nullopt, std::nullopt, std::nullopt,
     std::nullopt},
};

TEST(RecordedFigures, AreThoseOfTheRunningSession) {
  const std::string bytes = WriteCalibration(SmallCalibration());
  const ResultTable table = RecordedFigures(Wire(kTwoSessions), bytes, "clerk", 0.01);
  ASSERT_EQ(table.rows.size(), 2U);
  const auto alarm = SmallAlarm();
  JudgedSession session(*alarm);
  const Tokens tokens = StatementTokens(50);
  session.Take(1, 3, nullptr);
  session.Take(1, 2, nullptr);
  session.Take(50, 1, &tokens, true);
  session.Take(StoredFigures{4, 2, 400, 3, 2});
  const Judgement judgement = session.Judge();
  const AlarmThreshold threshold = alarm->calibration().alarm.Threshold(0.01);
  Rows expected(1, {"2026-01-05", "s1", std::nullopt});
  for (const Figure figure : kFigures) {
    const auto value = session.Figures()[figure];
    expected[0].push_back(value ? std::optional<std::string>(TextOf(*value)) : std::nullopt);
  }
  expected[0].insert(expected[0].end(),
                     {TextOf(judgement.combined), std::string(NameOf(*judgement.reason)),
                      ReasonInWords(judgement, session.Figures(), alarm->calibration()), TextOf(threshold.value),
                      TextOf(threshold.calibrated_on), threshold.extrapolated ? "t" : "f"});
  EXPECT_EQ(table.rows[0], expected[0]);
  EXPECT_EQ(session.Figures()[Figure::kOtherRoles], 1);
  EXPECT_EQ(table.rows[0][13], "3");
  // Nothing of the second one is unusual; what is not known is not told.
  EXPECT_EQ(table.rows[1][2], "anna");
  EXPECT_EQ(table.rows[1][11], std::nullopt);
  EXPECT_EQ(table.rows[1][16], std::nullopt);
}

TEST(RecordedFigures, NeedACalibrationOfTheRole) {
  const std::string bytes = WriteCalibration(SmallCalibration());
  EXPECT_TRUE(RecordedFigures(Wire(kTwoSessions), {}, "clerk", 0.01).rows.empty());
  EXPECT_TRUE(RecordedFigures(Wire(kTwoSessions), bytes, "nobody", 0.01).rows.empty());
  EXPECT_TRUE(RecordedFigures(Wire({}), bytes, "clerk", 0.01).rows.empty());
}

TEST(RecordedFigures, RefuseWhatIsNotRight) {
  const std::string bytes = WriteCalibration(SmallCalibration());
  for (const double rate : {0.0, 1.0, -1.0})
    EXPECT_EQ(ErrorOf([&] { RecordedFigures(Wire(kTwoSessions), bytes, "clerk", rate); }).substr(0, 5), "22023");
  Rows damaged = kTwoSessions;
  damaged[0][5] = "{3}";
  EXPECT_EQ(ErrorOf([&] { RecordedFigures(Wire(damaged), bytes, "clerk", 0.01); }).substr(0, 5), "XX001");
  const std::string cut = Wire(kTwoSessions).substr(0, 100);
  EXPECT_EQ(ErrorOf([&] { RecordedFigures(cut, bytes, "clerk", 0.01); }).substr(0, 5), "XX001");
  EXPECT_FALSE(Finishes([&] { RecordedFigures(Wire(kTwoSessions), bytes, "clerk", 0.01, [] { return true; }); }));
}

}  // namespace
}  // namespace privacy_score
