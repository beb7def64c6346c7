/*
 * flow_function_test.cpp - aggregates and window functions in every clause.
 */
#include <gtest/gtest.h>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class FlowFunctionTest : public ::testing::Test {
 protected:
  Builder b;
  Relation* a = b.Table("a", {"id", "x", "y"}, {0});

  Query* FromA(Exprs outputs) {
    Query* q = b.Select(outputs);
    b.From(q, a);
    return q;
  }
  Query* Around(Query* inner, Exprs outputs) {
    Query* q = b.Select(outputs);
    b.From(q, inner);
    return q;
  }
};

TEST_F(FlowFunctionTest, NamesSortedColumnsOnce) {
  EXPECT_EQ(b.Of(FromA({b.Aggregate("sum", {b.Op({b.Col(0, 2), b.Col(0, 1), b.Col(0, 2), b.Constant()})})})),
            (Tokens{"cmd:select", "f:sum(a.x,a.y)", "t:a"}));
  EXPECT_EQ(b.Of(FromA({b.Aggregate("count"), b.Window("row_number"), b.Aggregate("public.my", {b.Constant()})})),
            (Tokens{"cmd:select", "f:count(*)", "f:public.my()", "f:row_number()", "t:a"}));
  EXPECT_EQ(b.Of(FromA({b.Aggregate("count", {b.Constant()})})), (Tokens{"cmd:select", "f:count(*)", "t:a"}));
}

TEST_F(FlowFunctionTest, OnlyHidingAggregatesHide) {
  EXPECT_EQ(b.Of(FromA({b.Aggregate("avg", {b.Col(0, 1)})})), (Tokens{"cmd:select", "f:avg(a.x)", "t:a"}));
  EXPECT_EQ(b.Of(FromA({b.Aggregate("max", {b.Col(0, 1)})})), (Tokens{"cmd:select", "f:max(a.x)", "p:a.x", "t:a"}));
  EXPECT_EQ(b.Of(FromA({b.Window("avg", {b.Col(0, 1)})})), (Tokens{"cmd:select", "f:avg(a.x)", "p:a.x", "t:a"}));
}

TEST_F(FlowFunctionTest, GroupingByAKeyReveals) {
  Query* keyed = FromA({b.Aggregate("sum", {b.Col(0, 1)})});
  keyed->group_by.Add(b.Col(0, 0));
  EXPECT_EQ(b.Of(keyed), (Tokens{"cmd:select", "f:sum(a.x)", "g:a.id", "p:a.x", "t:a"}));
  Query* unkeyed = FromA({b.Aggregate("sum", {b.Col(0, 1)})});
  unkeyed->group_by.Add(b.Col(0, 2));
  EXPECT_EQ(b.Of(unkeyed), (Tokens{"cmd:select", "f:sum(a.x)", "g:a.y", "t:a"}));
}

TEST_F(FlowFunctionTest, WhatMayTellItsArgumentsProjectsThem) {
  const auto telling = [this](Query* query, Expr* arg) {
    Expr* expr = b.Op({arg});
    expr->tells = query->tells = true;
    return expr;
  };
  Query* aggregated = FromA({});
  aggregated->outputs.Add(b.Aggregate("count", {telling(aggregated, b.Col(0, 1))}));
  EXPECT_EQ(b.Of(aggregated), (Tokens{"cmd:select", "f:count(a.x)", "p:a.x", "t:a"}));
  Query* sorted = FromA({b.Col(0, 2)});
  sorted->order_by.Add(b.Op({telling(sorted, b.Col(0, 1))}));
  EXPECT_EQ(b.Of(sorted), (Tokens{"cmd:select", "o:a.x", "p:a.x", "p:a.y", "t:a"}));
  Query* unused = FromA({b.Col(0, 0)});
  unused->outputs.Add(telling(unused, b.Col(0, 1)));
  EXPECT_EQ(b.Of(Around(unused, {b.Col(0, 0)})), (Tokens{"cmd:select", "p:a.id", "p:a.x", "t:a"}));
  Query* updated = b.Write(Command::kUpdate, a);
  b.Assign(updated, 1, telling(updated, b.Col(0, 1)));
  EXPECT_EQ(b.Of(updated), (Tokens{"cmd:update", "p:a.x", "s:a.x", "t:a"}));
  Query* tells_a_count = FromA({});
  tells_a_count->outputs.Add(telling(tells_a_count, b.Aggregate("count", {b.Col(0, 1)})));
  EXPECT_EQ(b.Of(tells_a_count), (Tokens{"cmd:select", "f:count(a.x)", "t:a"}));
}

TEST_F(FlowFunctionTest, TheKeyOfAnotherItemRevealsNothing) {
  Query* q = b.Select({b.Aggregate("sum", {b.Op({b.Col(0, 1), b.Col(1, 2)})})});
  b.From(q, a);
  b.From(q, a);
  q->group_by.Add(b.Col(0, 0));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:sum(a.x,a.y)", "g:a.id", "p:a.x", "t:a"}));
}

