/*
 * event_buffer_test.cpp - sessions taken while a log is read are those of the whole log.
 */
#include "core/scoring/event_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "core/base/error.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

constexpr std::int64_t kGap = 10;
constexpr std::int64_t kDayLength = 1000;

Event At(std::int64_t session, const std::string& role, std::int64_t at, AbstractionId id) {
  return {session, role, at, (at + kDayLength * 10) / kDayLength, id, at * 10 + id, at % 3 == 0 ? 1 : 2};
}

// Everything about sessions but their order.
using Told = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::string,
                        std::vector<std::int64_t>>;

void Tell(const std::vector<CutSession>& sessions, std::vector<Told>& told) {
  for (const CutSession& session : sessions) {
    std::vector<std::int64_t> steps;
    for (const LoggedStep& step : session.steps) steps.push_back(step.execution);
    told.emplace_back(session.role, session.session_key, session.day, session.started, session.ended,
                      IdsText(session.sequence) + RunsText(session.sequence) + RowsText(session.sequence), steps);
  }
}

// What a buffer of that size tells of the events, and how many it kept at most.
std::pair<std::vector<Told>, std::size_t> TakenOf(const std::vector<Event>& events, std::size_t most,
                                                  std::size_t recent) {
  EventBuffer buffer(kGap, most, recent);
  std::vector<Told> told;
  std::size_t kept = 0;
  for (const Event& event : events) {
    buffer.Add(event);
    kept = std::max(kept, buffer.events().size());
    if (buffer.is_full()) Tell(buffer.TakeClosed(), told);
  }
  Tell(buffer.TakeAll(), told);
  std::sort(told.begin(), told.end());
  return {told, kept};
}

std::vector<Told> Whole(const std::vector<Event>& events) {
  std::vector<Told> told;
  Tell(CutSessions(events, kGap), told);
  std::sort(told.begin(), told.end());
  return told;
}

std::vector<Event> SomeEvents(std::mt19937& random, std::int64_t sessions, int count) {
  std::vector<Event> events;
  std::int64_t at = static_cast<std::int64_t>(random() % 5000) - 2500;
  for (int i = 0; i < count; ++i) {
    at += random() % 20 == 0 ? static_cast<std::int64_t>(random() % 40) : static_cast<std::int64_t>(random() % 4);
    const auto session = static_cast<std::int64_t>(random() % static_cast<unsigned>(sessions));
    events.push_back(At(session, random() % 8 == 0 ? "b" : "a", at, 1 + static_cast<AbstractionId>(random() % 3)));
  }
  return events;
}

TEST(EventBuffer, WhatIsTakenMeanwhileIsWhatTheWholeWouldGive) {
  std::mt19937 random(3);
  for (int round = 0; round < testing_support::Instances(300); ++round) {
    std::vector<Event> events = SomeEvents(random, 1 + random() % 12, 400);
    const std::size_t most = 5 + random() % 60;
    // In the order of time, and a connection after the other.
    EXPECT_EQ(TakenOf(events, most, random() % 30).first, Whole(events));
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.session_key < b.session_key; });
    std::size_t recent = 0;  // as long as rows of another role may stand between two of one
    for (std::size_t i = 0, since = 0; i < events.size(); ++i) {
      since = i > 0 && events[i].session_key == events[i - 1].session_key ? since + 1 : 0;
      recent = std::max(recent, since + 1);
    }
    EXPECT_EQ(TakenOf(events, most, recent).first, Whole(events));
  }
}

TEST(EventBuffer, MemoryIsThatOfOpenSessions) {
  std::mt19937 random(4);
  std::vector<Event> events;
  for (int i = 0; i < 20000; ++i) events.push_back(At(i / 40, "a", i, 1 + static_cast<AbstractionId>(random() % 3)));
  const auto taken = TakenOf(events, 200, 50);
  EXPECT_EQ(taken.first, Whole(events));
  EXPECT_LE(taken.second, 401U);
  // One connection over many days, with never a pause.
  for (Event& event : events) event.session_key = 7;
  const auto one = TakenOf(events, 200, 50);
  EXPECT_EQ(one.first, Whole(events));
  EXPECT_LE(one.second, 2U * kDayLength);
}

TEST(EventBuffer, OutOfOrderNothingIsTakenBeforeTheEnd) {
  std::mt19937 random(5);
  std::vector<Event> events = SomeEvents(random, 5, 500);
  std::shuffle(events.begin(), events.end(), random);
  const auto taken = TakenOf(events, 20, 10);
  EXPECT_EQ(taken.first, Whole(events));
  EXPECT_GE(taken.second, 490U);
}

TEST(EventBuffer, ALateStatementOfAWrittenSessionIsAnError) {
  EventBuffer buffer(kGap, 4, 0);
  for (const std::int64_t at : {100, 200, 300, 400}) buffer.Add(At(1, "a", at, 1));
  ASSERT_TRUE(buffer.is_full());
  EXPECT_EQ(buffer.TakeClosed().size(), 3U);
  // Of another role or connection, or far from what was written: no part of it.
  buffer.Add(At(1, "b", 205, 1));
  buffer.Add(At(2, "a", 205, 1));
  buffer.Add(At(1, "a", 250, 1));
  for (const std::int64_t at : {90, 105, 200, 310}) EXPECT_THROW(buffer.Add(At(1, "a", at, 1)), Error) << at;
  EXPECT_FALSE(buffer.is_full());
  EXPECT_EQ(buffer.TakeAll().size(), 4U);
}

}  // namespace
}  // namespace privacy_score
