/*
 * model_test.cpp - reading the model: names, labels, dependencies, damaged input.
 */
#include "core/scoring/model.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::LentModel;
using testing_support::ModelRows;

ModelRows TwoRelations() {
  ModelRows rows;
  rows.relations = {{"public.b", "7", "t"}, {"public.a", "7", "f"}};
  rows.attributes = {{"public.a.y", "public.a", "sensitive", "f"},
                     {"public.a.x", "public.a", std::nullopt, "f"},
                     {"public.b.id", "public.b", "identifier", "t"},
                     {"public.b.z", "public.b", "public", "f"},
                     {"public.gone.q", "public.gone", std::nullopt, "f"}};
  return rows;
}

TEST(Model, AttributesOfARelationStandSideBySide) {
  const Model model = Model::Parse(TwoRelations().Wire());
  ASSERT_EQ(model.attributes().size(), 4U);
  EXPECT_EQ(model.NamesOf({0, 1, 2, 3}),
            (std::vector<std::string>{"public.b.id", "public.b.z", "public.a.x", "public.a.y"}));
  EXPECT_EQ(model.attributes()[3].label, Label::kSensitive);
  EXPECT_TRUE(model.attributes()[0].identifier);
  EXPECT_FALSE(model.relations()[1].is_row_subject);
  EXPECT_EQ(model.Revealed({"cmd:select", "p:public.a.y", "p:public.gone.q", "t:public.a", "w:public.b.id"}, true),
            (AttributeSet{0, 3}));
  EXPECT_EQ(model.Revealed({"cmd:select", "p:public.a.y", "w:public.b.id"}, false), (AttributeSet{3}));
}

TEST(Model, ClosureGoesNeverThroughAnIdentifier) {
  ModelRows rows = TwoRelations();
  rows.dependencies = {{"public.a.x", "public.a.y"},
                       {"public.a.y", "public.b.id"},
                       {"public.b.id", "public.b.z"},
                       {"public.a.x", "public.gone.q"}};
  const Model model = Model::Parse(rows.Wire());
  EXPECT_EQ(model.Closure({2}), (AttributeSet{0, 2, 3}));  // x -> y -> id, not on to z
  EXPECT_EQ(model.Closure({0}), (AttributeSet{0}));
  EXPECT_EQ(model.Closure({}), AttributeSet{});
}

TEST(Model, RatesOfUnknownAttributesAreLeftOut) {
  ModelRows rows = TwoRelations();
  rows.rates = {{"public.a", "public.a.x", "0.25"},
                {"public.a", "public.a.x\x01public.a.y", "0.5"},
                {"public.a", "public.a.x\x01public.a.dropped", "0.5"},
                {"public.a", "public.b.z", "0.5"},
                {"public.gone", "public.gone.q", "0.5"}};
  const Model model = Model::Parse(rows.Wire());
  ASSERT_NE(model.FindRate({2}), nullptr);
  EXPECT_EQ(model.FindRate({2})->upper, .25);
  EXPECT_TRUE(model.FindRate({2})->exact());
  ASSERT_NE(model.FindRate({2, 3}), nullptr);
  EXPECT_EQ(model.FindRate({2, 3})->upper, .5);
  EXPECT_EQ(model.FindRate({1}), nullptr);
  EXPECT_EQ(model.RatesOf(1).size(), 2U);
}

TEST(Model, RatesOutOfDateAreBounds) {
  ModelRows rows = TwoRelations();
  rows.rates = {{"public.a", "public.a.x", "0.5", "1000", "9", "10"},
                {"public.a", "public.a.y", "0.5", "1000", "9", "-1"}};
  const Model model = Model::Parse(rows.Wire());
  const RateBounds expected = AfterModifications(.5, 9, 1000, 10);
  ASSERT_NE(model.FindRate({2}), nullptr);
  EXPECT_EQ(model.FindRate({2})->lower, expected.lower);
  EXPECT_EQ(model.FindRate({2})->upper, expected.upper);
  EXPECT_FALSE(model.FindRate({2})->exact());
  ASSERT_NE(model.FindRate({3}), nullptr);
  EXPECT_EQ(model.FindRate({3})->lower, 0);
  EXPECT_EQ(model.FindRate({3})->upper, 1);
}

BaselineStatements StatementsOf(const Model& model, std::size_t baseline) {
  BaselineStatements statements;
  Model::UseStatements(model.baselines()[baseline], [&](const BaselineStatements& all) { statements = all; });
  return statements;
}

std::vector<std::int64_t> WordsOf(const SessionSets& sets) { return {sets.Words().begin(), sets.Words().end()}; }

