/*
 * aggregates_test.cpp - which columns under aggregates are revealed, by the rates of their cells.
 */
#include "core/scoring/aggregates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;
using Names = std::vector<std::string>;

// 1024 patients (H(X) = 10 bits) of which an id tells all apart, a ward has 32 and a birthday 2; bills of theirs; and
// departments, about which nothing of that tells.
class AggregatesTest : public ::testing::Test {
 protected:
  AggregatesTest() {
    rows.relations = {{"public.bill", "1", "f"}, {"public.dept", "2", "t"}, {"public.patient", "1", "t"}};
    rows.attributes = {{"public.bill.amount", "public.bill", std::nullopt, "f"},
                       {"public.bill.patient", "public.bill", std::nullopt, "t", "0"},
                       {"public.dept.id", "public.dept", std::nullopt, "t"},
                       {"public.dept.pay", "public.dept", std::nullopt, "f"},
                       {"public.patient.born", "public.patient", std::nullopt, "f"},
                       {"public.patient.id", "public.patient", std::nullopt, "t"},
                       {"public.patient.iban", "public.patient", std::nullopt, "f"},
                       {"public.patient.ward", "public.patient", std::nullopt, "f"}};
    AddRate("public.patient", "public.patient.id", 1, 10);
    AddRate("public.patient", "public.patient.ward", .5, 10);
    AddRate("public.patient", "public.patient.born", .9, 10);
    AddRate("public.patient", "public.patient.iban", 1, 10);
    AddRate("public.dept", "public.dept.id", 1, 3);
  }
  void AddRate(const char* relation, const char* attributes, double rate, double entropy) {
    rows.rates.push_back({relation, attributes, TextOf(rate), "1024", TextOf(entropy)});
  }
  // What is revealed beyond P, W, G and L: for certain, and perhaps.
  std::pair<Names, Names> Shown(Tokens tokens, int least = 10) {
    const Model model = Model::Parse(rows.Wire());
    RateBook rates(model);
    ScoreSettings settings;
    settings.aggregate_least = least;
    std::sort(tokens.begin(), tokens.end());
    const Revelation revelation = Reveal(model, rates, tokens, settings);
    missing = rates.TakeMissing();
    const AttributeSet base = model.Revealed(tokens, true);
    return {model.NamesOf(DifferenceOf(revelation.least, base)), model.NamesOf(DifferenceOf(revelation.most, base))};
  }
  static std::pair<Names, Names> Surely(const Names& names) { return {names, names}; }

  ModelRows rows;
  std::vector<MissingRate> missing;
  const Names iban = {"public.patient.iban"};
  const std::string sum = "f:sum(public.patient.iban)";
};

TEST_F(AggregatesTest, HideOverManyAndShowOverFew) {
  EXPECT_EQ(Shown({sum}), Surely({}));
  EXPECT_EQ(Shown({sum, "e:public.patient.id"}), Surely(iban));
  EXPECT_EQ(Shown({sum, "e:public.patient.ward"}), Surely({}));
  EXPECT_EQ(Shown({sum, "g:public.patient.ward"}), Surely({}));
  EXPECT_EQ(Shown({sum, "g:public.patient.born"}), Surely(iban));
  EXPECT_EQ(Shown({sum, "g:public.patient.ward"}, 33), Surely(iban));
  EXPECT_EQ(Shown({sum, "e:public.patient.id"}, 1), Surely(iban));
  EXPECT_EQ(Shown({sum, "e:public.patient.id"}, 0), Surely({}));
  // What names no column of the subject's relations, or another aggregate, changes nothing.
  EXPECT_EQ(Shown({sum, "e:public.dept.id", "w:public.patient.id"}), Surely({}));
  EXPECT_EQ(Shown({"f:max(public.patient.iban)", "f:count(*)", "e:public.patient.id"}), Surely({}));
  EXPECT_TRUE(missing.empty());
}

TEST_F(AggregatesTest, TakeUnknownRatesAsBounds) {
  EXPECT_EQ(Shown({sum, "e:public.patient.ward", "g:public.patient.born"}), Surely(iban));  // at least .9
  rows.rates.pop_back();
  EXPECT_EQ(Shown({"f:avg(public.dept.pay)", "e:public.dept.id"}), (std::pair<Names, Names>({}, {"public.dept.pay"})));
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0], (MissingRate{"public.dept", "public.dept.id"}));
}

TEST_F(AggregatesTest, FollowTheSubjectAcrossItsRelations) {
  const std::string bills = "f:sum(public.bill.amount)";
  EXPECT_EQ(Shown({bills, "e:public.bill.patient"}), Surely({"public.bill.amount"}));  // all columns of the subject
  EXPECT_EQ(Shown({bills, "e:public.patient.id"}), Surely({"public.bill.amount"}));
  EXPECT_EQ(Shown({bills, "e:public.patient.ward"}), Surely({}));
  const Model model = Model::Parse(rows.Wire());
  EXPECT_EQ(model.NamesOf(OfOneSubject(model, {"e:public.bill.patient", bills})), Names{"public.bill.amount"});
  EXPECT_TRUE(OfOneSubject(model, {"e:public.patient.ward", bills}).empty());
}

TEST_F(AggregatesTest, MonthsAndNestedGroupsMakeLargerCells) {
  // 1024 patients in 60 months: 17 each.
  EXPECT_EQ(Shown({sum, "g:public.patient.born", "m:public.patient.born"}, 18), Surely(iban));
  EXPECT_EQ(Shown({sum, "g:public.patient.born", "m:public.patient.born"}), Surely({}));
  EXPECT_EQ(Shown({sum, "g:public.patient.id", "n:public.patient.id"}), Surely({}));
  EXPECT_EQ(Shown({sum, "e:public.patient.id", "g:public.patient.id", "n:public.patient.id"}), Surely(iban));
}

