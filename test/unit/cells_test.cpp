/*
 * cells_test.cpp - over how few rows an aggregate may be taken.
 */
#include "core/statement/cells.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class CellsTest : public ::testing::Test {
 protected:
  // The e:, m:, n: tokens and what is projected.
  std::vector<std::string> Told(Query* query) {
    std::vector<std::string> told;
    for (const std::string& token : Builder::Of(query))
      if (std::string_view("empn").find(token[0]) != std::string_view::npos && token[1] == ':') told.push_back(token);
    return told;
  }
  // SELECT sum(pay) FROM staff WHERE ...
  Query* SumWhere(Exprs conditions) {
    Query* query = b.Select({b.Aggregate("sum", {b.Col(0, 2)})});
    b.From(query, staff);
    for (Expr* condition : conditions) query->conditions.Add(condition);
    return query;
  }
  Limit Number(bool lower, double number, bool strict = false) {
    Limit limit;
    limit.kind = Limit::kNumber;
    limit.lower = lower;
    limit.strict = strict;
    limit.number = number;
    return limit;
  }
  Expr* Bounded(Expr* column, const Limit& limit) {
    Expr* expr = b.Op({column});
    limits.push_back(std::make_unique<Limit>(limit));
    expr->limit = limits.back().get();
    return expr;
  }
  Expr* Pinned(Expr* column, Pins pins) {
    Expr* expr = b.Op({column});
    expr->pins = pins;
    return expr;
  }

  Builder b;
  std::vector<std::unique_ptr<Limit>> limits;
  Relation* staff = b.Table("public.staff", {"id", "job", "pay"}, {0});
  using Names = std::vector<std::string>;
};

TEST_F(CellsTest, TakesEqualitiesWhereverTheyStand) {
  EXPECT_EQ(Told(SumWhere({b.Equal(b.Col(0, 1), b.Constant())})), Names{"e:public.staff.job"});
  EXPECT_EQ(Told(SumWhere({b.Op({b.Equal(b.Constant(), b.Op({b.Col(0, 1)})), b.Col(0, 2)})})),
            Names{"e:public.staff.job"});
  EXPECT_EQ(Told(SumWhere({Pinned(b.Col(0, 1), Pins::kColumn)})), Names{"e:public.staff.job"});
  EXPECT_EQ(Told(SumWhere({b.Op({b.Col(0, 1)})})), Names{});
  Query* query = b.Select({b.Aggregate("avg", {b.Op({b.Equal(b.Col(0, 0), b.Constant()), b.Col(0, 2)})})});
  b.From(query, staff);
  EXPECT_EQ(Told(query), Names{"e:public.staff.id"});
  query->outputs.first->function = "max";  // shows what it is given
  EXPECT_EQ(Told(query), (Names{"p:public.staff.id", "p:public.staff.pay"}));
}

TEST_F(CellsTest, TakesUnlikenessOfKeysOnly) {
  EXPECT_EQ(Told(SumWhere({Pinned(b.Col(0, 0), Pins::kKey), Pinned(b.Col(0, 1), Pins::kKey)})),
            Names{"e:public.staff.id"});
}

TEST_F(CellsTest, TakesRangesThatLeaveOneValue) {
  EXPECT_EQ(Told(SumWhere({Bounded(b.Col(0, 1), Number(true, 7)), Bounded(b.Col(0, 1), Number(false, 7))})),
            Names{"e:public.staff.job"});
  EXPECT_EQ(Told(SumWhere({Bounded(b.Col(0, 1), Number(true, 6, true)), Bounded(b.Col(0, 1), Number(false, 8, true))})),
            Names{"e:public.staff.job"});
  EXPECT_EQ(Told(SumWhere({Bounded(b.Col(0, 1), Number(true, 7)), Bounded(b.Col(0, 1), Number(false, 8))})), Names{});
  EXPECT_EQ(Told(SumWhere({Bounded(b.Col(0, 1), Number(true, 7))})), Names{});
  Limit lower, upper;
  lower.kind = upper.kind = Limit::kParameter;
  lower.lower = true;
  lower.parameter = 1;
  upper.parameter = 2;
  EXPECT_EQ(Told(SumWhere({Bounded(b.Col(0, 1), lower), Bounded(b.Col(0, 1), upper)})), Names{});
  EXPECT_EQ(Told(SumWhere({Bounded(b.Col(0, 0), lower), Bounded(b.Col(0, 0), upper)})), Names{"e:public.staff.id"});
  upper.parameter = 1;
  EXPECT_EQ(Told(SumWhere({Bounded(b.Col(0, 1), lower), Bounded(b.Col(0, 1), upper)})), Names{"e:public.staff.job"});
  // Turned so that one side is enough.
  EXPECT_EQ(Told(SumWhere({Bounded(b.Op({b.Col(0, 0)}), Number(false, 1, true))})), Names{"e:public.staff.id"});
}

