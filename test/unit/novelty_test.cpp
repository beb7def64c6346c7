/*
 * novelty_test.cpp - tokens, tokens_max and unknown: by hand, against comparing with each abstraction, in any order.
 */
#include "core/detection/novelty.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "detection_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

constexpr Figure kOfNew[] = {Figure::kTokens,     Figure::kTokensMax,  Figure::kUnknown, Figure::kFilters,
                             Figure::kOtherRoles, Figure::kNewColumns, Figure::kNewRuns, Figure::kNewRepeats};

SessionFigures FiguresOf(const SessionNovelty& session) {
  SessionFigures figures;
  session.Show(&figures);
  return figures;
}

TEST(Novelty, WeightIsTheSurpriseOfAToken) {
  // p = .8 * 3.02 / 5 + .2 * 10.02 / 21
  EXPECT_NEAR(BitsOf(WeightOf({3, 10}, {4, 20})), -std::log2(.48320 + .2 * 10.02 / 21), 1e-9);
  // p = .8 * .02 / 5 + .2 * .02 / 21
  EXPECT_NEAR(BitsOf(WeightOf({0, 0}, {4, 20})), 8.2042964, 1e-6);
  // Nobody has had a session: p = .02.
  EXPECT_NEAR(BitsOf(WeightOf({}, {})), 5.6438562, 1e-6);
  EXPECT_GT(WeightOf({1000000, 1000000}, {1000000, 1000000}), 0);
}

// A role of one session with a = {x, y}: s = S = 1. A seen token has p = 1.02/2, one that nobody has p = .01.
TEST(Novelty, WorkedByHand) {
  const double seen = -std::log2(.51);
  const double unseen = -std::log2(.01);
  RoleTokens role;
  role.sessions = {1, 1};
  role.with_token = {{"x", {1, 1}}, {"y", {1, 1}}, {"z", {1, 1}}};
  role.usual_distinct = 4;
  const Tokens xy = {"x", "y"};
  const Tokens yz = {"y", "z"};
  NoveltyProfile profile(role, {{1, &xy}, {2, &yz}});
  const auto novelty = [&](const Tokens& tokens) { return BitsOf(profile.Novelty(tokens)); };
  EXPECT_EQ(novelty(xy), 0);
  EXPECT_EQ(novelty({"y"}), 0);
  EXPECT_EQ(novelty({}), 0);
  EXPECT_NEAR(novelty({"x", "y", "z"}), seen, 1e-9);
  EXPECT_NEAR(novelty({"new", "x", "y"}), unseen, 1e-9);
  EXPECT_NEAR(novelty({"new", "other", "x", "z"}), 2 * unseen + seen, 1e-9);

  SessionNovelty session(profile);
  const auto expect = [&](double tokens, double most, double unknown) {
    const SessionFigures figures = FiguresOf(session);
    EXPECT_NEAR(*figures[Figure::kTokens], tokens, 1e-9);
    EXPECT_NEAR(*figures[Figure::kTokensMax], most, 1e-9);
    EXPECT_EQ(figures[Figure::kUnknown], unknown);
    EXPECT_FALSE(figures[Figure::kAddressed]);
  };
  expect(0, 0, 0);
  EXPECT_FALSE(session.Add(1, xy));
  expect(0, 0, 0);
  EXPECT_TRUE(session.Add(3, {"x", "y", "z"}));
  expect(seen, seen, .25);
  EXPECT_TRUE(session.Add(3, {"x", "y", "z"}));
  expect(seen, seen, .25);
  // Nothing of it is new, but the baseline does not have it.
  EXPECT_TRUE(session.Add(4, {"y"}));
  expect(seen, seen, .5);
  EXPECT_TRUE(session.Add(5, {"new", "x", "y"}));
  expect(seen + unseen, unseen, .75);
  EXPECT_FALSE(session.Add(2, yz));
  EXPECT_TRUE(session.Add(6, {"new"}));
  EXPECT_TRUE(session.Add(7, {"other"}));
  expect(seen + 3 * unseen, unseen, 1);
}

