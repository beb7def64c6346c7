/*
 * flow_test.cpp - the rules of abstraction, one by one, on trees built by hand. Writing, aggregates and the limits of
 * time and depth are in flow_write_test.cpp, flow_function_test.cpp and flow_size_test.cpp.
 */
#include "core/statement/flow.hpp"

#include <gtest/gtest.h>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class FlowTest : public ::testing::Test {
 protected:
  Builder b;
  Relation* a = b.Table("a", {"x", "y", "z"}, {0});
  Relation* c = b.Table("c", {"x", "y"});

  // SELECT x, y, z FROM a, with room for more.
  Query* FromA(Exprs outputs) {
    Query* q = b.Select(outputs);
    b.From(q, a);
    return q;
  }
  // SELECT FROM a, <item> WHERE a.x = item.column.
  Query* JoinWith(Query* q) {
    q->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
    return q;
  }
};

const Tokens kFilteredBothSides = {"cmd:select", "t:a", "t:c", "w:a.x", "w:c.x"};
const Tokens kJoined = {"cmd:select", "j:a.x", "j:c.x", "t:a", "t:c"};

TEST_F(FlowTest, ReadsNothingOfNothing) { EXPECT_TRUE(FollowColumns({}).command.empty()); }

TEST_F(FlowTest, MarksEveryClause) {
  Query* q = FromA({b.Op({b.Col(0, 0), b.Constant()})});
  q->conditions.Add(b.Op({b.Col(0, 1)}));
  q->having.Add(b.Op({b.Col(0, 2)}));
  q->group_by.Add(b.Col(0, 0));
  q->partition_by.Add(b.Col(0, 1));
  q->order_by.Add(b.Col(0, 0));
  q->window_order_by.Add(b.Col(0, 2));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "g:a.x", "g:a.y", "o:a.x", "o:a.z", "p:a.x", "t:a", "w:a.y", "w:a.z"}));
}

TEST_F(FlowTest, LimitTakesTheOrderingOfItsOwnLevel) {
  Query* inner = FromA({b.Col(0, 0)});
  inner->order_by.Add(b.Col(0, 1));
  inner->window_order_by.Add(b.Col(0, 2));
  inner->limit = true;
  Query* q = b.Select({b.Col(0, 0)});
  b.From(q, inner);
  q->order_by.Add(b.Col(0, 0));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "l:a.y", "o:a.x", "o:a.y", "o:a.z", "p:a.x", "t:a"}));
}

TEST_F(FlowTest, WholeRowsAreAllColumns) {
  EXPECT_EQ(b.Of(FromA({b.Row(0)})), (Tokens{"cmd:select", "p:a.x", "p:a.y", "p:a.z", "t:a"}));
  Query* q = b.Select({b.Row(0)});
  b.From(q, FromA({b.Col(0, 0), b.Col(0, 2)}));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "p:a.x", "p:a.z", "t:a"}));
}

TEST_F(FlowTest, OutputsThatNobodyUsesGiveNothing) {
  Query* secret = b.Select({b.Col(0, 1)});
  b.From(secret, c);
  Query* inner = FromA({b.Col(0, 0), b.Aggregate("max", {b.Col(0, 1)}), b.Sub(secret)});
  inner->conditions.Add(b.Op({b.Col(0, 2)}));
  Query* q = b.Select({b.Col(0, 0)});
  b.From(q, inner);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "p:a.x", "t:a", "w:a.z"}));
}

TEST_F(FlowTest, BareEqualityBetweenItemsIsAJoin) {
  Query* plain = FromA({});
  b.From(plain, c);
  EXPECT_EQ(b.Of(JoinWith(plain)), kJoined);
  Query* nested = FromA({});
  b.From(nested, c);
  nested->conditions.Add(b.And({b.And({b.Equal(b.Col(0, 0), b.Col(1, 0))}), b.Op({b.Col(0, 1)})}));
  EXPECT_EQ(b.Of(nested), (Tokens{"cmd:select", "j:a.x", "j:c.x", "t:a", "t:c", "w:a.y"}));
  Query* self = FromA({});
  b.From(self, a);
  EXPECT_EQ(b.Of(JoinWith(self)), (Tokens{"cmd:select", "j:a.x", "t:a"}));
}

