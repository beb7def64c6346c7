/*
 * flow_rows_test.cpp - what the number of rows and their order tell of columns that nobody uses.
 */
#include <gtest/gtest.h>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class FlowRowsTest : public ::testing::Test {
 protected:
  Builder b;
  Relation* a = b.Table("a", {"id", "x", "y"}, {0});

  Query* FromA(Exprs outputs) {
    Query* q = b.Select(outputs);
    b.From(q, a);
    return q;
  }
  Query* Counting(Query* inner) {
    Query* q = b.Select({b.Aggregate("count")});
    b.From(q, inner);
    return q;
  }
};

TEST_F(FlowRowsTest, SetOperationsTestForMembership) {
  Query* both = b.Union({FromA({b.Col(0, 1)}), b.Select({b.Constant()})});
  EXPECT_EQ(b.Of(Counting(both)), (Tokens{"cmd:select", "f:count(*)", "t:a"}));  // UNION ALL
  Query* tested = b.Union({FromA({b.Col(0, 1)}), b.Select({b.Constant()})});
  tested->distinct = true;
  EXPECT_EQ(b.Of(Counting(tested)), (Tokens{"cmd:select", "f:count(*)", "t:a", "w:a.x"}));
  Query* shown = b.Union({FromA({b.Col(0, 1)}), FromA({b.Col(0, 2)})});
  shown->distinct = true;
  EXPECT_EQ(b.Of(shown), (Tokens{"cmd:select", "p:a.x", "p:a.y", "t:a"}));
}

TEST_F(FlowRowsTest, DistinctCounts) {
  Query* distinct = FromA({b.Col(0, 1), b.Col(0, 2)});
  distinct->distinct = true;
  EXPECT_EQ(b.Of(Counting(distinct)), (Tokens{"cmd:select", "f:count(*)", "f:count(a.x,a.y)", "t:a"}));
  Query* shown = FromA({b.Col(0, 1)});
  shown->distinct = true;
  EXPECT_EQ(b.Of(shown), (Tokens{"cmd:select", "p:a.x", "t:a"}));
}

TEST_F(FlowRowsTest, FunctionsThatReturnSetsShowTheirArguments) {
  const auto set_of = [this](Expr* arg) {
    Expr* expr = b.Op({arg});
    expr->rows = expr->tells = true;  // as both front ends have it
    return expr;
  };
  Query* unused = FromA({set_of(b.Col(0, 1))});
  unused->many = unused->tells = true;
  EXPECT_EQ(b.Of(Counting(unused)), (Tokens{"cmd:select", "f:count(*)", "p:a.x", "t:a"}));
  Query* ordered = FromA({b.Col(0, 2)});
  ordered->order_by.Add(set_of(b.Col(0, 1)));
  ordered->many = ordered->tells = true;
  EXPECT_EQ(b.Of(ordered), (Tokens{"cmd:select", "o:a.x", "p:a.x", "p:a.y", "t:a"}));
}

TEST_F(FlowRowsTest, ExpressionsThatAreOrderedByAreFilters) {
  Query* plain = FromA({b.Col(0, 0)});
  plain->order_by.Add(b.Col(0, 1));
  EXPECT_EQ(b.Of(plain), (Tokens{"cmd:select", "o:a.x", "p:a.id", "t:a"}));
  Query* compared = FromA({b.Col(0, 0)});
  compared->order_by.Add(b.Op({b.Col(0, 1)}));
  EXPECT_EQ(b.Of(compared), (Tokens{"cmd:select", "o:a.x", "p:a.id", "t:a", "w:a.x"}));
  Query* shown = FromA({b.Col(0, 1)});
  shown->order_by.Add(b.Op({b.Col(0, 1)}));
  EXPECT_EQ(b.Of(shown), (Tokens{"cmd:select", "o:a.x", "p:a.x", "t:a"}));
  Query* hidden = FromA({b.Aggregate("count")});
  hidden->order_by.Add(b.Op({b.Aggregate("sum", {b.Col(0, 1)})}));
  EXPECT_EQ(b.Of(hidden), (Tokens{"cmd:select", "f:count(*)", "f:sum(a.x)", "t:a"}));
}

TEST_F(FlowRowsTest, RowsThatAreMixedWithConstantsAreComparedWithThem) {
  Query* mixed = b.Union({FromA({b.Col(0, 0), b.Col(0, 1)}), b.Select({b.Constant(), b.Constant()})});
  Query* q = b.Select({b.Col(0, 0)});
  b.From(q, mixed);
  q->order_by.Add(b.Col(0, 1));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "o:a.x", "p:a.id", "t:a", "w:a.x"}));
}