TEST_F(AggregatesTest, ShowWhatIsPackedWithAnIdentifier) {
  const Names both = {"public.patient.iban", "public.patient.ward"};
  EXPECT_EQ(Shown({"f:sum(public.patient.iban,public.patient.id,public.patient.ward)"}),
            Surely({"public.patient.iban", "public.patient.id", "public.patient.ward"}));
  EXPECT_EQ(Shown({"f:sum(public.patient.iban,public.patient.ward)"}), Surely({}));
  EXPECT_EQ(Shown({"f:count(public.patient.iban,public.patient.id)"}), Surely({}));
  // The covariance with what is 1 for one of them only is the value of that one.
  EXPECT_EQ(Shown({"f:covar_samp(public.patient.iban,public.patient.id)"}),
            Surely({"public.patient.iban", "public.patient.id"}));
  EXPECT_EQ(Shown({"f:corr(public.patient.iban,public.patient.ward)"}), Surely({}));
  EXPECT_EQ(Shown({"f:corr(public.patient.iban,public.patient.ward)", "e:public.patient.id"}), Surely(both));
}

// More to single out by never hides anything, whatever is known of the rates.
TEST_F(AggregatesTest, AddingCellsNeverLowersWhatIsRevealed) {
  const Names cells = {"public.patient.born", "public.patient.iban", "public.patient.id", "public.patient.ward"};
  const TextRows all = rows.rates;
  for (unsigned known = 0; known < 1U << all.size(); ++known) {
    rows.rates.clear();
    for (std::size_t i = 0; i < all.size(); ++i)
      if ((known >> i & 1U) != 0) rows.rates.push_back(all[i]);
    for (unsigned mask = 0; mask < 1U << cells.size(); ++mask) {
      Tokens tokens = {"f:sum(public.patient.iban)"};
      for (std::size_t i = 0; i < cells.size(); ++i)
        if ((mask >> i & 1U) != 0) tokens.push_back("e:" + cells[i]);
      const auto fewer = Shown(tokens);
      EXPECT_TRUE(std::includes(fewer.second.begin(), fewer.second.end(), fewer.first.begin(), fewer.first.end()));
      for (const std::string& cell : cells) {
        Tokens more = tokens;
        more.push_back("e:" + cell);
        EXPECT_TRUE(fewer.first.empty() || !Shown(more).first.empty()) << cell;
        EXPECT_TRUE(fewer.second.empty() || !Shown(more).second.empty() || Shown(more).first.empty()) << cell;
      }
    }
  }
}

TEST(ReadAggregatesTest, SplitsNamesWithCommasAndBrackets) {
  const AggregateTokens read = ReadAggregates(
      {"e:a.b", "f:\"sum(\"(a.b)", "f:avg(a.\"x,y(\",a.z)", "f:count(*)", "f:count(a.b)", "g:a.c", "g:a.d", "m:a.d"});
  ASSERT_EQ(read.aggregates.size(), 2U);
  EXPECT_EQ(read.aggregates[0].columns, (Names{"a.\"x,y(\"", "a.z"}));
  EXPECT_TRUE(read.aggregates[0].packs);
  EXPECT_FALSE(read.aggregates[1].packs);
  EXPECT_EQ(read.cells, (Names{"a.b", "a.c"}));
  EXPECT_EQ(read.months, Names{"a.d"});
  EXPECT_EQ(WithoutCells({"cmd:select", "e:a.b", "g:a.b", "m:a.b", "n:a.b"}), (Tokens{"cmd:select", "g:a.b"}));
}

// A baseline from before: its statements are the same without e:, m: and n:.
TEST(BaselinesFromBefore, KnowTheirStatementsUnderTheOldName) {
  ModelRows rows;
  rows.relations = {{"public.t", "1", "t"}};
  rows.attributes = {{"public.t.id", "public.t", std::nullopt, "t"}, {"public.t.x", "public.t", std::nullopt, "f"}};
  rows.rates = {{"public.t", "public.t.id", "1", "100", "6"}, {"public.t", "public.t.x", "1", "100", "6"}};
  const Tokens before = {"cmd:select", "f:sum(public.t.x)", "t:public.t", "w:public.t.id"};
  const Tokens now = UnionTokens({before, {"e:public.t.id"}});
  const Tokens other = {"cmd:select", "p:public.t.id", "t:public.t"};
  for (const Tokens* tokens : {&before, &now, &other}) rows.AddAbstraction(Fingerprint(*tokens), *tokens);
  rows.AddBaseline(1, "analyst", {SequenceOf({Fingerprint(before)})});
  ScoreSettings settings;
  settings.ngram_length = 1;
  const auto score = [&](const Tokens& tokens) {
    RoleScorer scorer(std::make_shared<const Model>(Model::Parse(rows.Wire())), "analyst", settings);
    NGram ngram{};
    ngram.back() = Fingerprint(tokens);
    const NGramScore scored = scorer.Score(ngram, ScoreLevel::kNGram);
    EXPECT_EQ(scorer.ExplainTokens({tokens}, ScoreLevel::kNGram).score.score, scored.score);
    EXPECT_EQ(scorer.Explain(ngram, ScoreLevel::kNGram).score.matched, scored.matched);
    return scored;
  };
  EXPECT_TRUE(score(before).matched);
  EXPECT_FALSE(score(now).matched);
  EXPECT_GT(score(now).score, .5);
  rows.baselines[0].resize(7);
  rows.baselines[0][6] = "f";
  EXPECT_TRUE(score(before).matched);
  EXPECT_TRUE(score(now).matched);
  EXPECT_EQ(score(now).score, 0);
  EXPECT_FALSE(score(other).matched);
}

}  // namespace
}  // namespace privacy_score
