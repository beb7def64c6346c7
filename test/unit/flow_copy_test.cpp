/*
 * flow_copy_test.cpp - relations whose values are those of others: copies and statistics.
 */
#include <gtest/gtest.h>

#include "core/statement/flow.hpp"
#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class FlowCopyTest : public ::testing::Test {
 protected:
  FlowCopyTest() {
    b.Copied(copy, 0, a, 0);
    b.Copied(copy, 1, a, 1);
    b.Copied(copy, 1, c, 1);
    statistics->catalog = true;
    b.Copied(statistics, 1, a, 1, true);
    b.Copied(statistics, 1, c, 0, true);
  }
  Query* From(Relation* relation, Exprs outputs) {
    Query* q = b.Select(outputs);
    b.From(q, relation);
    return q;
  }

  Builder b;
  Relation* a = b.Table("a", {"id", "x"}, {0});
  Relation* c = b.Table("c", {"y", "z"});
  Relation* copy = b.Table("copy", {"key", "both", "own"});
  Relation* statistics = b.Table("statistics", {"name", "values"});
};

TEST_F(FlowCopyTest, ReadsTheOrigins) {
  EXPECT_EQ(b.Of(From(copy, {b.Col(0, 0)})), (Tokens{"cmd:select", "p:a.id", "t:a", "t:c", "t:copy"}));
  EXPECT_EQ(b.Of(From(copy, {b.Col(0, 1)})), (Tokens{"cmd:select", "p:a.x", "p:c.z", "t:a", "t:c", "t:copy"}));
  EXPECT_EQ(b.Of(From(copy, {b.Col(0, 2)})), (Tokens{"cmd:select", "p:copy.own", "t:a", "t:c", "t:copy"}));
  EXPECT_EQ(b.Of(From(copy, {b.Row(0)})),
            (Tokens{"cmd:select", "p:a.id", "p:a.x", "p:c.z", "p:copy.own", "t:a", "t:c", "t:copy"}));
  EXPECT_EQ(b.Of(From(copy, {b.Constant()})), (Tokens{"cmd:select", "t:a", "t:c", "t:copy"}));
  EXPECT_EQ(b.Poster(From(copy, {b.Col(0, 1)})), "{SELECT, x, z, a, c, copy}");
}

TEST_F(FlowCopyTest, MarksTheOriginsAsTheCopyIsUsed) {
  Query* q = From(copy, {b.Col(0, 2)});
  q->conditions.Add(b.Op({b.Col(0, 0)}));
  q->order_by.Add(b.Col(0, 1));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "o:a.x", "o:c.z", "p:copy.own", "t:a", "t:c", "t:copy", "w:a.id"}));
}

// Temporary relations go by numbers, their columns by place or by what they were copied from.
TEST_F(FlowCopyTest, NamesNoTemporaryRelation) {
  copy->temporary = true;
  Relation* other = b.Table("other", {"p", "q"});
  other->temporary = true;
  EXPECT_EQ(b.Of(From(copy, {b.Row(0)})),
            (Tokens{"cmd:select", "p:a.id", "p:a.x", "p:c.z", "p:pg_temp.*.3", "t:a", "t:c", "t:pg_temp.*"}));
  EXPECT_EQ(b.Poster(From(copy, {b.Col(0, 2)})), "{SELECT, own, copy, a, c}");
  Query* q = b.Select({b.Col(0, 1), b.Col(1, 2), b.Col(2, 0)});
  b.From(q, other);
  b.From(q, copy);
  b.From(q, other);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "p:pg_temp.*.1", "p:pg_temp.*.2", "p:pg_temp.*2.3", "t:a", "t:c",
                             "t:pg_temp.*", "t:pg_temp.*2"}));
  q = b.Write(Command::kInsert, copy);
  b.Assign(q, 0, b.Constant());
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:insert", "s:pg_temp.*.1", "t:pg_temp.*"}));
}

TEST_F(FlowCopyTest, WritesTheCopyItself) {
  Query* q = b.Write(Command::kInsert, copy);
  b.Assign(q, 0, b.Constant());
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:insert", "s:copy.key", "t:copy"}));
  q = b.Write(Command::kDelete, copy);
  q->outputs.Add(b.Col(0, 0));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:delete", "p:a.id", "t:a", "t:copy"}));
  q = b.Write(Command::kUpdate, copy);
  b.Assign(q, 0, b.Col(0, 0));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:update", "s:copy.key", "t:copy"}));
}

TEST_F(FlowCopyTest, GroupingByTheKeyOfTheOriginRevealsRows) {
  Query* q = From(copy, {b.Aggregate("avg", {b.Col(0, 2)})});
  q->group_by.Add(b.Col(0, 0));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:avg(copy.own)", "g:a.id", "p:copy.own", "t:a", "t:c", "t:copy"}));
  q = From(copy, {b.Aggregate("avg", {b.Col(0, 0)})});
  q->group_by.Add(b.Col(0, 1));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:avg(a.id)", "g:a.x", "g:c.z", "t:a", "t:c", "t:copy"}));
}

TEST_F(FlowCopyTest, StatisticsRevealWhatTheyDescribe) {
  EXPECT_EQ(b.Of(From(statistics, {b.Col(0, 0)})), Tokens{});
  const Tokens described = {"cmd:select", "p:a.x", "p:c.y", "t:a", "t:c"};
  EXPECT_EQ(b.Of(From(statistics, {b.Col(0, 1)})), described);
  EXPECT_EQ(b.Poster(From(statistics, {b.Col(0, 1)})), "{SELECT, x, y, a, c}");
  Query* q = From(statistics, {b.Col(0, 0)});
  q->conditions.Add(b.Op({b.Col(0, 1)}));
  EXPECT_EQ(b.Of(q), described);
  // One row may be all that is left to an aggregate.
  q = From(statistics, {b.Aggregate("avg", {b.Col(0, 1)})});
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:avg()", "p:a.x", "p:c.y", "t:a", "t:c"}));
}

TEST_F(FlowCopyTest, FollowsEachOutput) {
  Query* q =
      b.Select({b.Col(0, 0), b.Op({b.Col(0, 1), b.Col(1, 0)}), b.Constant(), b.Aggregate("count", {b.Col(1, 1)})});
  b.From(q, copy);
  b.From(q, c);
  q->conditions.Add(b.Op({b.Col(1, 1)}));
  const auto outputs = FollowOutputs({q, false});
  ASSERT_EQ(outputs.size(), 4u);
  ASSERT_EQ(outputs[0].size(), 1u);
  EXPECT_EQ(outputs[0][0].relation, a);
  EXPECT_EQ(outputs[0][0].column, 0);
  ASSERT_EQ(outputs[1].size(), 3u);
  EXPECT_EQ(outputs[1][2].relation, c);
  EXPECT_EQ(outputs[1][2].column, 0);
  EXPECT_TRUE(outputs[2].empty());
  EXPECT_TRUE(outputs[3].empty());
}

TEST_F(FlowCopyTest, FollowsOutputsThroughArms) {
  Query* q = b.Union({From(a, {b.Col(0, 1)}), From(c, {b.Col(0, 0)})});
  const auto outputs = FollowOutputs({q, false});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].size(), 2u);
  EXPECT_TRUE(FollowOutputs({}).empty());
}

}  // namespace
}  // namespace privacy_score
