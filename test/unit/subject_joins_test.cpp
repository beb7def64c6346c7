/*
 * subject_joins_test.cpp - relations about the same subjects, and those that can be joined; what rates are known of.
 */
#include "core/scoring/subject_joins.hpp"

#include <gtest/gtest.h>

#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ModelRows;

// a, b and d are joined at a; c is about the same subjects and cannot be joined, e has a home where nobody else is.
Model TheModel() {
  ModelRows rows;
  rows.relations = {{"public.a", "5", "t", "public.a"},
                    {"public.b", "5", "f", "public.a"},
                    {"public.c", "5", "t"},
                    {"public.d", "5", "f", "public.a"},
                    {"public.e", "9", "t", "public.e"}};
  for (const char* name : {"a.x", "a.y", "b.x", "c.x", "d.x", "e.x"})
    rows.attributes.push_back(
        {std::string("public.") + name, std::string("public.") + std::string(name, 1), std::nullopt, "f"});
  rows.rates = {{"public.b", "public.b.x", "0.5"}, {"public.a", "public.a.y\x01public.d.x", "0.25"}};
  return Model::Parse(rows.Wire());
}

TEST(SubjectJoins, GroupsAndJoins) {
  const Model model = TheModel();
  const SubjectJoins joins(model);
  for (const std::uint32_t relation : {1U, 2U, 3U}) EXPECT_EQ(joins.GroupOf(relation), joins.GroupOf(0));
  EXPECT_NE(joins.GroupOf(4), joins.GroupOf(0));
  EXPECT_EQ(joins.JoinOf(1), joins.JoinOf(0));
  EXPECT_EQ(joins.JoinOf(3), joins.JoinOf(0));
  EXPECT_NE(joins.JoinOf(2), joins.JoinOf(0));
  EXPECT_NE(joins.JoinOf(4), joins.JoinOf(0));
  EXPECT_NE(joins.JoinOf(4), joins.JoinOf(2));
  EXPECT_TRUE(joins.IsShared(joins.JoinOf(0)));
  EXPECT_FALSE(joins.IsShared(joins.JoinOf(2)));
  EXPECT_FALSE(joins.IsShared(joins.JoinOf(4)));
}

TEST(SubjectJoins, WhatRatesAreKnownOf) {
  const Model model = TheModel();
  const auto relations = SubjectJoins::OfRelations(model);
  ASSERT_EQ(relations.size(), 5U);
  EXPECT_EQ(relations[0].attributes, (AttributeSet{0, 1}));
  EXPECT_TRUE(relations[0].sum_bounds);
  EXPECT_FALSE(relations[1].sum_bounds);
  ASSERT_EQ(relations[1].rates->size(), 1U);
  EXPECT_EQ(relations[1].rates->front().rate.upper, .5);
  const SubjectJoins joins(model);
  const auto joined = joins.OfJoins(model);
  const RateDomain& domain = joined[joins.JoinOf(0)];
  EXPECT_EQ(domain.attributes, (AttributeSet{0, 1, 2, 4}));
  EXPECT_FALSE(domain.sum_bounds);
  ASSERT_EQ(domain.rates->size(), 1U);
  EXPECT_EQ(domain.rates->front().set, (AttributeSet{1, 4}));
  EXPECT_TRUE(joined[joins.JoinOf(2)].attributes.empty());
  // Both are found by masks of their own.
  RateIndex index(model, joined);
  AttributeSet set;
  MaskWord mask = 0;
  for (const AttributeId id : {0U, 1U, 4U}) index.SetBit(id, &mask);
  index.AppendTo(set, joins.JoinOf(0), &mask);
  EXPECT_EQ(set, (AttributeSet{0, 1, 4}));
  EXPECT_EQ(index.BestSubset(joins.JoinOf(0), &mask), .25);
  EXPECT_FALSE(index.IsExact(joins.JoinOf(0), &mask));
}

}  // namespace
}  // namespace privacy_score