TEST_F(FlowFunctionTest, KeysGoThroughViews) {
  Query* view = FromA({b.Col(0, 0), b.Op({b.Col(0, 1)})});
  Query* q = Around(view, {b.Aggregate("sum", {b.Col(0, 1)})});
  q->group_by.Add(b.Col(0, 0));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:sum(a.x)", "g:a.id", "p:a.x", "t:a"}));
}

TEST_F(FlowFunctionTest, EveryHidingLevelMustBeGroupedByTheKey) {
  for (const bool inner_keyed : {false, true}) {
    Query* inner = FromA({b.Col(0, 0), b.Aggregate("sum", {b.Col(0, 1)})});
    inner->group_by.Add(b.Col(0, inner_keyed ? 0 : 2));
    Query* q = Around(inner, {b.Aggregate("avg", {b.Col(0, 1)})});
    q->group_by.Add(b.Col(0, 0));
    Tokens expected = {"cmd:select", "f:avg(a.x)", "f:sum(a.x)", "g:a.id", "t:a"};
    expected.push_back(inner_keyed ? "p:a.x" : "g:a.y");
    EXPECT_EQ(b.Of(q), UnionTokens({expected}));
  }
}

TEST_F(FlowFunctionTest, InFilters) {
  Query* q = FromA({});
  q->having.Add(b.Op({b.Aggregate("sum", {b.Col(0, 1)}), b.Aggregate("min", {b.Col(0, 2)})}));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:min(a.y)", "f:sum(a.x)", "t:a", "w:a.y"}));
}

TEST_F(FlowFunctionTest, InOrdering) {
  Query* q = FromA({});
  q->order_by.Add(b.Aggregate("max", {b.Col(0, 1)}));
  q->order_by.Add(b.Window("avg", {b.Col(0, 2)}));
  q->limit = true;
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:avg(a.y)", "f:max(a.x)", "t:a"}));
}

TEST_F(FlowFunctionTest, OrderAndFilterOfAnAggregate) {
  Expr* listing = b.Aggregate("array_agg", {b.Col(0, 0)});
  listing->order.Add(b.Col(0, 1));
  listing->filter.Add(b.Col(0, 2));
  EXPECT_EQ(b.Of(FromA({listing})), (Tokens{"cmd:select", "f:array_agg(a.id)", "o:a.x", "p:a.id", "t:a", "w:a.y"}));
  Expr* unused = b.Aggregate("array_agg", {b.Col(0, 0)});
  unused->order.Add(b.Col(0, 1));
  unused->filter.Add(b.Col(0, 2));
  EXPECT_EQ(b.Of(Around(FromA({unused, b.Col(0, 0)}), {b.Col(0, 1)})), (Tokens{"cmd:select", "p:a.id", "t:a"}));
}

TEST_F(FlowFunctionTest, OrderedSetsAggregateWhatTheyOrder) {
  Expr* median = b.Aggregate("percentile_cont", {b.Constant()});
  median->order.Add(b.Col(0, 1));
  EXPECT_EQ(b.Of(FromA({median})), (Tokens{"cmd:select", "f:percentile_cont(a.x)", "o:a.x", "p:a.x", "t:a"}));
}

TEST_F(FlowFunctionTest, NestedThroughSubqueries) {
  Query* inner = FromA({b.Aggregate("count", {b.Col(0, 1)}), b.Aggregate("max", {b.Col(0, 2)})});
  EXPECT_EQ(b.Of(Around(inner, {b.Aggregate("max", {b.Col(0, 0)})})),
            (Tokens{"cmd:select", "f:count(a.x)", "f:max(a.x)", "t:a"}));
  Query* hidden = FromA({b.Aggregate("max", {b.Col(0, 2)})});
  EXPECT_EQ(b.Of(Around(hidden, {b.Aggregate("avg", {b.Col(0, 0)})})),
            (Tokens{"cmd:select", "f:avg(a.y)", "f:max(a.y)", "t:a"}));
}

TEST_F(FlowFunctionTest, SubqueriesUnderHidingAggregatesStillRun) {
  Query* inner = FromA({b.Col(0, 1)});
  inner->conditions.Add(b.Op({b.Col(0, 2)}));
  Relation* c = b.Table("c", {"z"});
  Query* q = b.Select({b.Aggregate("count", {b.Sub(inner, SubqueryUse::kMember, {b.Col(0, 0)})})});
  b.From(q, c);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:count(a.x,c.z)", "t:a", "t:c", "w:a.x", "w:a.y", "w:c.z"}));
}

TEST_F(FlowFunctionTest, FunctionColumnsUnderCountAreNotProjected) {
  Query* q = b.Select({b.Aggregate("count", {b.Col(1, 0)})});
  b.From(q, a);
  b.From(q, RangeKind::kFunction, {b.Col(0, 1)});
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:count(a.x)", "t:a"}));
}

}  // namespace
}  // namespace privacy_score