TEST_F(CellsTest, TakesKeysThatAConditionHides) {
  EXPECT_EQ(Told(SumWhere({b.Op({b.Op({b.Op({b.Col(0, 0)})})})})), Names{"e:public.staff.id"});
  EXPECT_EQ(Told(SumWhere({b.Op({b.Op({b.Op({b.Col(0, 1)})})})})), Names{});
  EXPECT_EQ(Told(SumWhere({b.Op({b.Col(0, 0)})})), Names{});
  Expr* test = b.Op({b.Col(0, 0)});
  test->null_test = true;
  EXPECT_EQ(Told(SumWhere({b.Op({test, b.Col(0, 1)})})), Names{});
}

TEST_F(CellsTest, TakesEquatedColumnsAndRowsFromElsewhere) {
  Relation* pay = b.Table("public.pay", {"staff_id", "amount"});
  const auto joined = [&](bool known) {
    Query* query = b.Select({b.Aggregate("sum", {b.Col(1, 1)})});
    b.From(query, staff);
    b.From(query, pay);
    query->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
    if (known) query->conditions.Add(b.Equal(b.Col(0, 0), b.Constant()));
    return query;
  };
  EXPECT_EQ(Told(joined(false)), Names{});
  EXPECT_EQ(Told(joined(true)), (Names{"e:public.pay.staff_id", "e:public.staff.id"}));
  Query* inner = b.Select({b.Aggregate("sum", {b.Col(0, 1)})});
  b.From(inner, pay);
  inner->conditions.Add(b.Op({b.Col(0, 0), b.Col(0, 0, 1)}));
  Query* outer = b.Select({b.Sub(inner)});
  b.From(outer, staff);
  EXPECT_EQ(Told(outer), Names{"e:public.pay.staff_id"});
}

TEST_F(CellsTest, TakesWhatIsEquatedWithGroups) {
  Relation* numbers = b.Table("public.numbers", {"n", "label", "code"});
  b.AddKey(numbers, {1});
  b.AddKey(numbers, {0, 2});
  // SELECT sum(pay) FROM staff, numbers WHERE join GROUP BY numbers.group, ...
  const auto grouped = [&](Expr* join, std::initializer_list<int> groups) {
    Query* query = SumWhere({join});
    b.From(query, numbers);
    for (const int group : groups) query->group_by.Add(b.Op({b.Col(1, group)}));
    return query;
  };
  const Names key = {"e:public.staff.id"};
  const auto equal = [&] { return b.Equal(b.Col(0, 0), b.Op({b.Col(1, 0)})); };
  EXPECT_EQ(Told(grouped(equal(), {0})), key);
  EXPECT_EQ(Told(grouped(equal(), {2})), Names{});
  // A whole key names the row, part of one does not.
  EXPECT_EQ(Told(grouped(equal(), {1})), (Names{"e:public.numbers.n", "e:public.staff.id"}));
  EXPECT_EQ(Told(grouped(b.Equal(b.Col(0, 1), b.Col(1, 1)), {0, 2})),
            (Names{"e:public.numbers.label", "e:public.staff.job"}));
  EXPECT_EQ(Told(grouped(b.Equal(b.Col(0, 1), b.Col(1, 1)), {2})), Names{});
  // Ranges tell keys only, where their end goes from group to group.
  EXPECT_EQ(Told(grouped(b.Op({b.Col(0, 0), b.Col(1, 0)}), {0})), key);
  EXPECT_EQ(Told(grouped(b.Op({b.Col(0, 0), b.Col(1, 0)}), {2})), Names{});
  EXPECT_EQ(Told(grouped(b.Op({b.Col(0, 1), b.Col(1, 0)}), {0})), Names{});
  // A row by a constant key is no series of ends.
  Query* constant = grouped(b.Op({b.Col(0, 0), b.Col(1, 0)}), {});
  constant->conditions.Add(b.Equal(b.Col(1, 1), b.Constant()));
  EXPECT_EQ(Told(constant), Names{"e:public.numbers.label"});
}

