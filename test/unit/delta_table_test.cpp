/*
 * delta_table_test.cpp - what the table gives is delta* of the pair, in whatever order it is asked for.
 */
#include "core/scoring/delta_table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

constexpr std::size_t kClasses = 12;

// A table of which some rates are known.
std::shared_ptr<const Model> SomeModel(std::mt19937& random) {
  TestTable table{"public.t", {"a", "b", "c", "d"}, {}};
  for (int row = 0; row < 12; ++row) table.rows.push_back({row % 2, row % 3, static_cast<int>(random() % 4), row});
  ModelRows model = ModelOf(table);
  for (std::size_t i = model.rates.size(); i-- > 0;)
    if (random() % 3 == 0) model.rates.erase(model.rates.begin() + static_cast<std::ptrdiff_t>(i));
  return std::make_shared<const Model>(Model::Parse(model.Wire()));
}

ClassId RandomClass(PairScorer& pairs, std::mt19937& random) {
  AttributeSet set;
  for (AttributeId id = 0; id < 4; ++id)
    if (random() % 2 != 0) set.push_back(id);
  return pairs.Intern(set);
}

TEST(DeltaTable, IsDeltaOfThePair) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto model = SomeModel(random);
    PairScorer pairs(model, "analyst", {});
    DeltaTable table(pairs, random() % 2 == 0 ? 1000 : 0);
    std::vector<ClassId> columns;
    for (std::size_t i = 0; i < kClasses; ++i) {
      const ClassId id = i == 0 ? kUnparsedClass : RandomClass(pairs, random);
      const DeltaTable::Column column = table.ColumnOf(id);
      EXPECT_EQ(table.ColumnOf(id), column);
      if (column == columns.size()) columns.push_back(id);
      EXPECT_EQ(columns[column], id) << "one column a class, in the order in which they came";
    }
    for (int i = 0; i < 60; ++i) {
      table.MakeRoom();
      const ClassId id = i == 7 ? kUnparsedClass : RandomClass(pairs, random);
      DeltaTable::Row& row = table.RowOf(id);
      const auto column = static_cast<DeltaTable::Column>(random() % columns.size());
      const RateBounds exact = pairs.Combined(id, columns[column]);
      EXPECT_LE(row.lower[column], exact.lower) << seed;
      EXPECT_EQ(table.Upper(row, column), exact.upper) << seed;
      EXPECT_EQ(table.Upper(row, column), exact.upper) << "the second time, too";
      EXPECT_EQ(row.lower[column], exact.lower) << seed;
      EXPECT_TRUE(exact.exact() || !row.exact) << seed;
      table.Want(row, column);
      EXPECT_TRUE(row.wanted[column]);
    }
  }
}

TEST(DeltaTable, KeepsRowsWhileThereIsRoom) {
  std::mt19937 random(1);
  PairScorer pairs(SomeModel(random), "analyst", {});
  for (const std::size_t most : {std::size_t{0}, std::size_t{1000}}) {
    DeltaTable table(pairs, most);
    table.ColumnOf(kEmptyClass);
    const ClassId id = pairs.Intern({0, 3});
    table.Upper(table.RowOf(id), 0);
    table.Want(table.RowOf(id), 0);
    table.MakeRoom();
    EXPECT_EQ(table.RowOf(id).wanted[0], most > 0);
  }
}

}  // namespace
}  // namespace privacy_score
