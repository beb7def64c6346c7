/*
 * rates_test.cpp - bounds of rates that nobody has computed, and what is reported as missing.
 */
#include "core/scoring/rates.hpp"

#include "core/scoring/aggregates.hpp"

#include <gtest/gtest.h>

#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ModelRows;

// public.a (x, y, z), public.b (u, v) about the same subjects; public.c (w) about others.
ModelRows Rows(const char* by_row = "t") {
  ModelRows rows;
  rows.relations = {{"public.a", "1", by_row}, {"public.b", "1", "t"}, {"public.c", "2", "t"}};
  for (const char* name : {"a.x", "a.y", "a.z", "b.u", "b.v", "c.w"}) {
    const std::string column = std::string("public.") + name;
    rows.attributes.push_back({column, column.substr(0, 8), std::nullopt, "f"});
  }
  return rows;
}

void Know(ModelRows& rows, const std::string& relation, const std::string& attributes, const std::string& rate) {
  rows.rates.push_back({relation, attributes, rate});
}

TEST(RateBook, KnownAndEmpty) {
  ModelRows rows = Rows();
  Know(rows, "public.a", "public.a.x", "0.25");
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  EXPECT_EQ(book.Combined({}).upper, 0);
  EXPECT_TRUE(book.Combined({}).exact());
  EXPECT_EQ(book.Combined({0}).lower, .25);
  EXPECT_TRUE(book.Combined({0}).exact());
  book.Want({0});
  EXPECT_TRUE(book.TakeMissing().empty());
}

TEST(RateBook, BoundsOfUnknownSets) {
  ModelRows rows = Rows();
  Know(rows, "public.a", "public.a.x", "0.25");
  Know(rows, "public.a", "public.a.y", "0.375");
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  EXPECT_EQ(book.OfRelation({0, 1}).lower, .375);
  EXPECT_EQ(book.OfRelation({0, 1}).upper, .625);
  EXPECT_EQ(book.OfRelation({0, 2}).upper, 1);  // z alone is unknown
  EXPECT_EQ(book.OfRelation({2}).lower, 0);
  book.Want({0, 1});
  book.Want({0, 1});
  const auto missing = book.TakeMissing();
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].relation, "public.a");
  EXPECT_EQ(missing[0].attributes, "public.a.x\x01public.a.y");
  book.Want({0, 1});
  EXPECT_TRUE(book.TakeMissing().empty());  // once is enough
}

TEST(RateBook, ASubsetWithRateOneSettlesIt) {
  ModelRows rows = Rows();
  Know(rows, "public.a", "public.a.x\x01public.a.y", "1");
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  EXPECT_EQ(book.OfRelation({0, 1, 2}).lower, 1);
  book.Want({0, 1, 2});
  EXPECT_TRUE(book.TakeMissing().empty());
}

TEST(RateBook, TheSumBoundsOnlyRowSubjects) {
  ModelRows rows = Rows("f");
  Know(rows, "public.a", "public.a.x", "0.25");
  Know(rows, "public.a", "public.a.y", "0.25");
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  EXPECT_EQ(book.OfRelation({0, 1}).upper, 1);
}

TEST(RateBook, ARateOutOfDateIsABound) {
  ModelRows rows = Rows();
  rows.rates = {{"public.a", "public.a.x", "0.25", "1000", "9.965784284662087", "150"},
                {"public.a", "public.a.y", "0.125"},
                {"public.a", "public.a.x\x01public.a.y", "0.375", "1000", "9.965784284662087", "-1"}};
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  const RateBounds x = book.OfRelation({0});
  EXPECT_LT(x.lower, .25);
  EXPECT_GT(x.upper, .25);
  EXPECT_LT(x.upper, .51);
  // Nothing is known of the two together but by their parts.
  EXPECT_EQ(book.OfRelation({0, 1}).lower, .125);
  EXPECT_EQ(book.OfRelation({0, 1}).upper, x.upper + .125);
  book.Want({0});
  book.Want({1});
  const auto missing = book.TakeMissing();
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].attributes, "public.a.x");
}

TEST(RateBook, WhatStatementsNeed) {
  ModelRows rows = Rows();
  rows.attributes[0][3] = "t";  // x is an identifier
  Know(rows, "public.b", "public.b.u", "0.5");
  rows.AddAbstraction(1, {"cmd:select", "p:public.a.x", "p:public.a.y", "p:public.b.u", "w:public.c.w"});
  const Model model = Model::Parse(rows.Wire());
  const auto missing = MissingOfStatements(model, {});
  ASSERT_EQ(missing.size(), 3U);
  EXPECT_EQ(missing[0].attributes, "public.a.x\x01public.a.y");
  EXPECT_EQ(missing[1].attributes, "public.a.y");
  EXPECT_EQ(missing[2].attributes, "public.c.w");
  ScoreSettings settings;
  settings.where_counts = false;
  EXPECT_EQ(MissingOfStatements(model, settings).size(), 2U);
}

TEST(RateBook, SeveralRelations) {
  ModelRows rows = Rows();
  Know(rows, "public.a", "public.a.x", "0.25");
  Know(rows, "public.b", "public.b.u", "0.5");
  Know(rows, "public.b", "public.b.v", "0.875");
  Know(rows, "public.c", "public.c.w", "0.8125");
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  EXPECT_EQ(book.Combined({0, 3}).upper, .75);       // the same subjects: sum
  EXPECT_EQ(book.Combined({0, 4}).upper, 1);         // at most 1
  EXPECT_EQ(book.Combined({0, 3, 5}).upper, .8125);  // other subjects: the greater
  EXPECT_EQ(book.ByRelation({0, 3, 5}).size(), 3U);
}

TEST(RateBook, Differences) {
  ModelRows rows = Rows();
  Know(rows, "public.a", "public.a.x", "0.25");
  Know(rows, "public.a", "public.a.y", "0.375");
  Know(rows, "public.a", "public.a.z", "0.125");
  Know(rows, "public.a", "public.a.x\x01public.a.z", "0.25");
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  EXPECT_TRUE(book.Difference({0}, {0, 1}).exact());  // a subset tells nothing, known or not
  EXPECT_EQ(book.Difference({0}, {0, 1}).upper, 0);
  EXPECT_TRUE(book.Difference({2}, {0}).exact());
  EXPECT_EQ(book.Difference({2}, {0}).upper, 0);
  const RateBounds bounds = book.Difference({1}, {0});
  EXPECT_EQ(bounds.lower, .125);
  EXPECT_EQ(bounds.upper, .375);
  EXPECT_EQ(book.Difference({2}, {0, 1}).upper, .125);  // no more than alone
  book.WantDifference({2}, {0, 1});
  EXPECT_EQ(book.TakeMissing().size(), 2U);
}

}  // namespace
}  // namespace privacy_score