TEST(Model, Baselines) {
  ModelRows rows = TwoRelations();
  rows.AddAbstraction(5, {"t:public.a", "cmd:select"});
  rows.AddBaseline(1, "alice", {{{5, 3}}, {{5, 1}}});
  const Model model = Model::Parse(rows.Wire());
  const Baseline* baseline = model.BaselineOfRole("alice");
  ASSERT_NE(baseline, nullptr);
  EXPECT_EQ(baseline->sessions, 2);
  EXPECT_EQ(baseline->ngrams.size(), 3U);
  ASSERT_EQ(baseline->statements.sets.size(), 1U);
  EXPECT_EQ(WordsOf(baseline->statements.sets), (std::vector<std::int64_t>{2, 1, 5}));
  EXPECT_EQ(model.BaselineOfRole("bob"), nullptr);
  ASSERT_NE(model.FindTokens(5), nullptr);
  EXPECT_EQ(*model.FindTokens(5), (Tokens{"cmd:select", "t:public.a"}));
  EXPECT_EQ(model.FindTokens(6), nullptr);
}

// Baselines that lie elsewhere say what the same ones say in sections; of another role only its sessions are read.
TEST(Model, OfBaselinesThatLieElsewhere) {
  ModelRows rows = TwoRelations();
  rows.AddAbstraction(5, {"t:public.a", "cmd:select"});
  rows.AddBaseline(1, "alice", {{{5, 3}}, {{5, 1}}});
  rows.AddBaseline(2, "bob", {{{5, 2}}});
  rows.AddBaseline(3, "bob", {{{5, 2}}}, "ann");
  const LentModel lent(rows);
  const Model whole = Model::Parse(rows.Wire());
  const Model model = Model::Parse(lent.Source(), "alice");
  ASSERT_EQ(model.baselines().size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const bool own = i == 0;
    EXPECT_EQ(model.baselines()[i].ngrams.Packed(), (own ? whole.baselines()[i].ngrams : NGramTable()).Packed()) << i;
    EXPECT_EQ(WordsOf(StatementsOf(model, i).sets),
              i < 2 ? WordsOf(StatementsOf(whole, i).sets) : std::vector<std::int64_t>{})
        << i;
    EXPECT_EQ(model.baselines()[i].statements.sets.size(), own ? 1U : 0U) << "others are read when they are asked for";
  }
  const Tokens tokens = {"cmd:select", "t:public.a"};
  EXPECT_TRUE(model.Knows(5));
  EXPECT_FALSE(model.Knows(6));
  EXPECT_EQ(*model.FindTokens(5), tokens);
  EXPECT_EQ(model.FindTokens(6), nullptr);
  EXPECT_EQ(model.TokensIn(StatementsOf(model, 1), 5), tokens);
  EXPECT_EQ(model.TokensIn(StatementsOf(model, 1), 6), std::nullopt);
  // Of a role that nobody has a baseline of it knows no statement; what is usual among peers it does.
  const Model of_nobody = Model::Parse(lent.Source(), "carol");
  EXPECT_FALSE(of_nobody.Knows(5));
  EXPECT_EQ(of_nobody.TokensIn(StatementsOf(of_nobody, 0), 5), tokens);
  int seen = 0;
  Model::Parse(lent.Source()).ForEachTokens([&](AbstractionId id, const Tokens& each) {
    EXPECT_EQ(id, 5);
    EXPECT_EQ(each, tokens);
    ++seen;
  });
  EXPECT_EQ(seen, 3);
  EXPECT_THROW(Model::Parse(ModelSource(lent.Source().wire, {}, nullptr)), Error) << "a baseline is not there";
}

