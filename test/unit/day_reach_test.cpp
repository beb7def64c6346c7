/*
 * day_reach_test.cpp - what the sessions of a principal's day reach together.
 */
#include "core/scoring/day_reach.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "core/base/error.hpp"
#include "day_reach_fixture.hpp"
#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

TEST_F(DayReachTest, FortyConnectionsAreALoop) {
  DayReach::Day* day = Begin();
  for (std::uint64_t patient = 1; patient <= 40; ++patient) {
    Session session(model);
    session.Ask(1, {patient});
    EXPECT_EQ(session.figures(), (Figures{1, 1, 1}));
    Take(reach, day, session.Tell());
  }
  EXPECT_EQ(Of(day->Figures()), (Figures{40, 40, 1}));
}

TEST_F(DayReachTest, ADossierInManySessions) {
  DayReach::Day* day = Begin();
  for (AbstractionId column = 1; column <= 9; ++column) {
    Session session(model);
    session.Ask(column, {7});
    Take(reach, day, session.Tell());
    Take(reach, day, session.Tell());
  }
  EXPECT_EQ(Of(day->Figures()), (Figures{1, 1, 9}));
}

// However statements are dealt to sessions, and whatever is told twice, the day has the figures of one session of all.
TEST_F(DayReachTest, EqualsOneSessionOfAll) {
  std::mt19937_64 random(20260511);
  for (int round = 0; round < 50; ++round) {
    DayReach::Day* day = Begin();
    Session all(model);
    std::vector<std::unique_ptr<Session>> parts;
    for (std::uint64_t left = 1 + random() % 6; left > 0; --left) parts.push_back(std::make_unique<Session>(model));
    for (int i = 0; i < 200; ++i) {
      const auto id = static_cast<AbstractionId>(1 + random() % 9);
      std::vector<std::uint64_t> patients;
      for (std::uint64_t left = 1 + random() % 3; left > 0; --left) patients.push_back(1 + random() % 60);
      Session& session = *parts[random() % parts.size()];
      for (Session* each : {&all, &session}) {
        if (patients.size() == 1)
          each->AskOne(id, patients[0]);
        else
          each->Ask(id, patients);
      }
      if (random() % 4 == 0) {
        const auto words = session.Tell();
        Take(reach, day, words);
        if (random() % 2 == 0) Take(reach, day, words);
      }
    }
    for (const auto& session : parts) Take(reach, day, session->Tell());
    ASSERT_EQ(Of(day->Figures()), all.figures());
  }
}

TEST_F(DayReachTest, PrincipalsAndDaysAreApart) {
  Session session(model);
  session.Ask(1, {1, 2, 3});
  Take(reach, Begin("app"), session.Tell());
  EXPECT_EQ(Of(Begin("other")->Figures()), (Figures{0, 0, 0}));
  EXPECT_EQ(Of(reach.Find("app", kToday)->Figures()), (Figures{1, 3, 1}));
  EXPECT_EQ(reach.Find("app", kToday + 1), nullptr);
  reach.Forget("app", kToday);
  EXPECT_EQ(reach.Find("app", kToday), nullptr);
}

// What is known of a subject adds up over days, of those that have changed only, each column once.
TEST(MostKnown, AddsUpOverDays) {
  const auto subject = [](const char* number, const char* set) { return std::string(15, '0') + number + "000" + set; };
  const std::string ab = std::string("t.a") + kAttributeSeparator + "t.b";
  const StoredSubjects today = {subject("1", "0") + subject("2", "1"), {ab, ""}};
  EXPECT_EQ(MostKnown(today, {}), 2);
  EXPECT_EQ(MostKnown({}, {today}), 0);
  const StoredSubjects before = {subject("1", "0") + subject("3", "1"),
                                 {std::string("t.b") + kAttributeSeparator + "t.c", ab + kAttributeSeparator + "t.x"}};
  const StoredSubjects long_before = {subject("2", "0") + subject("1", "0"), {"t.d"}};
  EXPECT_EQ(MostKnown(today, {before}), 3);
  EXPECT_EQ(MostKnown(today, {long_before, before}), 4);
  EXPECT_EQ(MostKnown({subject("2", "0"), {""}}, {long_before, before}), 1);
  EXPECT_EQ(testing_support::ErrorOf([&] { MostKnown(today, {{subject("1", "9"), {ab}}}); }).substr(0, 5), "XX001");
  EXPECT_EQ(testing_support::ErrorOf([&] { MostKnown({"12", {ab}}, {}); }).substr(0, 5), "XX001");
}