TEST_F(CellsTest, TakesValuesOfSubqueriesForConstants) {
  Relation* numbers = b.Table("public.numbers", {"n", "label"});
  // (SELECT column FROM numbers [WHERE numbers.n = staff.id])
  const auto value = [&](int column, bool correlated) {
    Query* inner = b.Select({b.Col(0, column)});
    b.From(inner, numbers);
    if (correlated) inner->conditions.Add(b.Equal(b.Col(0, 0), b.Col(0, 0, 1)));
    return b.Sub(inner);
  };
  const Names key = {"e:public.staff.id"};
  EXPECT_EQ(Told(SumWhere({b.Equal(b.Col(0, 0), value(0, false))})), key);
  EXPECT_EQ(Told(SumWhere({b.Equal(value(0, false), b.Op({b.Col(0, 0)}))})), key);
  // The look-up of a row is compared: as good as the row's own column.
  const Names both = {"e:public.numbers.n", "e:public.staff.id"};
  EXPECT_EQ(Told(SumWhere({b.Equal(value(1, true), b.Constant())})), both);
  EXPECT_EQ(Told(SumWhere({Pinned(value(1, true), Pins::kColumn)})), both);
  EXPECT_EQ(Told(SumWhere({b.Equal(b.Col(0, 1), value(1, true))})), Names{"e:public.staff.job"});
  Query* query = SumWhere({});
  query->group_by.Add(value(1, true));
  EXPECT_EQ(Told(query), key);
  // Whichever side of an order reads the row is what is bounded.
  const auto bounded = [&](Expr* left, Expr* right, bool lower) {
    Expr* expr = b.Op({left, right});
    Limit limit;
    limit.lower = lower;
    limits.push_back(std::make_unique<Limit>(limit));
    expr->limit = limits.back().get();
    return expr;
  };
  EXPECT_EQ(Told(SumWhere({bounded(value(0, false), b.Col(0, 0), true), bounded(b.Col(0, 0), value(0, false), false)})),
            key);
  EXPECT_EQ(Told(SumWhere({bounded(value(0, false), b.Col(0, 0), true)})), Names{});
}

TEST_F(CellsTest, ShowsWhatIsPicked) {
  const Names shown = {"p:public.staff.pay"};
  Query* inner = b.Select({b.Col(0, 2), b.Window("row_number")});
  b.From(inner, staff);
  const auto over = [&] {
    Query* query = b.Select({b.Aggregate("sum", {b.Col(0, 0)})});
    b.From(query, inner);
    return query;
  };
  EXPECT_EQ(Told(over()), Names{});
  inner->limit = true;
  EXPECT_EQ(Told(over()), shown);
  inner->limit = false;
  Query* filtered = over();
  filtered->conditions.Add(b.Equal(b.Col(0, 1), b.Constant()));
  EXPECT_EQ(Told(filtered), shown);
  inner->ranges.first->sampled = true;
  EXPECT_EQ(Told(over()), shown);
  Query* grouped = SumWhere({});
  grouped->group_by.Add(b.Constant());
  grouped->limit = true;  // of groups
  EXPECT_EQ(Told(grouped), Names{});
  grouped->group_by.first->varies = true;
  EXPECT_EQ(Told(grouped), shown);
}

TEST_F(CellsTest, ShowsColumnsOfOuterRowsAndWhatIsPacked) {
  Query* inner = b.Select({b.Aggregate("sum", {b.Op({b.Col(0, 2, 1), b.Col(0, 1)})})});
  b.From(inner, staff);
  Query* outer = b.Select({b.Sub(inner)});
  b.From(outer, staff);
  EXPECT_EQ(Told(outer), (Names{"p:public.staff.job", "p:public.staff.pay"}));
  for (const char* name : {"sum", "count"}) {
    Expr* power = b.Op({b.Col(0, 0)});
    power->packs = true;
    Query* query = b.Select({b.Aggregate(name, {b.Op({power, b.Col(0, 2)})})});
    b.From(query, staff);
    const Names packed = {"p:public.staff.id", "p:public.staff.pay"};
    EXPECT_EQ(Told(query), std::string_view(name) == "sum" ? packed : Names{});
  }
}

TEST_F(CellsTest, TellsMonthsAndNestedGroupsFromCells) {
  Query* months = SumWhere({});
  Expr* month = b.Op({b.Col(0, 1)});
  month->time_part = TimePart::kMonths;
  months->group_by.Add(month);
  EXPECT_EQ(Told(months), Names{"m:public.staff.job"});
  months->group_by.Add(b.Col(0, 1));
  EXPECT_EQ(Told(months), Names{});
  Query* inner = b.Select({b.Col(0, 1), b.Aggregate("sum", {b.Col(0, 2)})});
  b.From(inner, staff);
  inner->group_by.Add(b.Col(0, 0));
  inner->group_by.Add(b.Col(0, 1));
  Query* outer = b.Select({b.Aggregate("avg", {b.Col(0, 1)})});
  b.From(outer, inner);
  outer->group_by.Add(b.Col(0, 0));
  EXPECT_EQ(Told(outer), Names{"n:public.staff.id"});
}

TEST(LeavesOneTest, ComparesOnlyWhatIsOfOneKind) {
  Limit lower, upper;
  EXPECT_FALSE(LeavesOne(lower, upper));
  lower.kind = upper.kind = Limit::kText;
  EXPECT_TRUE(LeavesOne(lower, upper));
  upper.hash = 1;
  EXPECT_FALSE(LeavesOne(lower, upper));
  lower.kind = Limit::kNumber;
  EXPECT_FALSE(LeavesOne(lower, upper));
  upper.kind = Limit::kNumber;
  lower.number = upper.number = 2.5;
  EXPECT_TRUE(LeavesOne(lower, upper));
  lower.number = 8;
  upper.number = 6;
  EXPECT_TRUE(LeavesOne(lower, upper));
}

}  // namespace
}  // namespace privacy_score
