/*
 * abstraction_test.cpp - the two written forms of an abstraction.
 */
#include "core/statement/abstraction.hpp"

#include <gtest/gtest.h>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class AbstractionTest : public ::testing::Test {
 protected:
  Builder b;
  Relation* hospital = b.Table("public.hospitaldb", {"firstname", "lastname", "gender", "city", "\"Room No\""}, {0});
  Relation* staff = b.Table("public.staff", {"id", "lastname"}, {0});
};

TEST_F(AbstractionTest, OfNothingIsEmpty) {
  EXPECT_EQ(Abstract({}), Tokens{});
  EXPECT_EQ(PosterForm({}), "{}");
  EXPECT_EQ(Abstract({nullptr, true}), Tokens{"unparsed"});
  EXPECT_EQ(PosterForm({nullptr, true}), "{UNPARSED}");
}

// [Khan, figure 1], first row.
TEST_F(AbstractionTest, WritesThePublishedExample) {
  Query* q = b.Select({b.Col(0, 1), b.Col(0, 2), b.Col(0, 3)});
  b.From(q, hospital);
  q->conditions.Add(b.Op({b.Col(0, 0), b.Constant()}));
  EXPECT_EQ(b.Poster(q), "{SELECT, lastname, gender, city, hospitaldb, firstname_w}");
  EXPECT_EQ(b.Of(q), (Tokens{"cmd:select", "p:public.hospitaldb.city", "p:public.hospitaldb.gender",
                             "p:public.hospitaldb.lastname", "t:public.hospitaldb", "w:public.hospitaldb.firstname"}));
}

TEST_F(AbstractionTest, PosterNamesRepeatedOnesOnceAndEveryKind) {
  Query* q = b.Select(
      {b.Col(0, 1), b.Col(1, 1), b.Col(0, 4), b.Aggregate("count"), b.Aggregate("sum", {b.Col(0, 1), b.Col(1, 1)})});
  b.From(q, hospital);
  b.From(q, staff);
  q->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
  q->group_by.Add(b.Col(0, 1));
  q->order_by.Add(b.Col(0, 4));
  q->limit = true;
  EXPECT_EQ(b.Poster(q),
            "{SELECT, lastname, \"Room No\", hospitaldb, staff, firstname_j, id_j, lastname_g, \"Room No\"_o, "
            "count(*), sum(lastname)}");
}

TEST_F(AbstractionTest, PosterOfAWrite) {
  Query* q = b.Write(Command::kUpdate, hospital);
  b.Assign(q, 3, b.Constant());
  q->conditions.Add(b.Op({b.Col(0, 0)}));
  EXPECT_EQ(b.Poster(q), "{UPDATE, hospitaldb, firstname_w, city_s}");
}

TEST_F(AbstractionTest, PosterKeepsATableCalledLikeAColumn) {
  Relation* notes = b.Table("public.notes", {"notes"});
  Query* q = b.Select({b.Col(0, 0)});
  b.From(q, notes);
  EXPECT_EQ(b.Poster(q), "{SELECT, notes, notes}");
}

TEST_F(AbstractionTest, PosterFollowsTheTextThroughSubqueries) {
  Query* inner = b.Select({b.Col(0, 2), b.Col(0, 1)});
  b.From(inner, hospital);
  Query* q = b.Select({b.Col(1, 1), b.Col(0, 0), b.Col(1, 0)});
  b.From(q, staff);
  b.From(q, inner);
  EXPECT_EQ(b.Poster(q), "{SELECT, lastname, id, gender, staff, hospitaldb}");
}

TEST_F(AbstractionTest, NamesEveryCommand) {
  const std::pair<Command, const char*> kCommands[] = {
      {Command::kSelect, "cmd:select"}, {Command::kInsert, "cmd:insert"}, {Command::kUpdate, "cmd:update"},
      {Command::kDelete, "cmd:delete"}, {Command::kMerge, "cmd:merge"},   {Command::kCopy, "cmd:copy"}};
  for (const auto& [command, word] : kCommands) {
    Query* q = b.Write(command, staff);
    EXPECT_EQ(b.Of(q), (Tokens{word, "t:public.staff"}));
  }
}

TEST_F(AbstractionTest, CatalogsVanish) {
  Relation* pg_class = b.Table("pg_catalog.pg_class", {"relname", "relkind"});
  pg_class->catalog = true;
  Query* only = b.Select({b.Col(0, 0), b.Aggregate("count")});
  b.From(only, pg_class);
  only->conditions.Add(b.Op({b.Col(0, 1)}));
  EXPECT_EQ(b.Of(only), Tokens{});
  EXPECT_EQ(b.Poster(only), "{}");
  Query* mixed = b.Select({b.Col(0, 0), b.Col(1, 1)});
  b.From(mixed, pg_class);
  b.From(mixed, staff);
  mixed->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
  EXPECT_EQ(b.Of(mixed), (Tokens{"cmd:select", "p:public.staff.lastname", "t:public.staff", "w:public.staff.id"}));
}

TEST_F(AbstractionTest, WithoutRelationsIsTheCommandAloneOrNothing) {
  EXPECT_EQ(b.Of(b.Select({b.Constant()})), Tokens{});
  EXPECT_EQ(b.Poster(b.Select()), "{}");
  Query* series = b.Select({b.Aggregate("count"), b.Col(0, 0)});
  b.From(series, RangeKind::kFunction, {b.Constant()});
  EXPECT_EQ(b.Of(series), Tokens{});
  series->calls = true;
  EXPECT_EQ(b.Of(series), Tokens{"cmd:select"});
  EXPECT_EQ(b.Poster(series), "{SELECT}");
  Query* outer = b.Select({b.Col(0, 0)});
  b.From(outer, series);
  EXPECT_EQ(b.Of(outer), Tokens{"cmd:select"});
}

TEST_F(AbstractionTest, UnderLimitZeroNothingIsRead) {
  Statement statement;
  statement.query = b.Select({b.Col(0, 1)});
  b.From(statement.query, staff);
  statement.limited_to_nothing = true;
  EXPECT_EQ(Abstract(statement), Tokens{});
  statement.explained = true;
  EXPECT_EQ(Abstract(statement), (Tokens{"cmd:explain", "t:public.staff"}));
}

}  // namespace
}  // namespace privacy_score