// A statement that shows columns under no condition says so of its relations; an aggregate needs none.
TEST(Novelty, CountsWhatIsLeftOut) {
  EXPECT_EQ(CountedTokens({"cmd:select", "p:a.x", "t:a", "t:b"}),
            (Tokens{"cmd:select", "p:a.x", "t:a", "t:b", "whole:a", "whole:b"}));
  for (const Tokens& tokens : {Tokens{"p:a.x", "t:a", "w:a.y"}, Tokens{"f:count(*)", "p:a.x", "t:a"}, Tokens{"t:a"}})
    EXPECT_EQ(CountedTokens(tokens), tokens);
  EXPECT_EQ(KindOf("whole:a"), TokenKind::kCondition);
  EXPECT_EQ(KindOf("w:a.x"), TokenKind::kCondition);
  EXPECT_EQ(KindOf("p:a.x"), TokenKind::kShown);
  EXPECT_EQ(KindOf("f:avg(a.x)"), TokenKind::kAggregate);
  EXPECT_EQ(KindOf("e:a.x"), TokenKind::kOther);
}

// The baseline shows a and b of t by a; a seen token has p = 1.02/2, one that nobody has p = .01.
TEST(Novelty, OfConditionsColumnsAndRunsWorkedByHand) {
  const double unseen = -std::log2(.01);
  RoleTokens role;
  role.sessions = {1, 1};
  for (const char* token : {"p:t.a", "p:t.b", "t:t", "w:t.a"}) role.with_token[token] = {1, 1};
  const Tokens known = {"p:t.a", "p:t.b", "t:t", "w:t.a"};
  NoveltyProfile profile(role, {{1, &known}});
  SessionNovelty session(profile);
  const auto expect = [&](double filters, int other_roles, int new_columns, int new_runs, int new_repeats) {
    const SessionFigures figures = FiguresOf(session);
    EXPECT_NEAR(*figures[Figure::kFilters], filters, 1e-8);
    EXPECT_EQ(figures[Figure::kOtherRoles], other_roles);
    EXPECT_EQ(figures[Figure::kNewColumns], new_columns);
    EXPECT_EQ(figures[Figure::kNewRuns], new_runs);
    EXPECT_EQ(figures[Figure::kNewRepeats], new_repeats);
  };
  session.Add(1, known, 100, true);
  expect(0, 0, 0, 0, 0);
  // Nothing of it is new to the role but that it stands alone.
  session.Add(2, {"p:t.a", "t:t", "w:t.a"}, 4, true);
  expect(0, 1, 0, 0, 4);
  session.Add(3, {"p:t.a", "t:t", "w:t.b"}, 3);
  expect(3 * unseen, 1, 0, 3, 4);
  session.Add(4, {"p:t.c", "p:t.d", "t:t", "w:t.a"}, 2);
  expect(3 * unseen, 1, 2, 5, 4);
  session.Add(5, {"p:t.c", "t:t", "w:t.a"}, 1);
  expect(3 * unseen, 1, 2, 6, 4);
  // All of t under no condition; an aggregate by one that is new is none of filters.
  session.Add(6, {"p:t.a", "t:t"}, 2);
  expect(5 * unseen, 1, 2, 8, 4);
  session.Add(7, {"f:count(*)", "t:t", "w:t.b"}, 7);
  expect(5 * unseen, 1, 2, 15, 7);
  // Executions of what has come before add up.
  session.Add(3, {}, 9);
  expect(14 * unseen, 1, 2, 24, 12);
  // Beyond all counting it stays where it is.
  for (int times = 0; times < 3; ++times) session.Add(3, {}, std::int64_t{1} << 50U);
  EXPECT_EQ(*FiguresOf(session)[Figure::kFilters], std::exp2(30));
}

TEST(Novelty, OfAnEmptyBaselineIsTheWholeWeight) {
  RoleTokens role;
  role.sessions = {0, 3};
  role.with_token = {{"x", {0, 2}}};
  NoveltyProfile profile(role, {});
  EXPECT_EQ(profile.Novelty({"a", "x"}), WeightOf({0, 2}, {0, 3}) + WeightOf({0, 0}, {0, 3}));
  EXPECT_FALSE(profile.Has(5));
}