// What is stored carries a day over to another process: subjects are told apart by it, and columns add up.
TEST_F(DayReachTest, GoesOnFromWhatIsStored) {
  DayReach::Day* day = Begin();
  Session session(model);
  for (std::uint64_t patient = 1; patient <= 20; ++patient) session.Ask(1, {patient});
  Take(reach, day, session.Tell());
  std::vector<StoredSubjects> stored = {day->TakeChanged()};
  EXPECT_EQ(stored[0].subjects.size(), 400U);
  ASSERT_EQ(stored[0].sets.size(), 1U);
  EXPECT_EQ(stored[0].sets[0].substr(0, 13), std::string("patients.c1") + kAttributeSeparator + '=');
  EXPECT_TRUE(day->TakeChanged().subjects.empty());
  session.Ask(2, {5});
  Take(reach, day, session.Tell());
  stored.push_back(day->TakeChanged());
  EXPECT_EQ(stored[1].subjects.size(), 20U);
  EXPECT_EQ(stored[1].sets.size(), 1U);

  DayReach other(kPlenty);
  other.Load(Patients().Wire());
  DayReach::Day* again = other.Begin("app", kToday, true, day->Figures());
  for (const StoredSubjects& part : stored) again->Know(part);
  EXPECT_EQ(Of(again->Figures()), (Figures{20, 20, 2}));
  EXPECT_EQ(other.UnknownAlone(again), (std::vector<AbstractionId>{1, 2}));
  other.Define(1, Showing(1));
  other.Define(2, Showing(2));
  other.TakeAlone(again);
  EXPECT_EQ(again->All().subjects.size(), 400U);
  EXPECT_EQ(again->All().sets.size(), 2U);
  EXPECT_TRUE(again->TakeChanged().subjects.empty());
  Session later(model);
  for (std::uint64_t patient = 11; patient <= 30; ++patient) later.Ask(1, {patient});
  later.Ask(3, {5});
  Take(other, again, later.Tell());
  EXPECT_EQ(Of(again->Figures()), (Figures{30, 30, 3}));
}

// What is saved carries all of a day over: other constants than subjects, too.
TEST_F(DayReachTest, GoesOnFromWhatIsSaved) {
  Session session(model);
  for (std::uint64_t patient = 1; patient <= 20; ++patient) session.Ask(1, {patient});
  session.Ask(1, {1, 2, 3});
  session.AskOne(2, 7);
  session.AskOne(2, 30);
  const auto words = session.Tell();
  Take(reach, Begin("app"), words);
  Take(reach, Begin("other"), words);
  const auto saved = reach.Save(kPlenty);

  DayReach next(kPlenty);
  next.Load(Patients().Wire());
  next.Restore(saved);
  EXPECT_TRUE(next.TakeRestored("app", kToday + 1).empty());
  const auto restored = next.TakeRestored("app", kToday);
  EXPECT_TRUE(next.TakeRestored("app", kToday).empty());
  DayReach::Day* day = next.Begin("app", kToday, true, {});
  Take(next, day, restored);
  EXPECT_EQ(Of(day->Figures()), session.figures());
  Take(next, day, words);
  EXPECT_EQ(Of(day->Figures()), session.figures());
  next.Begin("other", kToday, true, {});
  EXPECT_TRUE(next.TakeRestored("other", kToday).empty());

  EXPECT_LE(reach.Save(saved.size() - 1).size(), saved.size() / 2 + 1);
  EXPECT_TRUE(reach.Save(3).empty());
  int whole = 0;  // of one day
  for (std::size_t size = 1; size < saved.size(); ++size) {
    DayReach damaged(kPlenty);
    try {
      damaged.Restore({saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(size)});
      ++whole;
    } catch (const Error& error) {
      EXPECT_EQ(error.sqlstate(), "XX001");
    }
  }
  EXPECT_EQ(whole, 1);
}

