/*
 * enforced_sum_test.cpp - the sum that mode `enforce` goes by: worked by hand, and what must hold of it on random
 * models and sessions, among it that the live sum equals that of history to the last bit.
 */
#include "core/scoring/enforced_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/base/error.hpp"
#include "sanitizers.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

const unsigned kSeeds = testing_support::Instances(400u);
constexpr AbstractionId kStatements = 9;

ScoreSettings With(ScoreSettings settings, decltype(ScoreSettings::counting) counting) {
  settings.counting = counting;
  return settings;
}

double SumOf(const std::vector<std::vector<AbstractionId>>& sessions, RoleScorer& scorer) {
  EnforcedSum sum;
  for (const auto& ids : sessions) sum.AddSession(SequenceOf(ids), scorer);
  return sum.value();
}

double LiveSumOf(const std::vector<AbstractionId>& ids, LiveScorer& live) {
  live.Restart();
  for (const AbstractionId id : ids) live.Observe(id);
  return live.summary().statement_score;
}

// The baseline is g gd g gd; lg and lgd are new and add .3445 each (docs/scoring.md, section 5).
TEST(EnforcedSum, WorkedDay) {
  const auto model = std::make_shared<const Model>(Model::Parse(WorkedModel().Wire()));
  RoleScorer set(model, "analyst", Published());
  EXPECT_NEAR(EnforcedSum::Of(kLg, set).score, .3445, 5e-5);
  EXPECT_NEAR(EnforcedSum::Of(kLgd, set).score, .3445, 5e-5);
  EXPECT_EQ(EnforcedSum::Of(kGd, set).score, 0);
  EXPECT_THROW(EnforcedSum::Of(77, set), Error);
  EXPECT_NEAR(SumOf({{kLg, kLgd, kGd, kLg, kLg, kLgd}}, set), .6891, 5e-5);
  // Each session of a day counts.
  EXPECT_NEAR(SumOf({{kLg, kLgd, kGd}, {kLg}, {kG, kLg, kGd}}, set), 4 * .34455, 5e-4);
  EXPECT_EQ(SumOf({{kG, kGd, kG}, {}}, set), 0);
  RoleScorer multiset(model, "analyst", With(Published(), ScoreSettings::kMultiset));
  EXPECT_NEAR(SumOf({{kLg, kLg, kLgd, kGd, kLg}}, multiset), 4 * .34455, 5e-4);
  // Without a baseline against the statement that reveals nothing: CDR(gender) = .3109.
  RoleScorer other(model, "nobody", Published());
  EXPECT_NEAR(SumOf({{kG, kG}}, other), .3109, 5e-5);
}

// A random table, statements, a baseline of the first of them, and sessions.
class World {
 public:
  explicit World(unsigned seed) : random_(seed) {
    TestTable table;
    table.columns = {"c0", "c1", "c2", "c3"};
    for (unsigned row = 2 + Below(8); row > 0; --row) {
      std::vector<int> values;
      for (int c = 0; c < 4; ++c) values.push_back(static_cast<int>(Below(4)));
      table.rows.push_back(values);
    }
    model = ModelOf(table);
    for (AbstractionId id = 1; id <= kStatements; ++id) {
      std::set<std::string> tokens = {"cmd:select"};
      for (unsigned i = 1 + Below(3); i > 0; --i) tokens.insert((Below(3) ? "p:" : "w:") + table.Qualified(Below(4)));
      model.AddAbstraction(id, {tokens.begin(), tokens.end()});
    }
    usual = static_cast<AbstractionId>(Below(4));
    std::vector<Sequence> sequences;
    for (unsigned session = 0; usual > 0 && session < 3; ++session) sequences.push_back(SequenceOf(Usual(6)));
    if (usual > 0) model.AddBaseline(1, "analyst", sequences);
    settings.ngram_length = 1 + static_cast<int>(Below(4));
    settings.counting = Below(2) ? ScoreSettings::kSet : ScoreSettings::kMultiset;
    settings.compare = Below(2) ? ScoreSettings::kUnion : ScoreSettings::kPositionwise;
    settings.alpha = std::vector<double>{0, .5, .3, 1}[Below(4)];
    settings.pad = Below(2) != 0;
  }

  unsigned Below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  // The baseline's statements, 1 to `usual`; all of them are among the first.
  std::vector<AbstractionId> Usual(unsigned length) {
    std::vector<AbstractionId> ids;
    for (AbstractionId id = 1; id <= usual; ++id) ids.push_back(id);
    while (usual > 0 && ids.size() < length) ids.push_back(1 + Below(static_cast<unsigned>(usual)));
    std::shuffle(ids.begin(), ids.end(), random_);
    return ids;
  }
  std::vector<AbstractionId> Any(unsigned length) {
    std::vector<AbstractionId> ids;
    while (ids.size() < length) ids.push_back(1 + Below(kStatements));
    return ids;
  }
  void Shuffle(std::vector<AbstractionId>& ids) { std::shuffle(ids.begin(), ids.end(), random_); }
  std::shared_ptr<const Model> Parsed() const { return std::make_shared<const Model>(Model::Parse(model.Wire())); }

