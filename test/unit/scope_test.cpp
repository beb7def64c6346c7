/*
 * scope_test.cpp - from names to what they name.
 */
#include "core/statement/scope.hpp"

#include <gtest/gtest.h>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class ScopeTest : public ::testing::Test {
 protected:
  Builder b;
  Scopes scopes;
  Relation* patients = b.Table("public.patients", {"id", "city"}, {0});
};

TEST_F(ScopeTest, FindsEnclosingQueries) {
  Query* outer = b.Select();
  Query* inner = b.Select();
  b.From(outer, inner);
  Scope* outer_scope = scopes.ScopeOf(outer, nullptr);
  Scope* inner_scope = scopes.QueryOf({outer_scope, 0}, *outer->ranges.first);
  EXPECT_EQ(inner_scope->query, inner);
  EXPECT_EQ(Outer(inner_scope, 1), outer_scope);
  EXPECT_EQ(Outer(inner_scope, 2), nullptr);
  EXPECT_TRUE(Encloses(outer_scope, inner_scope));
  EXPECT_TRUE(Encloses(inner_scope, inner_scope));
  EXPECT_FALSE(Encloses(inner_scope, outer_scope));
  EXPECT_EQ(RangeOf({outer_scope, 0}), outer->ranges.first);
  EXPECT_EQ(RangeOf({outer_scope, 1}), nullptr);
  EXPECT_EQ(RangeOf({nullptr, 0}), nullptr);
  EXPECT_EQ(scopes.ScopeOf(nullptr, nullptr), nullptr);
}

TEST_F(ScopeTest, PutsAnAggregateWhereTheInnermostOfItsColumnsIs) {
  EXPECT_EQ(LevelsOut(*b.Aggregate("count")), 0);
  EXPECT_EQ(LevelsOut(*b.Aggregate("sum", {b.Op({b.Col(0, 0, 2), b.Row(0, 1)})})), 1);
  EXPECT_EQ(LevelsOut(*b.Aggregate("sum", {b.Col(0, 0, 1), b.Col(0, 0)})), 0);
  EXPECT_EQ(LevelsOut(*b.Aggregate("sum", {b.Col(0, 0, 1), b.Sub(b.Select())})), 0);
}

TEST_F(ScopeTest, FindsNoQueryBehindBrokenReferences) {
  Query* query = b.Select();
  b.FromCte(query, 0);
  b.FromCte(query, 0, 3);
  Scope* scope = scopes.ScopeOf(query, nullptr);
  for (const Range* range : query->ranges) EXPECT_EQ(scopes.QueryOf({scope, 0}, *range), nullptr);
}

TEST_F(ScopeTest, ResolvesBareColumnsThroughEveryArm) {
  Query* left = b.Select({b.Col(0, 1), b.Constant()});
  b.From(left, patients);
  Query* right = b.Select({b.Col(0, 0), b.Col(0, 0)});
  b.From(right, patients);
  Query* top = b.Select();
  b.From(top, b.Union({left, right}));
  Scope* scope = scopes.ScopeOf(top, nullptr);
  const BareColumns first = scopes.ResolveBare(scope, *b.Col(0, 0));
  EXPECT_TRUE(first.bare);
  EXPECT_EQ(first.columns.size(), 2U);
  const BareColumns second = scopes.ResolveBare(scope, *b.Col(0, 1));
  EXPECT_FALSE(second.bare);
  EXPECT_EQ(second.columns.size(), 1U);
  EXPECT_FALSE(scopes.ResolveBare(scope, *b.Col(0, 2)).bare);
  EXPECT_FALSE(scopes.ResolveBare(scope, *b.Col(7, 0)).bare);
}

TEST_F(ScopeTest, FindsItemsGroupedByAWholeKey) {
  Relation* visits = b.Table("public.visits", {"id", "day", "ward"}, {0, 1});
  Query* part = b.Select();
  part->group_by.Add(b.Col(b.From(part, visits), 0));
  EXPECT_EQ(scopes.KeyedItems(scopes.ScopeOf(part, nullptr)), kNoItem);
  Query* whole = b.Select();
  b.From(whole, visits);
  b.From(whole, patients);
  whole->group_by.Add(b.Col(0, 1));
  whole->group_by.Add(b.Op({b.Col(1, 0)}));
  whole->group_by.Add(b.Col(0, 0));
  Scope* scope = scopes.ScopeOf(whole, nullptr);
  const int items = scopes.KeyedItems(scope);
  EXPECT_TRUE(scopes.Contains(items, {scope, 0}));
  EXPECT_FALSE(scopes.Contains(items, {scope, 1}));
  EXPECT_TRUE(scopes.Contains(kAnyItem, {scope, 1}));
  EXPECT_EQ(scopes.CommonItems(kAnyItem, items), items);
  EXPECT_EQ(scopes.CommonItems(items, kAnyItem), items);
  EXPECT_EQ(scopes.CommonItems(items, kNoItem), kNoItem);
}

// More sets than are kept: everything is revealed rather than anything hidden.
TEST_F(ScopeTest, TakesTheSetOfAllItemsBeyondTheLimit) {
  int last = kNoItem;
  for (int i = 0; i < 100; ++i) {
    Query* query = b.Select();
    query->group_by.Add(b.Col(b.From(query, patients), 0));
    last = scopes.KeyedItems(scopes.ScopeOf(query, nullptr));
  }
  EXPECT_EQ(last, kAnyItem);
}

TEST(ReadsRowTest, LooksIntoSubqueries) {
  Builder b;
  Relation* staff = b.Table("public.staff", {"id", "job"});
  const auto inner = [&](int levels_up) {
    Query* query = b.Select({b.Col(0, 1)});
    b.From(query, staff);
    query->conditions.Add(b.Equal(b.Col(0, 0), b.Col(0, 0, levels_up)));
    return query;
  };
  EXPECT_TRUE(ReadsRow(*b.Op({b.Op({b.Col(0, 0)})})));
  EXPECT_FALSE(ReadsRow(*b.Op({b.Constant(), b.Col(0, 0, 1)})));
  EXPECT_FALSE(ReadsRow(*b.Sub(inner(0))));
  EXPECT_TRUE(ReadsRow(*b.Op({b.Sub(inner(1))})));
  EXPECT_FALSE(ReadsRow(*b.Sub(inner(2))));
  Query* outer = b.Select({b.Col(0, 0)});
  b.From(outer, inner(2));
  EXPECT_TRUE(ReadsRow(*b.Sub(outer)));
}

}  // namespace
}  // namespace privacy_score
