/*
 * held_out_days_test.cpp - what is new of a session to the other days, against building each profile from nothing.
 */
#include "core/detection/held_out_days.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace privacy_score {
namespace {

NumberedSessions RandomSessions(std::mt19937_64& random, std::size_t roles, std::size_t days, std::size_t sessions) {
  NumberedSessions world;
  world.days = days;
  world.tokens = 1 + random() % 14;
  for (std::size_t token = 0; token < world.tokens; ++token)
    world.kinds.push_back(static_cast<TokenKind>(random() % 6 % 4));
  for (std::size_t role = 0; role < roles; ++role)
    world.roles.push_back({"role" + std::to_string(role), 1 + static_cast<double>(random() % 6)});
  for (std::size_t i = 0; i < 15; ++i) {
    NumberedSessions::Abstraction abstraction;
    abstraction.id = static_cast<AbstractionId>(random());
    for (TokenIndex::Token token = 0; token < world.tokens; ++token)
      if (random() % 3 == 0) abstraction.tokens.push_back(token);
    world.abstractions.push_back(abstraction);
  }
  for (std::size_t i = 0; i < sessions; ++i) {
    NumberedSessions::Session session;
    session.role = static_cast<std::uint32_t>(random() % roles);
    session.day = static_cast<std::uint32_t>(random() % days);
    std::set<std::uint32_t> set;
    for (std::uint64_t left = random() % 6; left > 0; --left) set.insert(static_cast<std::uint32_t>(random() % 15));
    session.abstractions.assign(set.begin(), set.end());
    for (std::size_t k = 0; k < set.size(); ++k)
      session.executions.push_back(static_cast<std::uint32_t>(1 + random() % 5));
    world.sessions.push_back(session);
  }
  return world;
}

struct Expected {
  double tokens = 0;
  double tokens_max = 0;
  double unknown = 0;
  double filters = 0;
  double other_roles = 0;
  double new_columns = 0;
  double new_runs = 0;
  double new_repeats = 0;
};

// The same from the definition: the sessions that are not held out, without what is withheld, are the baseline.
Expected Naive(const NumberedSessions& world, std::size_t which, std::size_t repetition, double share) {
  const auto& held = world.sessions[which];
  bool one_day = true;
  for (const auto& other : world.sessions) one_day = one_day && (other.role != held.role || other.day == held.day);
  double role_sessions = 0;
  double all_sessions = 0;
  std::map<TokenIndex::Token, double> in_role;
  std::map<TokenIndex::Token, double> in_all;
  std::set<std::uint32_t> baseline;
  for (std::size_t i = 0; i < world.sessions.size(); ++i) {
    const auto& other = world.sessions[i];
    if (one_day ? i == which : other.day == held.day) continue;
    std::set<TokenIndex::Token> tokens;
    for (const std::uint32_t abstraction : other.abstractions) {
      const auto& [id, list] = world.abstractions[abstraction];
      if (IsWithheld(world.roles[other.role].name, id, repetition, share)) continue;
      tokens.insert(list.begin(), list.end());
      if (other.role == held.role) baseline.insert(abstraction);
    }
    ++all_sessions;
    for (const auto token : tokens) ++in_all[token];
    if (other.role != held.role) continue;
    ++role_sessions;
    for (const auto token : tokens) ++in_role[token];
  }
  Expected expected;
  double unknown = 0;
  std::set<TokenIndex::Token> columns;
  for (std::size_t k = 0; k < held.abstractions.size(); ++k) {
    const std::uint32_t abstraction = held.abstractions[k];
    if (baseline.count(abstraction) > 0) continue;
    const std::vector<TokenIndex::Token>& own = world.abstractions[abstraction].tokens;
    const auto is = [&](TokenIndex::Token token, TokenKind kind) { return world.kinds[token] == kind; };
    const auto lacking = [&](const std::vector<TokenIndex::Token>& others, bool conditions_only) {
      double sum = 0;
      for (const auto token : own)
        if (std::find(others.begin(), others.end(), token) == others.end() &&
            (!conditions_only || is(token, TokenKind::kCondition)))
          sum -= std::log2(.8 * (in_role[token] + .02) / (role_sessions + 1) +
                           .2 * (in_all[token] + .02) / (all_sessions + 1));
      return sum;
    };
    double least = lacking({}, false);
    double conditions = lacking({}, true);
    for (const std::uint32_t other : baseline) {
      least = std::min(least, lacking(world.abstractions[other].tokens, false));
      conditions = std::min(conditions, lacking(world.abstractions[other].tokens, true));
    }
    expected.tokens += least;
    expected.tokens_max = std::max(expected.tokens_max, least);
    ++unknown;
    const double executions = held.executions[k];
    if (std::none_of(own.begin(), own.end(), [&](auto token) { return is(token, TokenKind::kAggregate); }))
      expected.filters += conditions * executions;
    expected.other_roles += std::any_of(world.sessions.begin(), world.sessions.end(), [&](const auto& other) {
      return other.role != held.role &&
             std::count(other.abstractions.begin(), other.abstractions.end(), abstraction) > 0;
    });
    expected.new_repeats = std::max(expected.new_repeats, executions);
    bool is_strange = false;
    for (const auto token : own) {
      if (in_role[token] > 0) continue;
      is_strange = true;
      if (is(token, TokenKind::kShown)) columns.insert(token);
    }
    if (is_strange) expected.new_runs += executions;
  }
  expected.unknown = unknown / std::max(unknown, world.roles[held.role].usual_distinct);
  expected.new_columns = static_cast<double>(columns.size());
  return expected;
}

// With few days, so that roles have all their sessions on one.
TEST(HeldOutDays, AreAsIfTheyHadNotBeen) {
  std::mt19937_64 random(17);
  std::size_t held_by_session = 0;
  for (int round = 0; round < 120; ++round) {
    const std::size_t roles = 1 + random() % 4;
    const NumberedSessions world = RandomSessions(random, roles, 1 + random() % 4, random() % 25);
    const double share = round % 3 == 0 ? 0 : .1 * static_cast<double>(random() % 9);
    HeldOutDays held_out(world, share);
    ASSERT_TRUE(held_out.Run({}));
    for (std::size_t i = 0; i < world.sessions.size(); ++i) {
      const auto role = world.sessions[i].role;
      const auto of_role = std::count_if(world.sessions.begin(), world.sessions.end(),
                                         [&](const auto& other) { return other.role == role; });
      for (std::size_t repetition = 0; repetition < kRepetitions; ++repetition) {
        const SessionFigures figures = held_out.Figures(i, repetition);
        ASSERT_EQ(figures[Figure::kTokens].has_value(), of_role > 1);
        ASSERT_FALSE(figures[Figure::kAddressed].has_value());
        if (of_role == 1) continue;
        const Expected expected = Naive(world, i, repetition, share);
        ASSERT_NEAR(*figures[Figure::kTokens], expected.tokens, 1e-7) << "round " << round;
        ASSERT_NEAR(*figures[Figure::kTokensMax], expected.tokens_max, 1e-8);
        ASSERT_NEAR(*figures[Figure::kUnknown], expected.unknown, 1e-12);
        ASSERT_NEAR(*figures[Figure::kFilters], expected.filters, 1e-7);
        ASSERT_EQ(figures[Figure::kOtherRoles], expected.other_roles);
        ASSERT_EQ(figures[Figure::kNewColumns], expected.new_columns);
        ASSERT_EQ(figures[Figure::kNewRuns], expected.new_runs);
        ASSERT_EQ(figures[Figure::kNewRepeats], expected.new_repeats);
        if (world.days == 1) ++held_by_session;
      }
    }
  }
  EXPECT_GT(held_by_session, 100U);
}

// Interrupted again and again, it comes to the same end.
TEST(HeldOutDays, GoOnWhereTheyWere) {
  std::mt19937_64 random(19);
  const NumberedSessions world = RandomSessions(random, 3, 5, 60);
  HeldOutDays at_once(world, .2);
  ASSERT_TRUE(at_once.Run({}));
  static int questions;
  static int until;
  WorkControl control;
  control.work_between_questions = 1;
  std::int64_t done = 0;
  std::int64_t total = 1000;
  volatile std::int64_t shown_done = 0;
  volatile std::int64_t shown_total = total;
  control.done = &shown_done;
  control.total = &shown_total;
  control.interrupted = [] { return ++questions > until; };
  HeldOutDays in_pieces(world, .2);
  int calls = 1;
  for (questions = 0, until = 1; !in_pieces.Run(control); questions = 0, until = calls / 4) {
    EXPECT_GE(shown_done, done);
    done = shown_done;
    ++calls;
    ASSERT_LT(calls, 100000);
  }
  EXPECT_GT(calls, 20);
  EXPECT_EQ(shown_done, total);
  for (std::size_t i = 0; i < world.sessions.size(); ++i)
    for (std::size_t repetition = 0; repetition < kRepetitions; ++repetition)
      for (const Figure figure : kFigures)
        EXPECT_EQ(in_pieces.Figures(i, repetition)[figure], at_once.Figures(i, repetition)[figure]);
}

// Of 4000 a share of 10 % is withheld, give or take six standard deviations (a false alarm in 10^8), others in another
// repetition and for another role.
TEST(HeldOutDays, WithholdAShareByChanceThatIsNone) {
  for (const char* role : {"clerk", "doctor"}) {
    for (std::size_t repetition = 0; repetition < kRepetitions; ++repetition) {
      int withheld = 0;
      int again = 0;
      for (AbstractionId id = 1; id <= 4000; ++id) {
        EXPECT_FALSE(IsWithheld(role, id, repetition, 0));
        if (!IsWithheld(role, id, repetition, .1)) continue;
        ++withheld;
        EXPECT_TRUE(IsWithheld(role, id, repetition, .5));
        again += IsWithheld(role, id, repetition + 1, .1) ? 1 : 0;
      }
      EXPECT_NEAR(withheld, 400, 6 * std::sqrt(4000 * .1 * .9));
      EXPECT_NEAR(again, 40, 6 * std::sqrt(4000 * .01 * .99));
    }
  }
  int both = 0;
  for (AbstractionId id = 1; id <= 4000; ++id)
    both += IsWithheld("clerk", id, 0, .1) && IsWithheld("doctor", id, 0, .1) ? 1 : 0;
  EXPECT_NEAR(both, 40, 6 * std::sqrt(4000 * .01 * .99));
}

}  // namespace
}  // namespace privacy_score
