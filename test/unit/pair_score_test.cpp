/*
 * pair_score_test.cpp - delta, tau and p(y) by hand.
 */
#include "core/scoring/pair_score.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ModelRows;
using testing_support::SequenceOf;

// Statements 1 (gender), 2 (department), 3 (first_name); role a with three sessions, role b with one.
ModelRows Rows() {
  ModelRows rows = testing_support::ModelOf(testing_support::ExampleTable());
  rows.AddAbstraction(1, {"cmd:select", "p:public.hospital.gender"});
  rows.AddAbstraction(2, {"cmd:select", "p:public.hospital.department"});
  rows.AddAbstraction(3, {"cmd:select", "w:public.hospital.first_name"});
  rows.AddBaseline(1, "a", {SequenceOf({1}), SequenceOf({1, 2}), SequenceOf({1, 2})});
  rows.AddBaseline(2, "b", {SequenceOf({3})});
  return rows;
}

PairScorer ScorerFor(const ModelRows& rows, const std::string& role, const ScoreSettings& settings = {}) {
  return {std::make_shared<const Model>(Model::Parse(rows.Wire())), role, settings};
}

AttributeId Id(const PairScorer& pairs, const std::string& column) {
  return pairs.model().FindAttribute("public.hospital." + column).value();
}

TEST(PairScorer, ProbabilityOfAColumn) {
  const PairScorer pairs = ScorerFor(Rows(), "a");
  EXPECT_NEAR(pairs.Probability(Id(pairs, "gender")), .8 * 3.02 / 4 + .2 * 3.02 / 5, 1e-15);
  EXPECT_NEAR(pairs.Probability(Id(pairs, "department")), .8 * 2.02 / 4 + .2 * 2.02 / 5, 1e-15);
  EXPECT_NEAR(pairs.Probability(Id(pairs, "first_name")), .8 * .02 / 4 + .2 * 1.02 / 5, 1e-15);
  const PairScorer stranger = ScorerFor(Rows(), "c");
  EXPECT_NEAR(stranger.Probability(Id(stranger, "gender")), .8 * .02 + .2 * 3.02 / 5, 1e-15);
}

TEST(PairScorer, SurpriseWeighsLabels) {
  ModelRows rows = Rows();
  for (auto& attribute : rows.attributes) {
    if (attribute[0] == "public.hospital.department") attribute[2] = "sensitive";
    if (attribute[0] == "public.hospital.city") attribute[2] = "public";
    if (attribute[0] == "public.hospital.first_name") attribute[2] = "identifier";
    if (attribute[0] == "public.hospital.first_name") attribute[3] = "t";
  }
  PairScorer pairs = ScorerFor(rows, "a");
  const auto p = [&](const char* column) { return pairs.Probability(Id(pairs, column)); };
  const ClassId gender = pairs.Intern({Id(pairs, "gender")});
  const ClassId all = pairs.ClassOf({"cmd:select", "p:public.hospital.city", "p:public.hospital.department",
                                     "p:public.hospital.gender", "w:public.hospital.first_name"});
  EXPECT_NEAR(pairs.Tau(all, gender), 1 - std::pow(p("department") * p("first_name"), 2), 1e-14);
  EXPECT_NEAR(pairs.Tau(all, kEmptyClass), 1 - p("gender") * std::pow(p("department") * p("first_name"), 2), 1e-14);
  EXPECT_EQ(pairs.Tau(gender, all), 0);
  // The identifier takes no part in delta, but it does in tau.
  const ClassId name = pairs.ClassOf({"cmd:select", "w:public.hospital.first_name"});
  EXPECT_EQ(pairs.Delta(name, kEmptyClass).upper, 0);
  EXPECT_NEAR(pairs.Combined(name, kEmptyClass).upper, .5 * (1 - std::pow(p("first_name"), 2)), 1e-14);
  EXPECT_EQ(
      pairs.model().NamesOf(pairs.Causes(all, gender)),
      (std::vector<std::string>{"public.hospital.city", "public.hospital.department", "public.hospital.first_name"}));
}

TEST(PairScorer, ClosureMakesWhatFollowsUnsurprising) {
  ModelRows rows = Rows();
  rows.dependencies = {{"public.hospital.department", "public.hospital.department_head"},
                       {"public.hospital.department_head", "public.hospital.department"}};
  PairScorer pairs = ScorerFor(rows, "a");
  const ClassId department = pairs.Intern({Id(pairs, "department")});
  const ClassId head = pairs.Intern({Id(pairs, "department_head")});
  EXPECT_EQ(pairs.Tau(head, department), 0);
  EXPECT_EQ(pairs.Combined(head, department).upper, 0);
  // Sessions that reveal the department reveal its head.
  EXPECT_EQ(pairs.Probability(Id(pairs, "department_head")), pairs.Probability(Id(pairs, "department")));
}

TEST(PairScorer, AlphaMixes) {
  ScoreSettings settings;
  settings.alpha = .25;
  PairScorer pairs = ScorerFor(Rows(), "a", settings);
  const ClassId gender = pairs.Intern({Id(pairs, "gender")});
  EXPECT_NEAR(pairs.Combined(gender, kEmptyClass).upper,
              .25 * testing_support::ExampleTable().Rate({2}) + .75 * (1 - pairs.Probability(Id(pairs, "gender"))),
              1e-14);
  settings.alpha = 0;
  ModelRows no_rates = Rows();
  no_rates.rates.clear();
  PairScorer surprise = ScorerFor(no_rates, "a", settings);
  EXPECT_TRUE(surprise.Combined(surprise.Intern({0}), kEmptyClass).exact());  // rates play no part
}

// What it reveals is not known: it may be all.
TEST(PairScorer, UnparsedTellsTheMostBeyondAllOthers) {
  for (const double alpha : {0.0, 0.3, 1.0}) {
    ScoreSettings settings;
    settings.alpha = alpha;
    PairScorer pairs = ScorerFor(Rows(), "a", settings);
    const ClassId unparsed = pairs.ClassOf({"unparsed"});
    EXPECT_EQ(unparsed, kUnparsedClass);
    EXPECT_EQ(pairs.ClassOf({"cmd:select", "p:public.hospital.gender", "unparsed"}), kUnparsedClass);
    const ClassId all = pairs.ClassOf({"cmd:select", "p:public.hospital.department", "p:public.hospital.gender"});
    for (const ClassId other : {all, kEmptyClass}) {
      EXPECT_EQ(pairs.Combined(unparsed, other).lower, 1);
      EXPECT_EQ(pairs.Combined(unparsed, other).upper, 1);
      EXPECT_EQ(pairs.Combined(unparsed, other, 0).lower, 1);
      EXPECT_EQ(pairs.Delta(unparsed, other).lower, 1);
      EXPECT_EQ(pairs.Tau(unparsed, other), 1);
    }
    EXPECT_EQ(pairs.Combined(unparsed, unparsed).upper, 0);
    EXPECT_EQ(pairs.Combined(all, unparsed).upper, pairs.Combined(all, kEmptyClass).upper);
    EXPECT_TRUE(pairs.Causes(unparsed, all).empty());
  }
}

TEST(PairScorer, WhereCounts) {
  ScoreSettings settings;
  settings.where_counts = false;
  PairScorer pairs = ScorerFor(Rows(), "a", settings);
  EXPECT_EQ(pairs.ClassOf({"cmd:select", "w:public.hospital.first_name"}), kEmptyClass);
}

}  // namespace
}  // namespace privacy_score
