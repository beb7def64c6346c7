/*
 * explain_test.cpp - the JSON of an explanation.
 */
#include "core/scoring/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

const Tokens kLastNameTokens = {"cmd:select", "p:public.hospital.gender", "p:public.hospital.last_name",
                                "t:public.hospital"};

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ExplainQuery, NamesEverything) {
  const Explained explained = ExplainQuery(WorkedModel().Wire(), "analyst", Published(), kLastNameTokens);
  EXPECT_TRUE(explained.missing.empty());
  const std::string& json = explained.json;
  EXPECT_TRUE(Has(json, "{\"version\": 1, \"role\": \"analyst\", \"baseline\": true")) << json;
  EXPECT_TRUE(Has(json, "\"revealed_columns\": [\"public.hospital.gender\", \"public.hospital.last_name\"]")) << json;
  EXPECT_TRUE(Has(json, "\"identification\": 0.8277")) << json;
  EXPECT_TRUE(Has(json, "\"nearest\": [\"cmd:select\", \"p:public.hospital.department\"")) << json;
  EXPECT_TRUE(Has(json, "\"delta\": 0.3445")) << json;
  EXPECT_TRUE(
      Has(json,
          "\"new_columns\": [{\"column\": \"public.hospital.last_name\", \"follows_from\": [], \"label\": null, "
          "\"identifier\": false, \"probability\": 0.01"))
      << json;
  EXPECT_TRUE(Has(json, "\"missing\": []}")) << json;
}

TEST(ExplainQuery, TellsWhatIsReadFromWhatFollows) {
  ModelRows model = WorkedModel();
  model.dependencies = {{"public.hospital.last_name", "public.hospital.city"}};
  const Explained explained =
      ExplainQuery(model.Wire(), "analyst", Published(), kLastNameTokens, {"column public.nosuch does not exist"});
  const std::size_t read = explained.json.find("{\"column\": \"public.hospital.last_name\", \"follows_from\": []");
  const std::size_t follows =
      explained.json.find("{\"column\": \"public.hospital.city\", \"follows_from\": [\"public.hospital.last_name\"]");
  ASSERT_NE(follows, std::string::npos) << explained.json;
  EXPECT_LT(read, follows) << explained.json;
  EXPECT_TRUE(Has(explained.json, "\"problems\": [\"column public.nosuch does not exist\"]")) << explained.json;
}

TEST(ExplainQuery, SaysWhatIsEstimated) {
  ModelRows model = WorkedModel();
  model.rates.clear();
  const Explained explained = ExplainQuery(model.Wire(), "analyst", ScoreSettings(), kLastNameTokens);
  EXPECT_FALSE(explained.missing.empty());
  EXPECT_TRUE(Has(explained.json, "\"estimated\": true"));
  EXPECT_TRUE(Has(explained.json,
                  "{\"relation\": \"public.hospital\", \"attributes\": [\"public.hospital.gender\", "
                  "\"public.hospital.last_name\"]}"))
      << explained.json;
}

TEST(ExplainQuery, NothingRevealed) {
  const Explained explained = ExplainQuery(ModelRows().Wire(), "r\"x", ScoreSettings(), {"cmd:select", "f:count(*)"});
  EXPECT_TRUE(Has(explained.json, "\"role\": \"r\\\"x\", \"baseline\": false")) << explained.json;
  EXPECT_TRUE(Has(explained.json, "\"identification\": 0, \"relations\": []")) << explained.json;
  EXPECT_TRUE(explained.missing.empty());
}

// The rates of the columns to which an alert is due, in the worked case of docs/scoring.md, sections 2 and 5.
TEST(NGramJson, NamesColumnsAndTheirRates) {
  RoleScorer scorer(std::make_shared<const Model>(Model::Parse(WorkedModel().Wire())), "analyst", Published());
  NGram ngram{};
  ngram[4] = kLg;
  ngram[5] = kLgd;
  const std::string json = NGramJson(scorer, ngram, ScoreLevel::kNGram);
  EXPECT_TRUE(Has(json, "\"attributes\": [\"public.hospital.department\", \"public.hospital.last_name\"]") ||
              Has(json, "\"attributes\": [\"public.hospital.last_name\"]"))
      << json;
  EXPECT_TRUE(Has(json, "\"public.hospital.last_name\": 0.8277")) << json;
  EXPECT_TRUE(Has(json, "\"combined_rate_exact\": true")) << json;
}

TEST(NGramJson, SaysWhichRatesAreBoundsOrUnknown) {
  const auto json_with = [](const TextRows& rates) {
    ModelRows rows = WorkedModel();
    rows.rates = rates;
    RoleScorer scorer(std::make_shared<const Model>(Model::Parse(rows.Wire())), "analyst", Published());
    NGram ngram{};
    ngram[4] = kG;
    ngram[5] = kLg;
    const std::string json = NGramJson(scorer, ngram, ScoreLevel::kNGram);
    // The rate of the column is wanted for the next time.
    const auto missing = scorer.TakeMissing();
    const auto wants = [](const MissingRate& rate) { return rate.attributes == "public.hospital.last_name"; };
    EXPECT_EQ(std::count_if(missing.begin(), missing.end(), wants), 1);
    return json;
  };
  const std::string unknown = json_with({});
  EXPECT_TRUE(Has(unknown, "\"rates\": {\"public.hospital.last_name\": null}")) << unknown;
  EXPECT_TRUE(Has(unknown, "\"combined_rate\": 1, \"combined_rate_exact\": false")) << unknown;
  const std::string pair = std::string("public.hospital.gender") + kAttributeSeparator + "public.hospital.last_name";
  const std::string bounded = json_with({{"public.hospital", pair, "0.75"}});
  EXPECT_TRUE(Has(bounded, "\"rates\": {\"public.hospital.last_name\": {\"at_most\": 0.75}}")) << bounded;
}

TEST(Identification, CountsIdentifiers) {
  ModelRows rows = WorkedModel();
  for (auto& attribute : rows.attributes) attribute[3] = "t";
  const Identification all = IdentificationOf(Model::Parse(rows.Wire()), kLastNameTokens, {});
  EXPECT_NEAR(all.rate.upper, .8277289, 1e-6);
  EXPECT_TRUE(all.missing.empty());
}

}  // namespace
}  // namespace privacy_score
