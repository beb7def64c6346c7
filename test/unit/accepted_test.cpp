/*
 * accepted_test.cpp - what is accepted is not unusual, more than that is, and nothing else changes.
 */
#include "core/detection/accepted.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "alarm_fixture.hpp"
#include "core/detection/recorded_figures.hpp"
#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

using Rows = std::vector<std::vector<std::optional<std::string>>>;

AcceptedOfRole Read(const Rows& heights, const Rows& statements) {
  WireWriter wire;
  wire.Section(3, heights);
  wire.Section(3, statements);
  WireReader reader(wire.bytes());
  return AcceptedOfRole(reader);
}

void Take(JudgedSession& session, const std::vector<AbstractionId>& ids) {
  for (const AbstractionId id : ids) {
    const Tokens tokens = StatementTokens(id);
    session.Take(id, 1, &tokens);
  }
}

SessionFigures FiguresOf(RoleAlarm& alarm, const Accepted* accepted, const std::vector<AbstractionId>& ids) {
  JudgedSession session(alarm, accepted);
  Take(session, ids);
  return session.Figures();
}

TEST(Accepted, StatementsAreKnown) {
  const auto alarm = SmallAlarm();
  Accepted accepted;
  accepted.Add(50, StatementTokens(50));
  JudgedSession session(*alarm, &accepted);
  EXPECT_FALSE(session.Wants(50));
  EXPECT_TRUE(session.Wants(51));
  Take(session, {1, 2, 50});
  for (const Figure figure : {Figure::kTokens, Figure::kTokensMax, Figure::kUnknown})
    EXPECT_EQ(session.Figures()[figure], 0) << NameOf(figure);
  EXPECT_GT(*FiguresOf(*alarm, nullptr, {1, 2, 50})[Figure::kTokens], 0);
}

TEST(Accepted, OtherStatementsAreHeldAgainstThemToo) {
  const auto alarm = SmallAlarm();
  Accepted accepted;
  accepted.Add(50, StatementTokens(50));
  // 60 differs from 50 by its last token alone, and is a statement of its own all the same.
  const SessionFigures with = FiguresOf(*alarm, &accepted, {1, 60});
  const SessionFigures without = FiguresOf(*alarm, nullptr, {1, 60});
  EXPECT_GT(*with[Figure::kTokens], 0);
  EXPECT_LT(*with[Figure::kTokens], *without[Figure::kTokens]);
  EXPECT_EQ(with[Figure::kUnknown], without[Figure::kUnknown]);
  // What shares no more with it than with the baseline is as new as before.
  Accepted far;
  far.Add(59, {"cmd:delete"});
  EXPECT_EQ(FiguresOf(*alarm, &far, {1, 60})[Figure::kTokens], without[Figure::kTokens]);
}

TEST(Accepted, HeightsAreUsualAndWhatIsHigherIsAsUnusualAsBefore) {
  const auto alarm = SmallAlarm();
  Accepted accepted;
  accepted.Add(Figure::kAddressed, 20);
  accepted.Add(Figure::kAddressed, 900);
  accepted.Add(Figure::kAddressed, 30);
  const auto judge = [&](const Accepted* of, std::int64_t addressed) {
    JudgedSession session(*alarm, of);
    Take(session, {1, 2});
    session.Take(StoredFigures{addressed, 2, 10, std::nullopt, std::nullopt});
    return session.Judge();
  };
  EXPECT_EQ(judge(nullptr, 900).reason, Figure::kAddressed);
  EXPECT_NE(judge(&accepted, 900).reason, Figure::kAddressed);
  EXPECT_LT(judge(&accepted, 900).combined, judge(nullptr, 900).combined);
  EXPECT_EQ(judge(&accepted, 901).reason, Figure::kAddressed);
  EXPECT_EQ(judge(&accepted, 901).combined, judge(nullptr, 901).combined);
  // Of another figure nothing is accepted.
  JudgedSession other(*alarm, &accepted);
  Take(other, {1});
  other.Take(StoredFigures{900, 900, 10, std::nullopt, std::nullopt});
  EXPECT_EQ(other.Judge().reason, Figure::kPerson);
  // What the session did stays told.
  EXPECT_EQ(other.Figures()[Figure::kAddressed], 900);
}