TEST_F(FlowTest, OtherEqualitiesAreFilters) {
  Query* same = FromA({});
  same->conditions.Add(b.Equal(b.Col(0, 0), b.Col(0, 1)));
  EXPECT_EQ(b.Of(same), (Tokens{"cmd:select", "t:a", "w:a.x", "w:a.y"}));
  Query* under_or = FromA({});
  b.From(under_or, c);
  under_or->conditions.Add(b.Op({b.Equal(b.Col(0, 0), b.Col(1, 0)), b.Constant()}));
  EXPECT_EQ(b.Of(under_or), kFilteredBothSides);
  Query* expression = FromA({});
  b.From(expression, c);
  expression->conditions.Add(b.Equal(b.Col(0, 0), b.Op({b.Col(1, 0)})));
  EXPECT_EQ(b.Of(expression), kFilteredBothSides);
  Query* having = FromA({});
  b.From(having, c);
  having->having.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
  EXPECT_EQ(b.Of(having), kFilteredBothSides);
  Query* row = FromA({});
  b.From(row, c);
  row->conditions.Add(b.Equal(b.Col(0, 0), b.Row(1)));
  EXPECT_EQ(b.Of(row), (Tokens{"cmd:select", "t:a", "t:c", "w:a.x", "w:c.x", "w:c.y"}));
}

TEST_F(FlowTest, EqualityInTheSelectListIsProjected) {
  EXPECT_EQ(b.Of(FromA({b.Equal(b.Col(0, 0), b.Col(0, 1))})), (Tokens{"cmd:select", "p:a.x", "p:a.y", "t:a"}));
}

TEST_F(FlowTest, JoinsGoThroughBareOutputs) {
  Query* derived = b.Select({b.Col(0, 0)});
  b.From(derived, c);
  Query* q = FromA({});
  b.From(q, derived);
  EXPECT_EQ(b.Of(JoinWith(q)), kJoined);
  Query* computed = b.Select({b.Op({b.Col(0, 0)})});
  b.From(computed, c);
  Query* r = FromA({});
  b.From(r, computed);
  EXPECT_EQ(b.Of(JoinWith(r)), kFilteredBothSides);
}

TEST_F(FlowTest, JoinsNeedEveryArmOfASetOperation) {
  const auto arm = [&](Expr* output) {
    Query* query = b.Select({output});
    b.From(query, c);
    return query;
  };
  Query* q = FromA({});
  b.From(q, b.Union({arm(b.Col(0, 0)), arm(b.Col(0, 1))}));
  EXPECT_EQ(b.Of(JoinWith(q)), (Tokens{"cmd:select", "j:a.x", "j:c.x", "j:c.y", "t:a", "t:c"}));
  Query* r = FromA({});
  b.From(r, b.Union({arm(b.Col(0, 0)), arm(b.Constant())}));
  EXPECT_EQ(b.Of(JoinWith(r)), kFilteredBothSides);
}

TEST_F(FlowTest, JoinsWithConstantsAndOwnRelationsAreFilters) {
  for (const RangeKind kind : {RangeKind::kValues, RangeKind::kFunction, RangeKind::kUnknown, RangeKind::kExcluded}) {
    Query* q = FromA({});
    b.From(q, kind, {b.Constant()});
    EXPECT_EQ(b.Of(JoinWith(q)), (Tokens{"cmd:select", "t:a", "w:a.x"}));
  }
  Query* constants = FromA({});
  b.With(constants, b.Select({b.Constant()}));
  b.FromCte(constants, 0);
  EXPECT_EQ(b.Of(JoinWith(constants)), (Tokens{"cmd:select", "t:a", "w:a.x"}));
  c->own = true;
  Query* own = FromA({});
  b.From(own, c);
  EXPECT_EQ(b.Of(JoinWith(own)), kFilteredBothSides);
}

TEST_F(FlowTest, CorrelatedEqualityIsAJoin) {
  Query* inner = b.Select({b.Col(0, 1)});
  b.From(inner, c);
  inner->conditions.Add(b.Equal(b.Col(0, 0), b.Col(0, 0, 1)));
  Query* q = FromA({b.Col(0, 2)});
  q->conditions.Add(b.Sub(inner, SubqueryUse::kExists));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "j:a.x", "j:c.x", "p:a.z", "t:a", "t:c"}));
}

