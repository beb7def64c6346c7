/*
 * column_classes_test.cpp - what is known of columns that are equated.
 */
#include "core/statement/column_classes.hpp"

#include <gtest/gtest.h>

#include <set>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class ColumnClassesTest : public ::testing::Test {
 protected:
  ColumnClassesTest() {
    b.AddKey(people, {0});
    query = b.Select();
    b.From(query, people);
    b.From(query, numbers);
    scope = scopes.ScopeOf(query, nullptr);
  }
  ItemColumn At(int range, int column) { return {{scope, range}, column}; }
  std::set<std::pair<int, int>> Naming() {
    std::set<std::pair<int, int>> places;
    for (const ItemColumn& column : classes.Naming()) places.emplace(column.item.range, column.column);
    return places;
  }

  using Places = std::set<std::pair<int, int>>;
  Builder b;
  Relation* people = b.Table("public.people", {"id", "age"});
  Relation* numbers = b.Table("public.numbers", {"n", "m"});
  Query* query = nullptr;
  Scopes scopes;
  Scope* scope = nullptr;
  ColumnClasses classes;
};

TEST_F(ColumnClassesTest, PinnedColumnsNameWithTheirClass) {
  classes.Equate(At(0, 1), At(1, 0));
  classes.Pin({At(1, 0)});
  EXPECT_EQ(Naming(), (Places{{0, 1}, {1, 0}}));
}

TEST_F(ColumnClassesTest, GroupsNameWhatTheyAreEquatedWith) {
  classes.Equate(At(0, 1), At(1, 0));
  classes.Group({At(1, 0)});
  EXPECT_EQ(Naming(), (Places{{0, 1}}));
}

TEST_F(ColumnClassesTest, KeysNameTheirRow) {
  classes.Equate(At(0, 1), At(1, 1));
  classes.Group({At(0, 0)});
  EXPECT_EQ(Naming(), (Places{{0, 1}, {1, 1}}));
  EXPECT_TRUE(IsKey(At(0, 0)));
  EXPECT_FALSE(IsKey(At(1, 0)));
}

TEST_F(ColumnClassesTest, RangesToGroupsNameKeys) {
  classes.JoinByRange({At(0, 0), At(0, 1), At(1, 0)});
  classes.Group({At(1, 0)});
  EXPECT_EQ(Naming(), (Places{{0, 0}}));
}

TEST_F(ColumnClassesTest, RangesWithinARowNameNothing) {
  classes.JoinByRange({At(0, 0), At(0, 1)});
  classes.Group({At(0, 1)});
  EXPECT_EQ(Naming(), Places{});
}

}  // namespace
}  // namespace privacy_score