TEST(Accepted, JudgementNeverFallsWhileASessionGoesOn) {
  const auto alarm = SmallAlarm();
  Accepted accepted;
  accepted.Add(50, StatementTokens(50));
  accepted.Add(Figure::kRepeats, 6);
  JudgedSession session(*alarm, &accepted);
  double before = 0;
  for (int step = 0; step < 40; ++step) {
    const AbstractionId id = 41 + step * 7 % 20;
    const Tokens tokens = StatementTokens(id);
    session.Take(id, 1 + step % 3, &tokens);
    session.Take(StoredFigures{step, step / 2, step * 10, std::nullopt, std::nullopt});
    const double now = session.Judge().combined;
    EXPECT_GE(now, before) << step;
    before = now;
  }
  EXPECT_GT(before, 0);
}

TEST(AcceptedOfRole, IsThatOfAllAndOfHer) {
  const AcceptedOfRole accepted =
      Read({{"ann", "addressed", "30"}, {std::nullopt, "addressed", "12"}, {"bob", "volume", "2"}},
           {{std::nullopt, "50", "p:x"}, {"ann", "51", "t:b"}, {"ann", "51", "p:a"}});
  const auto beyond = [&](std::string_view end_user, double addressed) {
    SessionFigures figures;
    figures[Figure::kAddressed] = addressed;
    return accepted.Of(end_user)->Beyond(figures)[Figure::kAddressed].has_value();
  };
  EXPECT_FALSE(beyond("ann", 30));
  EXPECT_TRUE(beyond("ann", 31));
  EXPECT_TRUE(beyond("bob", 13));
  EXPECT_FALSE(beyond("bob", 12));
  EXPECT_FALSE(beyond("", 12));
  EXPECT_TRUE(accepted.Of("ann")->Has(50));
  EXPECT_TRUE(accepted.Of("ann")->Has(51));
  EXPECT_EQ(accepted.Of("ann")->statements().at(51), (Tokens{"p:a", "t:b"}));
  EXPECT_FALSE(accepted.Of("cat")->Has(51));
  EXPECT_TRUE(accepted.Of("cat")->Has(50));
  EXPECT_EQ(Read({}, {}).Of("ann"), nullptr);
  EXPECT_EQ(Read({{"ann", "repeats", "3"}}, {}).Of("bob"), nullptr);
}

TEST(AcceptedOfRole, RefusesWhatCannotBe) {
  const Rows damaged = {{"ann", "tokens", "3"},   {"ann", "height", "3"},          {"ann", "person", "-1"},
                        {"ann", "person", "NaN"}, {"ann", "person", std::nullopt}, {std::nullopt, std::nullopt, "1"}};
  for (const auto& row : damaged) EXPECT_EQ(ErrorOf([&] { Read({row}, {}); }).substr(0, 5), "XX001");
  EXPECT_EQ(ErrorOf([&] { Read({}, {{"ann", "x", "p:a"}}); }).substr(0, 5), "XX001");
}

TEST(RecordedFigures, AreJudgedByWhatIsAccepted) {
  const std::string bytes = WriteCalibration(SmallCalibration());
  const auto wire = [](const Rows& heights, const Rows& statements) {
    WireWriter writer;
    writer.Section(2, TokenRows(1, 30));
    writer.Section(2, TokenRows(1, 60));
    writer.Section(1, {});
    writer.Section(3, heights);
    writer.Section(3, statements);
    writer.Section(11,
                   {{"1", "2026-01-05", "s1", "ann", "{1,50}", "{1,1}", "900", "2", "10", std::nullopt, std::nullopt},
                    {"2", "2026-01-05", "s2", "bob", "{1,50}", "{1,1}", "900", "2", "10", std::nullopt, std::nullopt}});
    return writer.bytes();
  };
  constexpr std::size_t kCombined = 3 + kFigureCount;
  const ResultTable before = RecordedFigures(wire({}, {}), bytes, "clerk", 0.01);
  Rows statements;
  for (const std::string& token : StatementTokens(50)) statements.push_back({"ann", "50", token});
  const ResultTable after = RecordedFigures(wire({{"ann", "addressed", "900"}}, statements), bytes, "clerk", 0.01);
  const auto alarm = SmallAlarm();
  Accepted accepted;
  accepted.Add(50, StatementTokens(50));
  accepted.Add(Figure::kAddressed, 900);
  JudgedSession session(*alarm, &accepted);
  Take(session, {1, 50});
  session.Take(StoredFigures{900, 2, 10, std::nullopt, std::nullopt});
  EXPECT_EQ(after.rows[0][kCombined], TextOf(session.Judge().combined));
  EXPECT_NE(after.rows[0][kCombined], before.rows[0][kCombined]);
  EXPECT_EQ(after.rows[1], before.rows[1]);
}

}  // namespace
}  // namespace privacy_score
