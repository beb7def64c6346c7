/*
 * score_property_test.cpp - what must hold of scores (docs/scoring.md, section 5), on random tables and profiles.
 *
 * Each seed draws one or two tables, labels, identifiers, dependencies that hold, statements, baselines, days and a
 * mode. All rates are exact, computed from the tables. Everything must hold up to rounding (kSlack), the equality of
 * the live and the stored score to the last bit.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include "core/base/sort_unique.hpp"
#include "core/scoring/day_scorer.hpp"
#include "core/scoring/explain.hpp"
#include "core/scoring/profile.hpp"
#include "day_fixture.hpp"
#include "sanitizers.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

const unsigned kSeeds = testing_support::Instances(1000u);
constexpr double kSlack = 1e-11;
constexpr AbstractionId kStatements = 7;

class World {
 public:
  explicit World(unsigned seed) : random_(seed) {
    const unsigned tables = 1 + Below(2);
    for (unsigned t = 0; t < tables; ++t) AddTable(t);
    for (AbstractionId id = 1; id <= kStatements; ++id) {
      statements_[id] = RandomTokens();
      model.AddAbstraction(id, statements_[id]);
    }
    for (unsigned session = Below(4); session > 0; --session) baseline_.push_back(RandomLog());
    std::vector<Sequence> sequences;
    for (const auto& log : baseline_) sequences.push_back(SequenceOf(log));
    if (!sequences.empty()) model.AddBaseline(1, "analyst", sequences);
    model.AddBaseline(2, "colleague", {SequenceOf(RandomLog()), SequenceOf(RandomLog())});
    for (const char* day : {"2024-01-01", "2024-01-02", "2024-01-03"}) {
      for (unsigned session = 1 + Below(2); session > 0; --session) days.push_back({day, RandomLog(), "analyst"});
    }
  }

  // Every mode comes up: two choices of five settings and all lengths.
  ScoreSettings RandomSettings() {
    ScoreSettings settings;
    settings.ngram_length = 1 + static_cast<int>(Below(4));
    settings.counting = Below(2) ? ScoreSettings::kSet : ScoreSettings::kMultiset;
    settings.compare = Below(2) ? ScoreSettings::kUnion : ScoreSettings::kPositionwise;
    settings.alpha = std::vector<double>{0, .5, .3, 1}[Below(4)];
    settings.where_counts = Below(2) != 0;
    settings.pad = Below(2) != 0;
    settings.identifiers_count = Below(2) != 0;
    return settings;
  }

  unsigned Below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  std::vector<AbstractionId> RandomLog() {
    std::vector<AbstractionId> log;
    for (unsigned i = 1 + Below(7); i > 0; --i) log.push_back(1 + Below(kStatements));
    return log;
  }
  std::string RandomColumn() { return columns[Below(static_cast<unsigned>(columns.size()))]; }
  std::shared_ptr<const Model> Parsed() const { return std::make_shared<const Model>(Model::Parse(model.Wire())); }
  const Tokens& statement(AbstractionId id) const { return statements_.at(id); }
  const std::vector<std::vector<AbstractionId>>& baseline() const { return baseline_; }

  ModelRows model;
  std::vector<TestSession> days;
  std::vector<std::string> columns;         // all
  std::map<std::string, std::string> twin;  // column with the same partition in another coding

 private:
  void AddTable(unsigned number) {
    TestTable table;
    table.relation = "public.t" + std::to_string(number);
    const unsigned width = 2 + Below(3);
    for (unsigned c = 0; c < width; ++c) table.columns.push_back("c" + std::to_string(c));
    table.columns.push_back("twin");  // of c0
    for (unsigned row = 1 + Below(9); row > 0; --row) {
      std::vector<int> values;
      for (unsigned c = 0; c < width; ++c) values.push_back(static_cast<int>(Below(1 + c + Below(2))));
      values[0] = static_cast<int>(Below(3));
      values.push_back(100 - values[0]);
      table.rows.push_back(values);
    }
    model.relations.push_back({table.relation, std::to_string(Below(2)), "t"});
    static const char* const kLabels[] = {"identifier", "quasi-identifier", "sensitive", "public"};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const unsigned label = Below(8);
      const bool identifier = label == 0 || label == 7;
      model.attributes.push_back({table.Qualified(c), table.relation,
                                  label < 4 ? std::optional<std::string>(kLabels[label]) : std::nullopt,
                                  std::string(identifier ? "t" : "f")});
      columns.push_back(table.Qualified(c));
      for (std::size_t d = 0; d < table.columns.size(); ++d) {
        const bool holds = Entropy(table.SizesBy({c, d})) == Entropy(table.SizesBy({c}));
        if (c != d && holds && Below(2)) model.dependencies.push_back({table.Qualified(c), table.Qualified(d)});
      }
    }
    twin[table.Qualified(0)] = table.Qualified(width);
    twin[table.Qualified(width)] = table.Qualified(0);
    for (auto& rate : table.AllRates()) model.rates.push_back(std::move(rate));
  }

  Tokens RandomTokens() {
    std::set<std::string> tokens = {"cmd:select"};
    for (unsigned i = Below(4); i > 0; --i) tokens.insert((Below(3) ? "p:" : "w:") + RandomColumn());
    return {tokens.begin(), tokens.end()};
  }

  std::mt19937 random_;
  std::map<AbstractionId, Tokens> statements_;
  std::vector<std::vector<AbstractionId>> baseline_;
};

void AddLog(Profile& profile, const std::vector<AbstractionId>& log, RoleScorer& scorer) {
  ForEachNGram(SequenceOf(log),
               [&](const NGram& ngram, std::int64_t count, std::int64_t) { profile.Add(ngram, count, scorer); });
}

SessionSummary Summarise(const std::vector<TestSession>& sessions, RoleScorer& scorer) {
  Profile profile;
  for (const auto& session : sessions) AddLog(profile, session.ids, scorer);
  return profile.Summary();
}

// P<b,b> = 0.
TEST(MustHold, TheBaselineScoresNothing) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    RoleScorer scorer(world.Parsed(), "analyst", world.RandomSettings());
    Profile profile;
    for (const auto& log : world.baseline()) AddLog(profile, log, scorer);
    EXPECT_EQ(profile.Summary().score, 0) << seed;
    EXPECT_EQ(profile.Summary().mismatched, 0) << seed;
    EXPECT_EQ(profile.Summary().statement_score, 0) << seed;
  }
}

// s >= 0, s <= n, s <= the score against an empty baseline; what is explained is what is scored.
TEST(MustHold, ScoresAreBounded) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    RoleScorer scorer(world.Parsed(), "analyst", world.RandomSettings());
    Profile profile;
    for (const auto& day : world.days) AddLog(profile, day.ids, scorer);
    for (const auto& [ngram, entry] : profile.ngrams()) {
      EXPECT_GE(entry.score.score, 0) << seed;
      EXPECT_LE(entry.score.score, scorer.MostPerNGram(ScoreLevel::kNGram)) << seed;
      EXPECT_LE(entry.score.score, entry.score.tight + kSlack) << seed;
      EXPECT_FALSE(entry.score.estimated) << seed;
      const NGramExplanation explained = scorer.Explain(ngram, ScoreLevel::kNGram);
      double sum = 0;
      for (const double delta : explained.deltas) sum += delta;
      EXPECT_NEAR(sum, entry.score.score, kSlack) << seed;
      EXPECT_TRUE(entry.score.score <= kSlack || !explained.attributes.empty()) << seed;
    }
    const SessionSummary summary = profile.Summary();
    EXPECT_LE(summary.score, summary.max_score) << seed;
    EXPECT_LE(summary.score, summary.tight_max + kSlack) << seed;
    EXPECT_LE(summary.tight_max, summary.max_score + kSlack) << seed;
    EXPECT_TRUE(summary.normalised >= 0 && summary.normalised <= 1) << seed;
    EXPECT_TRUE(scorer.TakeMissing().empty()) << seed;
  }
}

// Adding a revealed attribute to a run-time position never lowers s.
TEST(MustHold, RevealingMoreNeverScoresLess) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    const ScoreSettings settings = world.RandomSettings();
    RoleScorer scorer(world.Parsed(), "analyst", settings);
    for (int round = 0; round < 3; ++round) {
      std::vector<Tokens> places;
      for (int k = 0; k < settings.ngram_length; ++k) places.push_back(world.statement(1 + world.Below(kStatements)));
      const double before = scorer.ExplainTokens(places, ScoreLevel::kNGram).score.score;
      Tokens& changed = places[world.Below(static_cast<unsigned>(places.size()))];
      changed = UnionTokens({changed, {"p:" + world.RandomColumn()}});
      EXPECT_GE(scorer.ExplainTokens(places, ScoreLevel::kNGram).score.score, before - kSlack) << seed;
    }
  }
}

// max_i P_i <= Delta <= sum P_i; for multisets Delta is the sum.
TEST(MustHold, DeltaLiesBetweenTheGreatestDayAndTheSum) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    const ScoreSettings settings = world.RandomSettings();
    const auto rows = ScoreDays(HistoryWire(world.model, settings, world.days)).table.rows;
    ASSERT_EQ(rows.size(), 3U);
    double greatest = 0;
    double sum = 0;
    double last = 0;
    for (const auto& row : rows) {
      greatest = std::max(greatest, Number(row[5]));
      sum += Number(row[5]);
      const double cumulative = Number(row[9]);
      EXPECT_GE(cumulative, greatest - kSlack) << seed;
      EXPECT_GE(cumulative, last - kSlack) << seed;
      EXPECT_LE(cumulative, sum + kSlack) << seed;
      EXPECT_TRUE(settings.counting == ScoreSettings::kSet || sum - cumulative <= kSlack) << seed;
      last = cumulative;
    }
  }
}

// The day's score does not depend on how it grows: sessions side by side, in parts that end anywhere, over several
// connections; abstractions when they are met.
TEST(MustHold, GrowingDayEqualsDay) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    const ScoreSettings settings = world.RandomSettings();
    if (world.Below(2) != 0) world.model.rates.clear();
    std::vector<AbstractionId> of_baselines, all;
    for (const TextRow& row : world.model.session_sets)
      for (const AbstractionId id : ParseIntegers(*row[2])) of_baselines.push_back(id);
    for (const auto& session : world.days) all.insert(all.end(), session.ids.begin(), session.ids.end());
    SortUnique(of_baselines);
    ModelRows baselines_only = world.model;
    baselines_only.abstractions = TokensOfIds(world.model.abstractions, of_baselines);
    const auto any = [&] { return all[world.Below(static_cast<unsigned>(all.size()))]; };
    DayScorer scorer(std::make_shared<const Model>(Model::Parse(baselines_only.Wire())), "analyst", settings);
    RecordedDay day;
    for (int step = 0; step < 6; ++step) {
      for (unsigned more = world.Below(4); more > 0; --more) {
        Sequence part;
        for (unsigned k = world.Below(5); k > 0; --k) {
          if (world.Below(6) == 0) AppendContext(part, world.Below(2) == 0 ? 0 : any());
          AppendRun(part, any(), static_cast<std::int64_t>(1 + world.Below(9)));
        }
        day[static_cast<std::int64_t>(world.Below(4))].push_back(part);
      }
      const DayScore score = ScoreNow(scorer, day, world.model.abstractions);
      const HistoryResult whole = ScoreDays(HistoryWireOf(world.model, settings, day));
      if (whole.table.rows.empty()) continue;
      EXPECT_EQ(TextOf(score.score), whole.table.rows.front()[5]) << seed;
      EXPECT_EQ(TextOf(score.enforced), whole.table.rows.front()[12]) << seed;
      EXPECT_EQ(score.missing, whole.missing) << seed;
    }
  }
}

// The live score equals the stored one, whatever happened to the model and the settings in between, and wherever the
// contents of baselines lie.
TEST(MustHold, LiveEqualsStored) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    const ScoreSettings settings = world.RandomSettings();
    const auto rows = ScoreSessions(HistoryWire(world.model, settings, world.days)).table.rows;
    ASSERT_EQ(rows.size(), world.days.size());
    ModelRows without_rates = world.model;
    without_rates.rates.clear();
    const bool changes = world.Below(2) != 0;
    const bool lent = world.Below(2) != 0;
    const LentModel beside(world.model), beside_without_rates(without_rates);
    const auto load = [&](LiveScorer& live, bool with_rates) {
      if (lent)
        live.Load((with_rates ? beside : beside_without_rates).Source());
      else
        live.Load((with_rates ? world.model : without_rates).Wire());
    };
    ScoreSettings first = changes ? world.RandomSettings() : settings;
    first.ngram_length = settings.ngram_length;
    LiveScorer live("analyst", first);
    load(live, !changes);
    std::map<AbstractionId, Tokens> tokens;
    for (const TextRow& row : world.model.abstractions) tokens[ParseInteger(*row[0])].push_back(*row[1]);
    for (auto& [id, list] : tokens) std::sort(list.begin(), list.end());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      live.Restart();
      const auto& ids = world.days[i].ids;
      for (std::size_t k = 0; k < ids.size(); ++k) {
        // What of its statements the role's baseline lacks, a session defines itself.
        if (!live.Knows(ids[k])) live.Define(ids[k], tokens[ids[k]]);
        live.Observe(ids[k]);
        if (changes && i == 0 && k == ids.size() / 2) load(live, true);
        if (changes && i == 0 && k + 1 == ids.size()) live.Configure(settings);
      }
      const SessionSummary summary = live.summary();
      EXPECT_EQ(rows[i][3], TextOf(summary.queries)) << seed;
      EXPECT_EQ(rows[i][4], TextOf(summary.ngrams)) << seed;
      EXPECT_EQ(rows[i][5], TextOf(summary.mismatched)) << seed;
      EXPECT_EQ(rows[i][6], TextOf(summary.score)) << seed;
      EXPECT_EQ(rows[i][7], TextOf(summary.max_score)) << seed;
      EXPECT_EQ(rows[i][8], TextOf(summary.tight_max)) << seed;
      EXPECT_EQ(rows[i][9], TextOf(summary.normalised)) << seed;
      EXPECT_EQ(rows[i][10], TextOf(summary.statement_score)) << seed;
      EXPECT_EQ(rows[i][15], TextOf(summary.statement_score)) << seed;  // enforced
      EXPECT_FALSE(summary.estimated) << seed;
    }
  }
}

// Without room for n-grams the sum that enforce goes by is the same, what the baseline's statements make is known, and
// the score of each n-gram is that of its statements, at most what it would be. All but the sum says that it is
// estimated.
TEST(MustHold, WithoutRoomForNGramsStatementsAreScored) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    ScoreSettings settings = world.RandomSettings();
    settings.compare = ScoreSettings::kPositionwise;
    if (world.baseline().empty()) continue;
    const LentModel whole(world.model), bare(world.model, false);
    std::map<AbstractionId, Tokens> tokens;
    for (const TextRow& row : world.model.abstractions) tokens[ParseInteger(*row[0])].push_back(*row[1]);
    for (auto& [id, list] : tokens) std::sort(list.begin(), list.end());
    const auto parsed = [](const LentModel& model) {
      return std::make_shared<const Model>(Model::Parse(model.Source(), "analyst"));
    };
    const TokenMap defined(tokens.begin(), tokens.end());
    RoleScorer exact(parsed(whole), "analyst", settings, &defined);
    RoleScorer by_statements(parsed(bare), "analyst", settings, &defined);
    for (const auto& day : world.days) {
      NGramWindow window;
      for (const AbstractionId id : day.ids) {
        window.Push(id);
        NGram statement{};
        statement.back() = id;
        const NGramScore own = exact.Score(statement, ScoreLevel::kStatement);
        const NGramScore same = by_statements.Score(statement, ScoreLevel::kStatement);
        EXPECT_EQ(own.score, same.score) << seed;
        EXPECT_EQ(own.matched, same.matched) << seed;
        EXPECT_EQ(own.estimated, same.estimated) << seed;
        if (!settings.pad && HasPadding(window.recorded(), settings.ngram_length)) continue;
        const NGram ngram = Suffix(window.recorded(), settings.ngram_length);
        const NGramScore true_score = exact.Score(ngram, ScoreLevel::kNGram);
        const NGramExplanation explained = by_statements.Explain(ngram, ScoreLevel::kNGram);
        EXPECT_LE(explained.score.score, true_score.score + kSlack) << seed;
        EXPECT_TRUE(explained.score.estimated && explained.score.score_estimated) << seed;
        EXPECT_TRUE(explained.score.matched || !true_score.matched) << seed;
        double sum = 0;
        for (const double delta : explained.deltas) sum += delta;
        EXPECT_EQ(sum, explained.score.score) << seed;
      }
    }
  }
}

// Published form: a greater baseline never raises P.
TEST(MustHoldPublished, AddingToTheBaselineNeverRaisesTheScore) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    ScoreSettings settings = world.RandomSettings();
    settings.alpha = 1;
    settings.identifiers_count = true;
    RoleScorer before(world.Parsed(), "analyst", settings);
    const double score = Summarise(world.days, before).score;
    ModelRows& model = world.model;
    if (world.baseline().empty()) model.baselines.push_back({"1", "analyst", "1"});
    const auto extra = BaselineOf({SequenceOf(world.RandomLog())}).ngrams.rows;
    const auto& row = extra[world.Below(static_cast<unsigned>(extra.size()))];
    model.ngrams.push_back({"1", row[0], row[1]});
    RoleScorer after(world.Parsed(), "analyst", settings);
    EXPECT_LE(Summarise(world.days, after).score, score + kSlack) << seed;
  }
}

// Published form: functionally equivalent attributes may be swapped.
TEST(MustHoldPublished, SwappingEquivalentAttributesChangesNothing) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    ScoreSettings settings = world.RandomSettings();
    settings.alpha = 1;
    settings.identifiers_count = true;
    TextRows swapped_rows;
    for (AbstractionId id = 1; id <= kStatements; ++id) {
      std::set<std::string> tokens;
      for (const std::string& token : world.statement(id)) {
        const auto twin = world.twin.find(token.substr(2));
        tokens.insert(twin == world.twin.end() ? token : token.substr(0, 2) + twin->second);
      }
      for (const std::string& token : tokens) swapped_rows.push_back({TextOf(id + 100), token});
    }
    for (auto& row : swapped_rows) world.model.abstractions.push_back(row);
    RoleScorer scorer(world.Parsed(), "analyst", settings);
    std::vector<TestSession> swapped = world.days;
    for (auto& session : swapped) {
      for (auto& id : session.ids) id += 100;
    }
    EXPECT_NEAR(Summarise(swapped, scorer).score, Summarise(world.days, scorer).score, kSlack) << seed;
  }
}

// With rates missing the score is an upper bound; one round of the rates asked for makes it exact.
TEST(Bounds, AreUpperAndOneRoundMakesThemExact) {
  for (unsigned seed = 0; seed < kSeeds / 4; ++seed) {
    World world(seed);
    const ScoreSettings settings = world.RandomSettings();
    RoleScorer exact(world.Parsed(), "analyst", settings);
    const SessionSummary truth = Summarise(world.days, exact);
    const TextRows all = world.model.rates;
    world.model.rates.clear();
    for (const auto& row : all) {
      if (world.Below(3) == 0) world.model.rates.push_back(row);
    }
    RoleScorer bounded(world.Parsed(), "analyst", settings);
    const SessionSummary bound = Summarise(world.days, bounded);
    EXPECT_GE(bound.score, truth.score - kSlack) << seed;
    EXPECT_GE(bound.tight_max, truth.tight_max - kSlack) << seed;
    EXPECT_LE(bound.score, bound.max_score) << seed;
    const auto missing = bounded.TakeMissing();
    EXPECT_EQ(bound.estimated, !missing.empty()) << seed;
    for (const auto& row : all) {
      for (const auto& want : missing) {
        if (row[0] == want.relation && row[1] == want.attributes) world.model.rates.push_back(row);
      }
    }
    RoleScorer again(world.Parsed(), "analyst", settings);
    const SessionSummary result = Summarise(world.days, again);
    EXPECT_FALSE(result.estimated) << seed;
    EXPECT_NEAR(result.score, truth.score, kSlack) << seed;
    EXPECT_NEAR(result.tight_max, truth.tight_max, kSlack) << seed;
  }
}

// Where the subject does not tell the rows apart, two columns may say nothing each and everything together. Then the
// first n-gram of a baseline can raise a score that was taken against the empty one, and M' bounds nothing: the lines
// above hold for row subjects only.
TEST(NotForOtherSubjects, AnXorRaisesTheScoreOfTheFirstBaseline) {
  ModelRows model;
  model.relations = {{"public.t", "1", "f"}};
  model.attributes = {{"public.t.a", "public.t", std::nullopt, "f"}, {"public.t.b", "public.t", std::nullopt, "f"}};
  model.rates = {
      {"public.t", "public.t.a", "0"}, {"public.t", "public.t.b", "0"}, {"public.t", "public.t.a\x01public.t.b", "1"}};
  model.AddAbstraction(1, {"p:public.t.a"});
  model.AddAbstraction(2, {"p:public.t.b"});
  ScoreSettings settings = Published();
  settings.ngram_length = 1;
  const std::vector<TestSession> day = {{"2024-01-01", {2}, "analyst"}};
  const auto score = [&] {
    RoleScorer scorer(std::make_shared<const Model>(Model::Parse(model.Wire())), "analyst", settings);
    return Summarise(day, scorer);
  };
  EXPECT_EQ(score().score, 0);
  model.AddBaseline(1, "analyst", {SequenceOf({1})});
  EXPECT_EQ(score().score, 1);
  EXPECT_EQ(score().tight_max, 0);
}

}  // namespace
}  // namespace privacy_score