TEST_F(DayReachTest, StoresNoMoreThanItMay) {
  DayReach::Day* day = Begin();
  Session session(model);
  for (std::uint64_t patient = 1; patient <= kMostStoredSubjects + 100; ++patient) session.Ask(1, {patient});
  Take(reach, day, session.Tell());
  EXPECT_EQ(day->TakeChanged().subjects.size(), 20 * kMostStoredSubjects);
  session.Ask(2, {1});
  session.Ask(2, {kMostStoredSubjects + 200});
  Take(reach, day, session.Tell());
  EXPECT_LE(day->TakeChanged().subjects.size(), 20U);
  EXPECT_NEAR(static_cast<double>(day->Figures().values[1]), kMostStoredSubjects + 101, 0.02 * kMostStoredSubjects);
}

// Before anything is known to be protected nothing is told; then what has become of it is.
TEST_F(DayReachTest, TellsWhatCountsLater) {
  const Model nothing;
  ReachTracker before(nothing, true);
  SessionJournal told;
  before.TellDay(&told);
  for (std::uint64_t patient = 1; patient <= 5; ++patient)
    before.Observe(before.FormOf(nothing, 1, Showing(1)), Asking({patient}));
  EXPECT_TRUE(told.words().empty());
  ReachTracker after(model, true);
  const Tokens tokens = Showing(1);
  after.Replay(before, model, [&](AbstractionId) -> const Tokens& { return tokens; });
  DayReach::Day* day = Begin();
  Take(reach, day, told.words());
  EXPECT_EQ(Of(day->Figures()), (Figures{5, 5, 1}));
  told.Clear();
  ReachTracker once_more(model, true);
  once_more.Replay(after, model, [&](AbstractionId) -> const Tokens& { return tokens; });
  EXPECT_TRUE(told.words().empty());
  once_more.Observe(once_more.FormOf(model, 1, tokens), Asking({6}));
  EXPECT_FALSE(told.words().empty());
}

// A day goes on when columns come and go.
TEST_F(DayReachTest, GoesOnUnderAnotherModel) {
  DayReach::Day* day = Begin();
  Session session(model);
  session.Ask(1, {1, 2});
  session.Ask(2, {3});
  Take(reach, day, session.Tell());
  ModelRows more = Patients();
  more.relations.push_back({"visits", "2", "t"});
  reach.Load(more.Wire());
  day = reach.Find("app", kToday);
  ASSERT_NE(day, nullptr);
  session.Ask(1, {4});
  Take(reach, day, session.Tell());
  EXPECT_EQ(Of(day->Figures()), (Figures{2, 4, 1}));
}

TEST_F(DayReachTest, ForgetsTheDaysLongestNotToldOf) {
  DayReach small(100);
  small.Load(Patients().Wire());
  DayReach::Day* last = nullptr;
  for (int i = 0; i < 20; ++i) {
    Session session(model);
    for (std::uint64_t patient = 1; patient <= 30; ++patient) session.Ask(1, {patient});
    last = small.Begin("user " + std::to_string(i), kToday, true, {});
    Take(small, last, session.Tell());
    small.MakeRoom();
  }
  EXPECT_LT(small.size(), 4U);
  EXPECT_EQ(small.Find("user 19", kToday), last);
  EXPECT_EQ(small.Find("user 0", kToday), nullptr);
  DayReach none(0);
  none.Load(Patients().Wire());
  none.Begin("app", kToday, true, {});
  none.MakeRoom();
  EXPECT_NE(none.Find("app", kToday), nullptr);
}

