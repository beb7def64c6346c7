/*
 * revealing_sessions_test.cpp - a session that finds the counts behind its model scores as one that counts itself.
 */
#include "core/scoring/revealing_sessions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "core/base/error.hpp"
#include "core/scoring/pair_score.hpp"
#include "damaged_bytes.hpp"
#include "sanitizers.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

const unsigned kSeeds = testing_support::Instances(300u);
constexpr AbstractionId kStatements = 9;

// Two roles and one end user with baselines, statements with aggregates over cells, some rates that are not known.
ModelRows RandomModel(std::mt19937& random) {
  TestTable table{"public.t", {"a", "b", "c", "d"}, {}};
  for (unsigned row = 2 + random() % 30; row > 0; --row)
    table.rows.push_back({static_cast<int>(random() % 2), static_cast<int>(random() % 5),
                          static_cast<int>(random() % 9), static_cast<int>(row)});
  ModelRows model = ModelOf(table);
  for (auto& row : model.rates) row.resize(6);
  for (auto& row : model.rates) row[4] = "4.5";
  for (std::size_t i = model.rates.size(); i-- > 0;)
    if (random() % 3 == 0) model.rates.erase(model.rates.begin() + static_cast<std::ptrdiff_t>(i));
  if (random() % 2 != 0) model.dependencies.push_back({table.Qualified(3), table.Qualified(random() % 3)});
  for (AbstractionId id = 1; id <= kStatements; ++id) {
    std::set<std::string> tokens = {"cmd:select", "t:public.t"};
    for (unsigned i = random() % 4; i > 0; --i) {
      const std::string column = table.Qualified(random() % 4);
      const char* const kForms[] = {"p:", "w:", "g:", "e:", "f:sum("};
      const unsigned form = random() % 5;
      tokens.insert(kForms[form] + column + (form == 4 ? ")" : ""));
    }
    if (random() % 12 == 0) tokens = {std::string("unparsed")};
    // Of some the tokens are lost.
    if (random() % 10 != 0) model.AddAbstraction(id, {tokens.begin(), tokens.end()});
  }
  const auto sessions = [&] {
    std::vector<Sequence> all;
    for (unsigned count = random() % 5; count > 0; --count) {
      std::vector<AbstractionId> log;
      for (unsigned i = 1 + random() % 6; i > 0; --i)
        log.push_back(1 + static_cast<AbstractionId>(random() % kStatements));
      all.push_back(SequenceOf(log));
    }
    return all;
  };
  model.AddBaseline(1, "analyst", sessions());
  model.AddBaseline(2, "colleague", sessions());
  if (random() % 2 != 0) model.AddBaseline(3, "analyst", sessions(), "ann");
  return model;
}

ScoreSettings RandomSettings(std::mt19937& random) {
  ScoreSettings settings;
  settings.where_counts = random() % 2 != 0;
  settings.aggregate_least = static_cast<int>(random() % 3) * 5;
  return settings;
}

// A model that is not counted yet, and settings to count it under.
struct Uncounted {
  explicit Uncounted(unsigned seed) : random(seed), rows(RandomModel(random)), settings(RandomSettings(random)) {}
  std::mt19937 random;
  ModelRows rows;
  ScoreSettings settings;
  LentModel model{rows};
};

// All that depends on the counts.
std::vector<double> Judged(const ModelSource& source, const ScoreSettings& settings, const char* end_user) {
  const auto model = std::make_shared<const Model>(Model::Parse(source, "analyst"));
  PairScorer scorer(model, "analyst", settings, end_user);
  std::vector<double> judged = {scorer.RestsOnBounds() ? 1.0 : 0.0};
  for (AttributeId id = 0; id < model->attributes().size(); ++id) judged.push_back(scorer.Probability(id));
  return judged;
}

