/*
 * flow_size_test.cpp - statements that are deep, long or double themselves: no overflow, no blow-up. A walk that is
 * not linear would not end within the time of a test run.
 */
#include <gtest/gtest.h>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

constexpr int kDeep = 100000;

class FlowSizeTest : public ::testing::Test {
 protected:
  Builder b;
  Relation* a = b.Table("a", {"x", "y"}, {0});

  Query* FromA() {
    Query* q = b.Select({b.Col(0, 0), b.Col(0, 1)});
    b.From(q, a);
    return q;
  }
};

TEST_F(FlowSizeTest, DeepExpressions) {
  Query* q = FromA();
  Expr* output = b.Col(0, 1);
  Expr* condition = b.Equal(b.Col(0, 0), b.Constant());
  for (int i = 0; i < kDeep; ++i) {
    output = b.Op({output, b.Constant()});
    condition = b.And({condition});
  }
  q->outputs = {};
  q->outputs.Add(b.Aggregate("max", {output}));
  q->conditions.Add(condition);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:max(a.y)", "p:a.y", "t:a", "w:a.x"}));
}

TEST_F(FlowSizeTest, DeepSubqueriesAndArms) {
  Query* q = FromA();
  for (int i = 0; i < 20000; ++i) {
    Query* around = b.Select({b.Col(0, 0), b.Col(0, 1)});
    b.From(around, q);
    q = b.Union({around});
  }
  Query* top = b.Select({b.Col(0, 1)});
  b.From(top, q);
  b.From(top, a);
  top->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
  EXPECT_EQ(b.Of(top), (Tokens{"cmd:select", "j:a.x", "p:a.y", "t:a"}));
}

// Each level joins the former with itself: 2 ^ 30 ways down.
TEST_F(FlowSizeTest, DoublingWithQueries) {
  Query* top = b.Select({b.Aggregate("max", {b.Col(0, 0)}), b.Aggregate("sum", {b.Col(0, 1)})});
  b.With(top, FromA());
  for (int i = 0; i < 30; ++i) {
    Query* q = b.Select({b.Op({b.Col(0, 0), b.Col(1, 0)}), b.Aggregate("max", {b.Op({b.Col(0, 1), b.Col(1, 1)})})});
    b.FromCte(q, i, 1);
    b.FromCte(q, i, 1);
    q->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
    q->group_by.Add(b.Col(0, 0));
    b.With(top, q);
  }
  b.FromCte(top, 30);
  EXPECT_EQ(b.Of(top), (Tokens{"cmd:select", "f:max(a.x)", "f:max(a.y)", "f:sum(a.y)", "g:a.x", "j:a.x", "n:a.x",
                               "p:a.x", "t:a", "w:a.x"}));
}

// Sets of key-grouped items beyond what is kept apart: ends, and reveals.
TEST_F(FlowSizeTest, ManyLevelsGroupedByKeys) {
  Query* q = FromA();
  for (int i = 0; i < 100; ++i) {
    Query* around = b.Select({b.Col(0, 0), b.Aggregate("sum", {b.Op({b.Col(0, 1), b.Col(1, 1)})})});
    b.From(around, q);
    b.From(around, a);
    around->group_by.Add(b.Col(0, 0));
    around->group_by.Add(b.Col(1, 0));
    q = around;
  }
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:sum(a.y)", "g:a.x", "p:a.x", "p:a.y", "t:a"}));
}

TEST_F(FlowSizeTest, ManyReferencesToOneWideItem) {
  Query* wide = b.Select();
  b.From(wide, a);
  for (int i = 0; i < 1000; ++i) wide->outputs.Add(b.Op({b.Col(0, 0), b.Col(0, 1)}));
  Query* top = b.Select();
  b.From(top, wide);
  for (int i = 0; i < 10000; ++i) top->outputs.Add(b.Row(0));
  EXPECT_EQ(b.Of(top), (Tokens{"cmd:select", "p:a.x", "p:a.y", "t:a"}));
}

}  // namespace
}  // namespace privacy_score
