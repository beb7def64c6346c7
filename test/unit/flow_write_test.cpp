/*
 * flow_write_test.cpp - INSERT, UPDATE, DELETE, MERGE and COPY.
 */
#include <gtest/gtest.h>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class FlowWriteTest : public ::testing::Test {
 protected:
  Builder b;
  Relation* staff = b.Table("staff", {"id", "salary", "job"}, {0});
  Relation* rates = b.Table("rates", {"job", "rate"});

  Query* FromStaff(Exprs outputs) {
    Query* q = b.Select(outputs);
    b.From(q, staff);
    return q;
  }
};

TEST_F(FlowWriteTest, InsertOfConstants) {
  Query* q = b.Write(Command::kInsert, staff);
  b.Assign(q, 0, b.Constant());
  b.Assign(q, 1, nullptr);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:insert", "s:staff.id", "s:staff.salary", "t:staff"}));
}

TEST_F(FlowWriteTest, InsertSelectCopies) {
  Query* source = FromStaff({b.Col(0, 2), b.Aggregate("count"), b.Col(0, 1)});
  source->group_by.Add(b.Col(0, 2));
  Query* q = b.Write(Command::kInsert, rates);
  b.From(q, source);
  b.Assign(q, 0, b.Col(1, 0));
  b.Assign(q, 1, b.Col(1, 1));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:insert", "f:count(*)", "g:staff.job", "p:staff.job", "s:rates.job", "s:rates.rate",
                             "t:rates", "t:staff"}));
  Query* unnamed = b.Write(Command::kInsert, rates);
  b.From(unnamed, FromStaff({b.Col(0, 1)}));
  b.Assign(unnamed, -1, b.Col(1, 0));
  EXPECT_EQ(b.Of(unnamed), (Tokens{"cmd:insert", "p:staff.salary", "t:rates", "t:staff"}));
}

TEST_F(FlowWriteTest, ColumnThatFeedsItselfIsNotProjected) {
  Query* q = b.Write(Command::kUpdate, staff);
  b.Assign(q, 1, b.Op({b.Col(0, 1), b.Constant()}));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:update", "s:staff.salary", "t:staff"}));
  Query* other = b.Write(Command::kUpdate, staff);
  b.Assign(other, 2, b.Op({b.Col(0, 1), b.Col(0, 2)}));
  EXPECT_EQ(b.Of(other), (Tokens{"cmd:update", "p:staff.salary", "s:staff.job", "t:staff"}));
  Query* row = b.Write(Command::kUpdate, staff);
  b.Assign(row, 2, b.Op({b.Row(0)}));
  EXPECT_EQ(b.Of(row), (Tokens{"cmd:update", "p:staff.id", "p:staff.salary", "s:staff.job", "t:staff"}));
}

TEST_F(FlowWriteTest, ColumnThatFeedsItselfThroughASubquery) {
  Query* scalar = b.Select({b.Op({b.Col(0, 1), b.Col(0, 1, 1)})});
  b.From(scalar, rates);
  Query* q = b.Write(Command::kUpdate, staff);
  b.Assign(q, 1, b.Sub(scalar));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:update", "p:rates.rate", "s:staff.salary", "t:rates", "t:staff"}));
}

TEST_F(FlowWriteTest, TheSameColumnOfAnotherItemIsProjected) {
  Query* q = b.Write(Command::kUpdate, staff);
  b.From(q, staff);
  b.Assign(q, 1, b.Col(1, 1));
  q->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:update", "j:staff.id", "p:staff.salary", "s:staff.salary", "t:staff"}));
  Query* scalar = b.Write(Command::kUpdate, staff);
  b.Assign(scalar, 1, b.Sub(FromStaff({b.Aggregate("max", {b.Col(0, 1)})})));
  EXPECT_EQ(b.Of(scalar), (Tokens{"cmd:update", "f:max(staff.salary)", "p:staff.salary", "s:staff.salary", "t:staff"}));
}

TEST_F(FlowWriteTest, CopiesOutOfWithQueries) {
  Query* q = b.Write(Command::kUpdate, staff);
  b.With(q, FromStaff({b.Col(0, 1)}));
  Query* scalar = b.Select({b.Col(0, 0)});
  b.FromCte(scalar, 0, 1);
  b.Assign(q, 1, b.Sub(scalar));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:update", "p:staff.salary", "s:staff.salary", "t:staff"}));
}

TEST_F(FlowWriteTest, ExcludedRevealsNothing) {
  Query* q = b.Write(Command::kInsert, staff);
  const int excluded = b.From(q, RangeKind::kExcluded);
  b.Assign(q, 1, b.Op({b.Col(0, 1), b.Col(excluded, 1), b.Row(excluded)}));
  q->having.Add(b.Op({b.Col(0, 2), b.Col(excluded, 0)}));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:insert", "s:staff.salary", "t:staff", "w:staff.job"}));
}

TEST_F(FlowWriteTest, ReturningIsProjected) {
  Query* q = b.Write(Command::kDelete, staff);
  q->outputs.Add(b.Col(0, 2));
  q->conditions.Add(b.Op({b.Col(0, 1)}));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:delete", "p:staff.job", "t:staff", "w:staff.salary"}));
}

TEST_F(FlowWriteTest, WritingCtesAlwaysRun) {
  Query* moved = b.Write(Command::kDelete, staff);
  moved->outputs.Add(b.Col(0, 0));
  moved->outputs.Add(b.Col(0, 1));
  moved->conditions.Add(b.Op({b.Col(0, 2)}));
  Query* unused = b.Write(Command::kUpdate, rates);
  b.Assign(unused, 1, b.Constant());
  unused->outputs.Add(b.Col(0, 0));
  Query* q = b.Select({b.Col(0, 1)});
  b.With(q, moved);
  b.With(q, unused);
  b.FromCte(q, 0);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "p:staff.salary", "s:rates.rate", "t:rates", "t:staff", "w:staff.job"}));
}

TEST_F(FlowWriteTest, MergeJoinsItsSource) {
  Query* q = b.Write(Command::kMerge, staff);
  b.From(q, rates);
  q->conditions.Add(b.Equal(b.Col(0, 2), b.Col(1, 0)));
  q->having.Add(b.Op({b.Col(0, 0)}));
  b.Assign(q, 1, b.Op({b.Col(0, 1), b.Col(1, 1)}));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:merge", "j:rates.job", "j:staff.job", "p:rates.rate", "s:staff.salary", "t:rates",
                             "t:staff", "w:staff.id"}));
}

TEST_F(FlowWriteTest, WritesThroughAView) {
  Query* q = b.Select();
  q->command = Command::kUpdate;
  q->target = b.From(q, FromStaff({b.Col(0, 0), b.Col(0, 1)}));
  b.Assign(q, 1, b.Op({b.Col(0, 1), b.Col(0, 0)}));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:update", "p:staff.id", "s:staff.salary", "t:staff"}));
}

TEST_F(FlowWriteTest, CopyProjectsItsColumns) {
  Query* q = b.Select({b.Row(0)});
  q->command = Command::kCopy;
  b.From(q, rates);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:copy", "p:rates.job", "p:rates.rate", "t:rates"}));
}

}  // namespace
}  // namespace privacy_score