// What is lent is kept for as long as the model is.
TEST(Model, KeepsWhatLendsItsBaselines) {
  const ModelRows rows = TwoRelations();
  auto lender = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = lender;
  {
    Model model = Model::Parse(ModelSource(rows.Wire(), {}, lender));
    lender.reset();
    const Model moved = std::move(model);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

// The sessions of all roles say what is usual among peers; nothing else of another role is needed for scores of one.
TEST(Model, OfOneRole) {
  ModelRows rows = TwoRelations();
  rows.AddAbstraction(5, {"t:public.a", "cmd:select"});
  rows.AddBaseline(1, "alice", {{{5, 3}}, {{5, 1}}});
  rows.AddBaseline(2, "alice", {{{5, 1}}}, "ann");
  rows.AddBaseline(3, "bob", {{{5, 2}}});
  rows.AddBaseline(4, "bob", {{{5, 2}}}, "ann");
  const Model whole = Model::Parse(rows.Wire());
  const Model model = Model::Parse(rows.Wire(), "alice");
  ASSERT_EQ(model.baselines().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(whole.baselines()[i].ngrams.size(), i == 0 ? 3U : i == 1 ? 1U : 2U);
    EXPECT_EQ(model.baselines()[i].ngrams.size(), i < 2 ? whole.baselines()[i].ngrams.size() : 0U) << i;
    EXPECT_EQ(model.baselines()[i].statements.sets.size(), i < 3 ? 1U : 0U) << i;
  }
  EXPECT_EQ(Model::Parse(rows.Wire(), "carol").baselines().size(), 4U);
}

TEST(Model, RefusesDamagedBytes) {
  const std::string wire = TwoRelations().Wire();
  for (std::size_t length = 0; length < wire.size(); length += 3) {
    EXPECT_THROW(Model::Parse(std::string_view(wire).substr(0, length)), Error);
  }
  EXPECT_THROW(Model::Parse(wire + "x"), Error);
  ModelRows rows = TwoRelations();
  rows.attributes[0][2] = "secret";
  EXPECT_THROW(Model::Parse(rows.Wire()), Error);
  rows = TwoRelations();
  rows.attributes.push_back(rows.attributes[0]);
  EXPECT_THROW(Model::Parse(rows.Wire()), Error);
  rows = TwoRelations();
  rows.relations.push_back(rows.relations[0]);
  EXPECT_THROW(Model::Parse(rows.Wire()), Error);
  rows = TwoRelations();
  rows.relations[0][0] = std::nullopt;
  EXPECT_THROW(Model::Parse(rows.Wire()), Error);
  rows = TwoRelations();
  rows.ngrams.push_back({"9", "{0,0,0,0,0,1}", "1"});
  EXPECT_THROW(Model::Parse(rows.Wire()), Error);
  rows = TwoRelations();
  rows.baselines = {{"1", "a", "1"}, {"1", "b", "1"}};
  EXPECT_THROW(Model::Parse(rows.Wire()), Error);
}

// Sums of counts that overflow, or a rate that compares with nothing, would make a score that no limit is below.
TEST(Model, RefusesCountsAndRatesThatNoScoreCanBeMadeOf) {
  const std::string most = std::to_string(kMostCounted);
  const std::string more = std::to_string(kMostCounted + 1);
  const auto parse = [](const std::string& sessions, const std::string& ngrams, const std::string& sets) {
    ModelRows rows = TwoRelations();
    rows.baselines = {{"1", "a", sessions}};
    rows.ngrams = {{"1", "{0,0,0,0,0,1}", ngrams}};
    rows.session_sets = {{"1", sets, "{1}"}};
    Model::Parse(rows.Wire());
  };
  EXPECT_NO_THROW(parse(most, most, most));
  for (const std::string& bad : {more, std::string("-1")}) {
    EXPECT_THROW(parse(bad, "1", "1"), Error);
    EXPECT_THROW(parse("1", bad, "1"), Error);
    EXPECT_THROW(parse("1", "1", bad), Error);
  }
  const auto parse_rate = [](const std::string& rate, const std::string& entropy, const std::string& modified) {
    ModelRows rows = TwoRelations();
    rows.rates = {{"public.a", "public.a.x", rate, "1000", entropy, modified}};
    Model::Parse(rows.Wire());
  };
  EXPECT_NO_THROW(parse_rate("0.5", "9", "9223372036854775807"));
  EXPECT_THROW(parse_rate("nan", "9", "1"), Error);
  EXPECT_THROW(parse_rate("0.5", "nan", "1"), Error);
  EXPECT_THROW(parse_rate("0.5", "inf", "1"), Error);
}

TEST(Model, LimitsOfEndUsers) {
  testing_support::ModelRows rows = testing_support::WorkedModel();
  EXPECT_EQ(Model::Parse(rows.Wire()).LimitsOf("analyst", "ann"), nullptr);
  rows.limits = {{"analyst", "ann", "0.5", std::nullopt}, {"analyst", "bob", std::nullopt, "0"}};
  const Model model = Model::Parse(rows.Wire());
  ASSERT_NE(model.LimitsOf("analyst", "ann"), nullptr);
  EXPECT_EQ(model.LimitsOf("analyst", "ann")->session, .5);
  EXPECT_EQ(model.LimitsOf("analyst", "ann")->daily, std::nullopt);
  EXPECT_EQ(model.LimitsOf("analyst", "bob")->daily, 0);
  EXPECT_EQ(model.LimitsOf("analyst", ""), nullptr);
  EXPECT_EQ(model.LimitsOf("analys", "tann"), nullptr);
  for (const char* limit : {"-1", "nan", "x"}) {
    rows.limits = {{"analyst", "ann", limit, std::nullopt}};
    EXPECT_THROW(Model::Parse(rows.Wire()), Error) << limit;
  }
}

}  // namespace
}  // namespace privacy_score