// By the formula, in doubles, over all abstractions and the empty one.
double NaiveNovelty(const RoleTokens& role, const std::vector<Tokens>& baseline, const Tokens& tokens) {
  const auto weight = [&](const std::string& token) {
    const auto found = role.with_token.find(token);
    const SessionCounts with = found != role.with_token.end() ? found->second : SessionCounts{};
    return -std::log2(.8 * (static_cast<double>(with.of_role) + .02) /
                          (static_cast<double>(role.sessions.of_role) + 1) +
                      .2 * (static_cast<double>(with.of_all) + .02) / (static_cast<double>(role.sessions.of_all) + 1));
  };
  double least = 0;
  const auto counted = PlainCounted(tokens);
  for (const std::string& token : counted) least += weight(token);
  for (const Tokens& one : baseline) {
    double lacking = 0;
    const auto other = PlainCounted(one);
    for (const std::string& token : counted)
      if (std::find(other.begin(), other.end(), token) == other.end()) lacking += weight(token);
    least = std::min(least, lacking);
  }
  return least;
}

TEST(Novelty, IsTheLeastOverAllAbstractions) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 150; ++round) {
    RoleTokens role;
    role.sessions = {static_cast<std::int64_t>(random() % 50), 50 + static_cast<std::int64_t>(random() % 50)};
    for (int token = 0; token < 14; ++token) {
      const auto own = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(role.sessions.of_role + 1));
      role.with_token[TokenOf(token)] = {
          own, std::min(role.sessions.of_all, own + static_cast<std::int64_t>(random() % 50))};
    }
    std::vector<Tokens> baseline;
    for (std::uint64_t left = random() % 30; left > 0; --left) baseline.push_back(RandomTokens(random, 16));
    NoveltyProfile::Abstractions named;
    for (std::size_t i = 0; i < baseline.size(); ++i)
      named.emplace_back(static_cast<AbstractionId>(i) + 1, &baseline[i]);
    NoveltyProfile profile(role, named);
    for (int query = 0; query < 20; ++query) {
      const Tokens tokens = RandomTokens(random, 18);
      ASSERT_NEAR(BitsOf(profile.Novelty(tokens)), NaiveNovelty(role, baseline, tokens), 1e-8);
    }
  }
}

// Whatever the order, of the session and of the baseline, the figures end the same to the last bit, and none falls.
TEST(Novelty, DependsOnNoOrderAndNeverFalls) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 60; ++round) {
    RoleTokens role;
    role.sessions = {7, 31};
    role.usual_distinct = 1 + static_cast<double>(random() % 12) / 2;
    for (int token = 0; token < 10; ++token)
      role.with_token[TokenOf(token)] = {static_cast<std::int64_t>(random() % 8),
                                         static_cast<std::int64_t>(8 + random() % 24)};
    std::map<AbstractionId, Tokens> all;
    for (AbstractionId id = 1; id <= 24; ++id) all[id] = RandomTokens(random, 13);
    NoveltyProfile::Abstractions baseline;
    for (const auto& [id, tokens] : all)
      if (id % 3 == 0) baseline.emplace_back(id, &tokens);
    std::vector<AbstractionId> session;
    for (int i = 0; i < 20; ++i) session.push_back(1 + static_cast<AbstractionId>(random() % 24));
    std::vector<SessionFigures> ends;
    for (int order = 0; order < 4; ++order) {
      std::shuffle(baseline.begin(), baseline.end(), random);
      std::shuffle(session.begin(), session.end(), random);
      NoveltyProfile profile(role, baseline);
      SessionNovelty novelty(profile);
      SessionFigures before = FiguresOf(novelty);
      for (const AbstractionId id : session) {
        const bool may_change = novelty.Add(id, all[id]);
        const SessionFigures after = FiguresOf(novelty);
        for (const Figure figure : kOfNew) {
          ASSERT_GE(*after[figure], *before[figure]);
          ASSERT_TRUE(may_change || *after[figure] == *before[figure]);
        }
        before = after;
      }
      ends.push_back(before);
      for (const Figure figure : kOfNew) ASSERT_EQ(*ends.front()[figure], *ends.back()[figure]) << NameOf(figure);
    }
  }
}

}  // namespace
}  // namespace privacy_score