TEST(RevealingSessions, FoundOrCountedAreTheSame) {
  unsigned found = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    auto [random, rows, settings, model] = Uncounted(seed);
    const ScoreSettings others = RandomSettings(random);
    std::map<std::string, std::vector<double>> before, before_others;
    for (const char* end_user : {"", "ann", "bob"}) {
      before[end_user] = Judged(model.Source(), settings, end_user);
      before_others[end_user] = Judged(model.Source(), others, end_user);
      ASSERT_EQ(before[end_user], Judged(rows.Wire(), settings, end_user)) << seed;
    }
    model.Publish(settings);
    const Model counted = Model::Parse(model.Source(), "analyst");
    for (const Baseline& baseline : counted.baselines())
      found += counted.CountedOf(baseline, settings) != nullptr ? 1U : 0U;
    for (const char* end_user : {"", "ann", "bob"}) {
      ASSERT_EQ(before[end_user], Judged(model.Source(), settings, end_user)) << seed;
      ASSERT_EQ(before_others[end_user], Judged(model.Source(), others, end_user)) << seed;
    }
  }
  EXPECT_EQ(found, 2 * kSeeds);
}

TEST(RevealingSessions, WhoCountsWantsTheRatesThatDecide) {
  unsigned some = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    auto [random, rows, settings, model] = Uncounted(seed);
    const auto parsed = std::make_shared<const Model>(Model::Parse(model.Source(), "colleague"));
    PairScorer scorer(parsed, "colleague", settings);
    const std::vector<MissingRate> wanted = scorer.rates().TakeMissing();
    EXPECT_EQ(model.Publish(settings), wanted) << seed;
    some += wanted.empty() ? 0U : 1U;
    // Whoever has published them asks.
    const auto counted = std::make_shared<const Model>(Model::Parse(model.Source(), "colleague"));
    PairScorer knowing(counted, "colleague", settings);
    EXPECT_EQ(knowing.RestsOnBounds(), scorer.RestsOnBounds()) << seed;
    EXPECT_TRUE(knowing.rates().TakeMissing().empty()) << seed;
  }
  EXPECT_GT(some, kSeeds / 20);
}

// A scorer looks each distinct token of a baseline up once where it lies elsewhere, and each statement by itself where
// not.
TEST(RevealingSessions, StatementsScoreAlikeWhereverTheirTokensLie) {
  unsigned above_zero = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    auto [random, rows, settings, model] = Uncounted(seed);
    if (random() % 2 != 0) settings.compare = ScoreSettings::kPositionwise;
    if (random() % 2 != 0) model.Publish(settings);
    const auto whole = std::make_shared<const Model>(Model::Parse(rows.Wire(), "analyst"));
    const auto lent = std::make_shared<const Model>(Model::Parse(model.Source(), "analyst"));
    RoleScorer of_whole(whole, "analyst", settings), of_lent(lent, "analyst", settings);
    for (AbstractionId id = 1; id <= kStatements; ++id) {
      const Tokens* tokens = whole->FindTokens(id);
      if (tokens == nullptr) continue;
      const NGramExplanation expected = of_whole.ExplainTokens({*tokens}, ScoreLevel::kStatement);
      const NGramExplanation found = of_lent.ExplainTokens({*tokens}, ScoreLevel::kStatement);
      ASSERT_EQ(found.score.score, expected.score.score) << seed;
      ASSERT_EQ(found.score.tight, expected.score.tight) << seed;
      ASSERT_EQ(found.score.estimated, expected.score.estimated) << seed;
      ASSERT_EQ(found.nearest, expected.nearest) << seed;
      ASSERT_EQ(found.attributes, expected.attributes) << seed;
      above_zero += expected.score.score > 0 ? 1U : 0U;
    }
  }
  EXPECT_GT(above_zero, kSeeds / 5);
}

TEST(RevealingSessions, DamagedCountsAreRefused) {
  std::mt19937 random(7);
  const ModelRows rows = RandomModel(random);
  std::vector<MissingRate> missing;
  const Model model = Model::Parse(rows.Wire());
  const std::string definitions = rows.Wire(false);
  const std::string rates = PackedRates::Pack(model);
  const auto parse = [&](const std::string& counts) {
    const std::string published = counts + rates;
    ModelSource source(definitions);
    source.published = published;
    Model::Parse(source);
  };
  const std::string section = CountRevealing(model, ScoreSettings(), &missing);
  EXPECT_NO_THROW(parse(section));
  const unsigned refused = CountRefused(section, 3000, parse);
  EXPECT_GT(refused, 500U);
}

}  // namespace
}  // namespace privacy_score
