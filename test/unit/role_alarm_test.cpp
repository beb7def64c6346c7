/*
 * role_alarm_test.cpp - a session is judged the same in whatever order and parts its statements come, and its figures
 * never fall.
 */
#include "core/detection/role_alarm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "alarm_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

using Executions = std::vector<std::pair<AbstractionId, std::int64_t>>;

// Takes executions in as the backend does: tokens are given where they are wanted.
void Take(JudgedSession& session, const Executions& executions) {
  for (const auto& [id, times] : executions) {
    const Tokens tokens = StatementTokens(id);
    session.Take(id, times, session.Wants(id) ? &tokens : nullptr, id % 2 == 0);
  }
}

TEST(JudgedSession, DoesNotDependOnOrderAndParts) {
  const auto alarm = SmallAlarm();
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    Executions executions;
    for (unsigned left = 1 + random() % 20; left > 0; --left)
      executions.emplace_back(1 + random() % 60, 1 + random() % 5);
    JudgedSession session(*alarm);
    Take(session, executions);
    Executions parted;
    for (const auto& [id, times] : executions)
      for (std::int64_t i = 0; i < times; ++i) parted.emplace_back(id, 1);
    std::shuffle(parted.begin(), parted.end(), random);
    JudgedSession other(*alarm);
    Take(other, parted);
    for (const Figure figure : kFigures) EXPECT_EQ(session.Figures()[figure], other.Figures()[figure]);
    EXPECT_EQ(session.Judge().combined, other.Judge().combined);
  }
}

TEST(JudgedSession, NeverFalls) {
  const auto alarm = SmallAlarm();
  std::mt19937 random(6);
  JudgedSession session(*alarm);
  StoredFigures stored = {0, 0, 0, 0, 0};
  double combined = 0;
  for (int step = 0; step < 200; ++step) {
    const AbstractionId id = 1 + random() % 60;
    const Tokens tokens = StatementTokens(id);
    session.Take(id, 1, &tokens);
    *stored.addressed += random() % 2;
    *stored.person += random() % 2;
    *stored.most_rows += random() % 100;
    *stored.known += random() % 2;
    *stored.differ += random() % 2;
    session.Take(stored);
    EXPECT_GE(session.Judge().combined, combined);
    combined = session.Judge().combined;
  }
  EXPECT_EQ(combined, 8);
}

TEST(JudgedSession, KnowsWhatIsNew) {
  const auto alarm = SmallAlarm();
  JudgedSession session(*alarm);
  EXPECT_FALSE(session.Wants(0));
  EXPECT_FALSE(session.Wants(1));  // the baseline has it
  EXPECT_TRUE(session.Wants(50));
  Take(session, {{1, 3}, {50, 7}, {0, 100}});
  EXPECT_FALSE(session.Wants(50));
  const SessionFigures figures = session.Figures();
  EXPECT_GT(*figures[Figure::kTokens], 0);
  EXPECT_EQ(figures[Figure::kTokens], figures[Figure::kTokensMax]);
  EXPECT_EQ(figures[Figure::kRepeats], 7);
  EXPECT_EQ(figures[Figure::kNewRepeats], 7);
  EXPECT_EQ(figures[Figure::kNewRuns], 7);
  EXPECT_EQ(figures[Figure::kNewColumns], 1);
  EXPECT_EQ(figures[Figure::kOtherRoles], 1);
  EXPECT_FALSE(figures[Figure::kAddressed]);
  EXPECT_FALSE(figures[Figure::kVolume]);
  EXPECT_FALSE(figures[Figure::kKnown]);
  EXPECT_FALSE(figures[Figure::kDiffer]);
  session.Take(StoredFigures{4, 2, 400, 3, 5});
  EXPECT_EQ(session.Figures()[Figure::kAddressed], 4);
  EXPECT_EQ(session.Figures()[Figure::kPerson], 2);
  EXPECT_EQ(session.Figures()[Figure::kVolume], 2);
  EXPECT_EQ(session.Figures()[Figure::kKnown], 3);
  EXPECT_EQ(session.Figures()[Figure::kDiffer], 5);
}

TEST(JudgedSession, SaysWhyAsJson) {
  const auto alarm = SmallAlarm();
  JudgedSession session(*alarm);
  Take(session, {{1, 1}});
  session.Take(StoredFigures{900, 1, 1, std::nullopt, std::nullopt});
  const std::string json = UnusualJson(session, alarm->calibration(), alarm->calibration().alarm.Threshold(0.01));
  EXPECT_EQ(
      json.find(R"({"version": 1, "cause": "addressed", "figure": "addressed", "reason": "addressed 900 subjects)"), 0U)
      << json;
  EXPECT_NE(json.find(R"("known": null, "differ": null)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("calibrated_on": )"), std::string::npos) << json;
  const std::string of_new = DripJson(session, DripKind::kNew, 3, 2);
  EXPECT_NE(of_new.find(R"("cause": "new_drip", "reason": "session after session runs what is new)"), std::string::npos)
      << of_new;
  const std::string drip = DripJson(session, DripKind::kUnusual, 5.5, 2.25);
  EXPECT_NE(drip.find(R"("cause": "drip")"), std::string::npos) << drip;
  EXPECT_NE(drip.find(R"("drip": 5.5, "limit": 2.25})"), std::string::npos) << drip;
}

TEST(ReadTokens, AreSorted) {
  WireWriter wire;
  wire.Section(2, {{"7", "t:b"}, {"7", "p:a"}, {"8", "t:c"}});
  WireReader reader(wire.bytes());
  EXPECT_EQ(ReadTokens(reader), (TokenMap{{7, {"p:a", "t:b"}}, {8, {"t:c"}}}));
}

}  // namespace
}  // namespace privacy_score