TEST_F(DayReachTest, ManyWhoAskLittleTakeRoom) {
  DayReach small(1000);
  small.Load(Patients().Wire());
  for (int i = 0; i < 200; ++i) {
    Session session(model);
    session.AskOne(1, 1);
    Take(small, small.Begin("user " + std::to_string(i), kToday, true, {}), session.Tell());
    small.MakeRoom();
  }
  EXPECT_LT(small.size(), 40U);  // each takes some kB, whatever it was told
  EXPECT_GT(small.size(), 10U);
}

TEST_F(DayReachTest, SavesWhatWasRestoredAndNotTakenSince) {
  Session session(model);
  session.AskOne(1, 1);
  session.AskOne(1, 2);
  Take(reach, Begin("quiet"), session.Tell());
  DayReach next(kPlenty);
  next.Load(Patients().Wire());
  next.Restore(reach.Save(kPlenty));
  Session other(model);
  other.AskOne(1, 3);
  Take(next, next.Begin("other", kToday, true, {}), other.Tell());
  DayReach last(kPlenty);
  last.Load(Patients().Wire());
  last.Restore(next.Save(kPlenty));
  DayReach::Day* day = last.Begin("nobody", kToday, true, {});
  Take(last, day, last.TakeRestored("quiet", kToday));
  EXPECT_EQ(Of(day->Figures()), (Figures{2, 2, 1}));
  // What has no room does not keep others from being saved.
  Session loop(model);
  for (std::uint64_t patient = 1; patient <= 100; ++patient) loop.AskOne(1, patient);
  Take(reach, Begin("loop"), loop.Tell());
  DayReach small(kPlenty);
  small.Load(Patients().Wire());
  small.Restore(reach.Save(100));
  EXPECT_TRUE(small.TakeRestored("loop", kToday).empty());
  EXPECT_FALSE(small.TakeRestored("quiet", kToday).empty());
}

TEST_F(DayReachTest, IsNeverBelowOneOfItsSessions) {
  DayReach::Day* day = Begin();
  ReachFigures of_session;
  of_session.values[1] = 70000;
  day->Raise(of_session);
  EXPECT_EQ(Of(day->Figures()), (Figures{0, 70000, 0}));
}

TEST_F(DayReachTest, ManyConstantsThatAreNoSubjectsAreToldAsOne) {
  ReachTracker tracker(model, true);
  SessionJournal told;
  tracker.TellDay(&told);
  const std::uint32_t form = tracker.FormOf(model, 1, Showing(1));
  ExecutionConstants junk;
  junk.vector = 5;
  junk.groups = {1, 1, 0, NameHash("patients.c2"), 1, 40000};
  junk.groups.resize(junk.groups.size() + 40000, 7);
  tracker.Observe(form, junk);
  EXPECT_LT(told.words().size(), 10U);
  std::vector<std::uint64_t> many;
  for (std::uint64_t patient = 1; patient <= 500; ++patient) many.push_back(patient);
  tracker.Observe(form, Asking(many));
  DayReach::Day* day = Begin();
  Take(reach, day, told.words());
  EXPECT_EQ(Of(day->Figures()), (Figures{2, 500, 1}));
}

TEST_F(DayReachTest, RefusesWhatIsDamaged) {
  DayReach::Day* day = Begin();
  EXPECT_THROW(day->Know({"short", {"patients.c1"}}), Error);
  EXPECT_THROW(day->Know({std::string(16, 'z') + "0000", {"patients.c1"}}), Error);
  EXPECT_THROW(day->Know({std::string(20, '1'), {"patients.c1"}}), Error);
  day->Know({std::string(16, 'a') + "0000", {"patients.c1\1gone.column"}});
  EXPECT_EQ(Of(day->Figures()), (Figures{0, 1, 1}));
  EXPECT_THROW(reach.Take(day, {99}), Error);
  Session session(model);
  session.Ask(1, {1});
  EXPECT_THROW(reach.Take(day, session.Tell()), Error);  // nobody has said what statement 1 is
}

}  // namespace
}  // namespace privacy_score