TEST_F(FlowRowsTest, APositionPicksRowsAsLimitDoes) {
  Query* numbered = FromA({b.Col(0, 0), b.Window("row_number")});
  numbered->window_order_by.Add(b.Col(0, 1));
  Query* q = b.Select({b.Col(0, 0)});
  b.From(q, numbered);
  q->conditions.Add(b.Op({b.Col(0, 1)}));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:row_number()", "l:a.x", "o:a.x", "p:a.id", "t:a"}));
}

// CASE, OR and the like of some arguments, with a function among them that is seen to run when `runs_told`.
class FlowChoicesTest : public FlowRowsTest {
 protected:
  Expr* Choice(Query* query, Exprs args, bool runs_told = true) {
    Expr* expr = b.Op(args);
    expr->chooses = query->chooses = true;
    expr->runs_told = runs_told;
    return expr;
  }
};

TEST_F(FlowChoicesTest, AFunctionTellsByWhenItRuns) {
  Query* told = FromA({});
  told->outputs.Add(b.Aggregate("count", {Choice(told, {b.Op({b.Col(0, 1)}), b.Col(0, 2)})}));
  EXPECT_EQ(b.Of(told), (Tokens{"cmd:select", "f:count(a.x,a.y)", "p:a.x", "p:a.y", "t:a"}));
  Query* quiet = FromA({});
  quiet->outputs.Add(b.Aggregate("count", {Choice(quiet, {b.Op({b.Col(0, 1)}), b.Col(0, 2)}, false)}));
  EXPECT_EQ(b.Of(quiet), (Tokens{"cmd:select", "f:count(a.x,a.y)", "t:a"}));
  Query* unused = FromA({});
  unused->outputs.Add(Choice(unused, {b.Col(0, 1)}));
  EXPECT_EQ(b.Of(Counting(unused)), (Tokens{"cmd:select", "f:count(*)", "p:a.x", "t:a"}));
}

TEST_F(FlowChoicesTest, ConditionsCountAnywayButForAggregatesInThem) {
  Query* filtered = FromA({b.Aggregate("count")});
  filtered->conditions.Add(Choice(filtered, {b.Col(0, 1)}));
  EXPECT_EQ(b.Of(filtered), (Tokens{"cmd:select", "f:count(*)", "t:a", "w:a.x"}));
  Query* having = FromA({b.Constant()});
  having->having.Add(b.Op({b.Aggregate("count", {Choice(having, {b.Col(0, 1)})})}));
  EXPECT_EQ(b.Of(having), (Tokens{"cmd:select", "f:count(a.x)", "p:a.x", "t:a"}));
  Query* filter = FromA({});
  Expr* count = b.Aggregate("count");
  count->filter.Add(Choice(filter, {b.Col(0, 1)}));
  filter->outputs.Add(count);
  EXPECT_EQ(b.Of(filter), (Tokens{"cmd:select", "f:count(*)", "t:a", "w:a.x"}));
}

TEST_F(FlowChoicesTest, TheColumnOfASubqueryMayBeTheFunction) {
  for (const bool varies : {false, true}) {
    Query* below = FromA({b.Col(0, 1), b.Constant()});
    below->outputs.first->next->varies = varies;
    Query* between = b.Select({b.Col(0, 0), b.Col(0, 1)});
    b.From(between, below);
    Query* q = b.Select({});
    b.From(q, between);
    q->outputs.Add(b.Aggregate("count", {Choice(q, {b.Op({b.Col(0, 0)}), b.Col(0, 1)}, false)}));
    EXPECT_EQ(b.Of(q), varies ? (Tokens{"cmd:select", "f:count(a.x)", "p:a.x", "t:a"})
                              : (Tokens{"cmd:select", "f:count(a.x)", "t:a"}));
  }
}

TEST_F(FlowRowsTest, WhatIsComparedByAFunctionThatTellsIsTold) {
  Query* sorted = FromA({b.Col(0, 0)});
  sorted->order_by.Add(b.Col(0, 1));
  Expr* told = b.Op({b.Col(0, 1)});
  told->tells = sorted->tells = true;
  sorted->told.Add(told);
  EXPECT_EQ(b.Of(sorted), (Tokens{"cmd:select", "o:a.x", "p:a.id", "p:a.x", "t:a"}));
}

}  // namespace
}  // namespace privacy_score
