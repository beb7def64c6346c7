/*
 * stored_day_test.cpp - a day goes on from what is stored or saved of it as if nothing had happened.
 *
 * The estimate of a number other than these would be off by more than 2 % fewer than one time in a million.
 */
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/base/error.hpp"
#include "core/scoring/day_reach.hpp"
#include "day_reach_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

// As if there had been no crash: also under another model, and however often it goes on; what asked with other
// constants besides is known by its stored figure only.
TEST_F(DayReachTest, AfterACrashReachIsThatOfOneDay) {
  std::mt19937_64 random(20261128);
  for (int round = 0; round < 20; ++round) {
    Session all(model);
    DayReach::Day* whole = Begin("whole " + std::to_string(round));
    std::vector<StoredSubjects> stored;
    ReachFigures figures;
    for (int crash = 0; crash < 4; ++crash) {
      DayReach next(kPlenty);
      next.Load(Patients().Wire());
      DayReach::Day* day = next.Begin("app", kToday, true, figures);
      for (const StoredSubjects& part : stored) day->Know(part);
      for (const AbstractionId id : next.UnknownAlone(day)) next.Define(id, Showing(id));
      next.TakeAlone(day);
      EXPECT_TRUE(day->TakeChanged().subjects.empty());
      if (round % 2 == 1) {
        ModelRows more = Patients();
        more.relations.push_back({"visits", "2", "t"});
        next.Load(more.Wire());
        day = next.Find("app", kToday);
        ASSERT_NE(day, nullptr);
      }
      Session session(model);
      for (int i = 0; i < 60; ++i) {
        const auto id = static_cast<AbstractionId>(1 + random() % 4);
        const std::uint64_t patient = 1 + random() % 90;
        for (Session* each : {&all, &session}) each->AskOne(id, patient);
      }
      const auto words = session.Tell();
      Take(reach, whole, words);
      Take(next, day, words);
      figures = day->Figures();
      ASSERT_EQ(Of(figures), all.figures());
      ASSERT_EQ(Of(figures), Of(whole->Figures()));
      stored.push_back(day->TakeChanged());
    }
  }
}

// Tens of thousands of subjects over several sessions, with a crash between any two: the figure is that of one session
// of all, to the last one, and near what it should be.
TEST_F(DayReachTest, ManySubjectsAreASketch) {
  Session all(model);
  std::vector<StoredSubjects> stored;
  std::string sketch;
  ReachFigures figures;
  for (std::uint64_t part = 0; part < 4; ++part) {
    DayReach next(kPlenty);
    next.Load(Patients().Wire());
    DayReach::Day* day = next.Begin("app", kToday, true, figures);
    for (const StoredSubjects& each : stored) day->Know(each);
    if (!sketch.empty()) day->KnowSketch(sketch);
    EXPECT_EQ(day->Figures().values[1], figures.values[1]);
    EXPECT_EQ(day->TakeChangedSketch(), "");
    Session session(model);
    for (std::uint64_t patient = 1; patient <= 30000; ++patient) {
      all.AskOne(1, 20000 * part + patient);
      session.AskOne(1, 20000 * part + patient);
    }
    Take(next, day, session.Tell());
    day->Raise({{0, session.figures()[1], 0}, 0, 0});
    figures = day->Figures();
    EXPECT_EQ(figures.values[1], all.figures()[1]);
    const double count = 20000.0 * static_cast<double>(part) + 30000;
    EXPECT_LT(std::abs(static_cast<double>(figures.values[1]) / count - 1), 0.02);
    const StoredSubjects changed = day->TakeChanged();
    if (part == 0) stored.push_back(changed);
    EXPECT_EQ(changed.subjects.size(), part == 0 ? 20 * kMostStoredSubjects : 0);
    sketch = day->TakeChangedSketch();
    EXPECT_EQ(sketch.size(), 2 * DistinctSketch::kBytes);
    EXPECT_EQ(day->TakeChangedSketch(), "");
  }
  DayReach::Day* day = Begin();
  EXPECT_THROW(day->KnowSketch(sketch.substr(2)), Error);
  EXPECT_THROW(day->KnowSketch("zz" + sketch.substr(2)), Error);
}

// Who lists thousands first, and then asks about one of the others, is found all the same.
TEST_F(DayReachTest, TheMostKnownAreStored) {
  DayReach::Day* day = Begin();
  Session session(model);
  for (std::uint64_t patient = 1; patient <= kMostStoredSubjects; ++patient) session.AskOne(1, patient);
  Take(reach, day, session.Tell());
  EXPECT_EQ(day->TakeChanged().subjects.size(), 20 * kMostStoredSubjects);
  EXPECT_FALSE(day->replaces());
  session.AskOne(1, 100000);
  Take(reach, day, session.Tell());
  EXPECT_TRUE(day->TakeChanged().subjects.empty());
  EXPECT_FALSE(day->replaces());
  session.AskOne(2, 100000);
  Take(reach, day, session.Tell());
  const StoredSubjects more = day->TakeChanged();
  EXPECT_EQ(more.subjects.size(), 20U);
  EXPECT_TRUE(day->replaces());
  const StoredSubjects all = day->All();
  EXPECT_EQ(all.subjects.size(), 20 * kMostStoredSubjects);
  EXPECT_EQ(MostKnown(more, {all}), 2);
  EXPECT_EQ(MostKnown(all, {}), 2);
}

// A day that is too large to be saved whole is saved in short.
TEST_F(DayReachTest, ManyAreSavedInShort) {
  Session session(model);
  for (std::uint64_t patient = 1; patient <= 30000; ++patient) session.AskOne(1, patient);
  session.AskOne(2, 5);
  Take(reach, Begin("app"), session.Tell());
  const auto saved = reach.Save(kPlenty);
  const auto in_short = reach.Save(saved.size() - 1);
  EXPECT_FALSE(in_short.empty());
  EXPECT_LT(in_short.size(), 3 * DistinctSketch::kBytes / 8);
  DayReach next(kPlenty);
  next.Load(Patients().Wire());
  next.Restore(in_short);
  const auto restored = next.TakeRestored("app", kToday);
  DayReach::Day* day = next.Begin("app", kToday, true, reach.Find("app", kToday)->Figures());
  Take(next, day, restored);
  EXPECT_EQ(Of(day->Figures()), session.figures());
  for (std::uint64_t patient = 25000; patient <= 60000; ++patient) session.AskOne(1, patient);
  Take(next, day, session.Tell());
  EXPECT_EQ(Of(day->Figures()), session.figures());
}

}  // namespace
}  // namespace privacy_score