TEST_F(FlowTest, SubqueryUses) {
  const auto inner = [&] {
    Query* query = b.Select({b.Col(0, 1)});
    b.From(query, c);
    query->conditions.Add(b.Op({b.Col(0, 0)}));
    return query;
  };
  EXPECT_EQ(b.Of(FromA({b.Sub(inner())})), (Tokens{"cmd:select", "p:c.y", "t:a", "t:c", "w:c.x"}));
  EXPECT_EQ(b.Of(FromA({b.Sub(inner(), SubqueryUse::kExists)})), (Tokens{"cmd:select", "t:a", "t:c", "w:c.x"}));
  EXPECT_EQ(b.Of(FromA({b.Sub(inner(), SubqueryUse::kMember, {b.Col(0, 0)})})),
            (Tokens{"cmd:select", "t:a", "t:c", "w:a.x", "w:c.x", "w:c.y"}));
  Query* filter = FromA({});
  filter->conditions.Add(b.Op({b.Col(0, 1), b.Sub(inner())}));
  EXPECT_EQ(b.Of(filter), (Tokens{"cmd:select", "t:a", "t:c", "w:a.y", "w:c.x", "w:c.y"}));
  Query* order = FromA({});
  order->order_by.Add(b.Sub(inner()));
  EXPECT_EQ(b.Of(order), (Tokens{"cmd:select", "o:c.y", "t:a", "t:c", "w:c.x", "w:c.y"}));
}

TEST_F(FlowTest, SetOperationsFollowEveryArm) {
  Query* left = FromA({b.Col(0, 0), b.Col(0, 1)});
  left->conditions.Add(b.Op({b.Col(0, 2)}));
  Query* right = b.Select({b.Col(0, 0), b.Col(0, 1)});
  b.From(right, c);
  Query* q = b.Union({left, right});
  q->order_by.Add(b.Output(1));
  q->limit = true;
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "l:a.y", "l:c.y", "o:a.y", "o:c.y", "p:a.x", "p:a.y", "p:c.x", "p:c.y",
                             "t:a", "t:c", "w:a.z"}));
  Query* inner_left = FromA({b.Col(0, 0), b.Col(0, 1)});
  Query* outer = b.Select({b.Col(0, 1)});
  b.From(outer, b.Union({inner_left, b.Union({b.Select({b.Constant(), b.Constant()})})}));
  EXPECT_EQ(b.Of(outer), (Tokens{"cmd:select", "p:a.y", "t:a"}));
}

TEST_F(FlowTest, CtesCountWhenUsed) {
  Query* q = b.Select({b.Col(0, 0), b.Col(1, 1)});
  b.With(q, FromA({b.Col(0, 0), b.Col(0, 1), b.Col(0, 2)}));
  Query* unused = b.Select({b.Col(0, 0)});
  b.From(unused, c);
  unused->conditions.Add(b.Op({b.Col(0, 1)}));
  b.With(q, unused);
  b.FromCte(q, 0);
  b.FromCte(q, 0);
  q->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "j:a.x", "p:a.x", "p:a.y", "t:a"}));
}

TEST_F(FlowTest, CtesSeeTheQueriesAroundTheirOwner) {
  // SELECT (WITH w AS (SELECT a.y) SELECT v.y FROM (SELECT y FROM w) v) FROM a
  Query* cte = b.Select({b.Col(0, 1, 2)});
  Query* derived = b.Select({b.Col(0, 0)});
  b.FromCte(derived, 0, 1);
  Query* scalar = b.Select({b.Col(0, 0)});
  b.With(scalar, cte);
  b.From(scalar, derived);
  EXPECT_EQ(b.Of(FromA({b.Sub(scalar)})), (Tokens{"cmd:select", "p:a.y", "t:a"}));
}