  ModelRows model;
  AbstractionId usual = 0;
  ScoreSettings settings;

 private:
  std::mt19937 random_;
};

// A gate as mode enforce is one: what would pass the limit is refused and not observed.
bool Passes(LiveScorer& live, AbstractionId id, double limit) {
  const LiveScorer::Weighed weighed = live.Weigh(id);
  if (weighed.adds && weighed.sum > limit) return false;
  live.Observe(id);
  return true;
}

// No known statement is ever refused, whatever came before and whatever the limit, as far as 0; what has passed once
// passes again under 'set'; what was refused leaves no trace; and the session stays below its limit.
TEST(EnforcedSum, NoKnownStatementIsEverRefused) {
  int refused = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    LiveScorer live("analyst", world.settings);
    live.Load(world.model.Wire());
    const double limit = std::vector<double>{0, .1, .4, 1, 3}[world.Below(5)];
    std::set<AbstractionId> passed;
    std::vector<AbstractionId> recorded;
    for (const AbstractionId id : world.Any(60)) {
      const bool passes = Passes(live, id, limit);
      refused += passes ? 0 : 1;
      EXPECT_TRUE(passes || id > world.usual) << seed;
      EXPECT_TRUE(passes || world.settings.counting == ScoreSettings::kMultiset || passed.count(id) == 0) << seed;
      if (passes) passed.insert(id), recorded.push_back(id);
      EXPECT_LE(live.summary().statement_score, limit) << seed;
      EXPECT_FALSE(live.summary().statement_estimated) << seed;
    }
    EXPECT_EQ(live.summary().queries, static_cast<std::int64_t>(recorded.size()));
    RoleScorer scorer(world.Parsed(), "analyst", world.settings);
    EXPECT_EQ(live.summary().statement_score, SumOf({recorded}, scorer)) << seed;
  }
  EXPECT_GT(refused, testing_support::Instances(1000));
}

// Neither order nor known statements in between change the sum, nothing more lowers it, and neither does it to do the
// same in two sessions.
TEST(EnforcedSum, OrderAndPaddingNeverLowerIt) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    RoleScorer scorer(world.Parsed(), "analyst", world.settings);
    LiveScorer live("analyst", world.settings);
    live.Load(world.model.Wire());
    const std::vector<AbstractionId> ids = world.Any(1 + world.Below(20));
    const double sum = LiveSumOf(ids, live);
    EXPECT_EQ(SumOf({ids}, scorer), sum) << seed;
    std::vector<AbstractionId> other = ids;
    world.Shuffle(other);
    EXPECT_EQ(LiveSumOf(other, live), sum) << seed;
    for (const AbstractionId id : world.Usual(1 + world.Below(10)))
      other.insert(other.begin() + world.Below(static_cast<unsigned>(other.size()) + 1), id);
    EXPECT_EQ(LiveSumOf(other, live), sum) << seed;
    EXPECT_EQ(SumOf({other}, scorer), sum) << seed;
    double last = 0;
    live.Restart();
    for (const AbstractionId id : ids) {
      live.Observe(id);
      EXPECT_GE(live.summary().statement_score, last) << seed;
      last = live.summary().statement_score;
    }
    const auto cut = ids.begin() + world.Below(static_cast<unsigned>(ids.size()) + 1);
    EXPECT_GE(SumOf({{ids.begin(), cut}, {cut, ids.end()}}, scorer), sum) << seed;
  }
}

// The day is the sum of its sessions, each of which is in history what it was live, in whatever order.
TEST(EnforcedSum, TheDayIsTheSumOfItsSessions) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    LiveScorer live("analyst", world.settings);
    live.Load(world.model.Wire());
    std::vector<TestSession> sessions;
    double sum = 0;
    for (unsigned session = 1 + world.Below(4); session > 0; --session) {
      sessions.push_back({"2024-01-01", world.Any(1 + world.Below(9)), "analyst"});
      sum += LiveSumOf(sessions.back().ids, live);
    }
    const HistoryResult days = ScoreDays(HistoryWire(world.model, world.settings, sessions));
    EXPECT_NEAR(Number(days.table.rows.front()[12]), sum, 1e-12) << seed;
    const HistoryResult each = ScoreSessions(HistoryWire(world.model, world.settings, sessions));
    for (std::size_t i = 0; i < sessions.size(); ++i)
      EXPECT_EQ(each.table.rows[i][15], TextOf(LiveSumOf(sessions[i].ids, live))) << seed;
    std::reverse(sessions.begin(), sessions.end());
    EXPECT_EQ(ScoreDays(HistoryWire(world.model, world.settings, sessions)).table.rows.front()[12],
              days.table.rows.front()[12])
        << seed;
  }
}

}  // namespace
}  // namespace privacy_score