// WITH RECURSIVE up AS (SELECT x, y FROM a WHERE x = 9 UNION ALL SELECT s.x, s.y FROM a s JOIN up ON s.x = up.y)
// SELECT x FROM up
TEST_F(FlowTest, RecursiveCtesEnd) {
  Query* base = FromA({b.Col(0, 0), b.Col(0, 1)});
  base->conditions.Add(b.Equal(b.Col(0, 0), b.Constant()));
  Query* step = FromA({b.Col(0, 0), b.Col(0, 1)});
  b.FromCte(step, 0, 2);
  step->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 1)));
  Query* q = b.Select({b.Col(0, 0)});
  b.With(q, b.Union({base, step}));
  b.FromCte(q, 0);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "j:a.x", "j:a.y", "p:a.x", "t:a", "w:a.x"}));
}

TEST_F(FlowTest, RecursiveColumnThatFeedsItself) {
  Query* base = FromA({b.Col(0, 0)});
  Query* step = b.Select({b.Op({b.Col(0, 0), b.Col(0, 0)})});
  b.FromCte(step, 0, 2);
  Query* q = b.Select({b.Aggregate("max", {b.Col(0, 0)})});
  b.With(q, b.Union({base, step}));
  b.FromCte(q, 0);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "f:max(a.x)", "p:a.x", "t:a"}));
}

TEST_F(FlowTest, FunctionsInFromPassTheirArgumentsOn) {
  Query* used = FromA({});
  b.From(used, RangeKind::kFunction, {b.Col(0, 0), b.Col(0, 1)});
  used->conditions.Add(b.Op({b.Col(1, 3)}));
  EXPECT_EQ(b.Of(used), (Tokens{"cmd:select", "t:a", "w:a.x", "w:a.y"}));
  Query* unused = FromA({});
  b.From(unused, RangeKind::kFunction, {b.Col(0, 0)});
  b.From(unused, RangeKind::kFunction, {b.Col(1, 0)});
  EXPECT_EQ(b.Of(unused), (Tokens{"cmd:select", "p:a.x", "t:a"}));
}

TEST_F(FlowTest, ValuesAreFollowedColumnByColumn) {
  Query* scalar = FromA({b.Col(0, 1)});
  Query* q = b.Select({b.Col(0, 1)});
  b.From(q, RangeKind::kValues, {b.Op({b.Sub(FromA({b.Col(0, 0)}))}), b.Op({b.Sub(scalar)})});
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "p:a.y", "t:a"}));
  Query* all = b.Select({b.Row(0)});
  b.From(all, RangeKind::kValues, {b.Sub(FromA({b.Col(0, 0)})), b.Sub(FromA({b.Col(0, 2)}))});
  EXPECT_EQ(b.Of(all), (Tokens{"cmd:select", "p:a.x", "p:a.z", "t:a"}));
}

TEST_F(FlowTest, UnresolvedNamesStayAsWritten) {
  Relation* nosuch = b.Table("nosuch", {"col"});
  Query* q = b.Select({b.Col(0, 0)});
  b.From(q, nosuch);
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "p:nosuch.col", "t:nosuch"}));
  Query* unknown = b.Select({b.Col(0, 0), b.Aggregate("count")});
  b.From(unknown, RangeKind::kUnknown);
  unknown->ranges.first->relation = nosuch;
  EXPECT_EQ(b.Of(unknown), (Tokens{"cmd:select", "f:count(*)", "p:nosuch.col", "t:nosuch"}));
}

TEST_F(FlowTest, BrokenReferencesGiveNothing) {
  Query* q = FromA({b.Col(9, 0), b.Col(0, 99), b.Col(0, -1), b.Col(0, 0, 5), b.Output(-1), b.Row(-1), b.Sub(nullptr)});
  b.FromCte(q, 3);
  q->conditions.Add(b.Equal(b.Col(0, 99), b.Col(1, 0)));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "t:a"}));
}

TEST_F(FlowTest, ViewsSharedByTwoItemsAreFollowedTwice) {
  Query* view = FromA({b.Col(0, 0), b.Col(0, 1)});
  Query* q = b.Select({b.Col(0, 0), b.Col(1, 1)});
  b.From(q, view);
  b.From(q, view);
  q->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "j:a.x", "p:a.x", "p:a.y", "t:a"}));
}

}  // namespace
}  // namespace privacy_score
