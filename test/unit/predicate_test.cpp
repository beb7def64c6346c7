/*
 * predicate_test.cpp - the normal form of trees that are made by hand; sqlparse_predicate_test.cpp has those of texts.
 */
#include "core/statement/predicate.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>

#include "sanitizers.hpp"

namespace privacy_score {
namespace {

// A predicate over columns a and b with the constants 1, 2 and NULL; nodes are added by the test.
Predicate Columns(bool arrays) {
  Predicate predicate;
  predicate.columns = {{"a", "r.a", "a int4", arrays}, {"b", "r.b", "b int4", arrays}};
  predicate.constants = {{ConstantKind::kNumber, "1", {}, "one"},
                         {ConstantKind::kNumber, "2", {}, "two"},
                         {ConstantKind::kNull, {}, {}, {}}};
  return predicate;
}

void AddLeaf(Predicate* predicate, PredicateLeaf leaf) {
  predicate->leaves.push_back(std::move(leaf));
  predicate->nodes.push_back({PredicateKind::kLeaf, {}, predicate->leaves.size() - 1});
}

void Add(Predicate* predicate, PredicateKind kind, std::vector<std::size_t> children) {
  predicate->nodes.push_back({kind, std::move(children), 0});
}

TEST(Predicate, NothingIsTrue) {
  const NormalPredicate normal = Normalise(Predicate(), 1);
  EXPECT_EQ(normal.sql, "true");
  EXPECT_TRUE(normal.parameters.empty());
}

TEST(Predicate, ParametersAreNumberedFromWhereTheyAreAskedTo) {
  Predicate predicate = Columns(true);
  AddLeaf(&predicate, {LeafKind::kCompare, Comparison::kLess, 0, 0, {0}});
  const NormalPredicate normal = Normalise(predicate, 3);
  EXPECT_EQ(normal.sql, "r.a OPERATOR(pg_catalog.<) $3");
  EXPECT_EQ(normal.shape, "a < $3");
  ASSERT_EQ(normal.parameters.size(), 1U);
  EXPECT_EQ(normal.parameters[0].constants, std::vector<std::size_t>{0});
}

TEST(Predicate, AListIsOneParameterWhereItsTypeHasArrays) {
  for (const bool arrays : {true, false}) {
    Predicate predicate = Columns(arrays);
    AddLeaf(&predicate, {LeafKind::kAmong, Comparison::kEqual, 0, 0, {1, 2, 0, 1}});
    const NormalPredicate normal = Normalise(predicate, 1);
    EXPECT_EQ(normal.parameters.size(), arrays ? 1U : 2U);
    EXPECT_EQ(normal.sql, arrays ? "r.a OPERATOR(pg_catalog.=) ANY ($1)"
                                 : "(r.a OPERATOR(pg_catalog.=) $1 OR r.a OPERATOR(pg_catalog.=) $2)");
    EXPECT_EQ(normal.shape, arrays ? "a IN ($1)" : "a IN ($1, $2)");
  }
}

TEST(Predicate, SteadilyEveryComparisonIsEvaluated) {
  Predicate predicate = Columns(false);
  AddLeaf(&predicate, {LeafKind::kCompare, Comparison::kLess, 0, 0, {0}});
  AddLeaf(&predicate, {LeafKind::kAmong, Comparison::kEqual, 1, 0, {0, 1}});
  AddLeaf(&predicate, {LeafKind::kIsNull, Comparison::kEqual, 1, 0, {}});
  Add(&predicate, PredicateKind::kAnd, {0, 1, 2});
  const NormalPredicate plain = Normalise(predicate, 1);
  const NormalPredicate steady = Normalise(predicate, 1, true);
  const std::string list =
      "pg_catalog.boolor_statefunc((r.b OPERATOR(pg_catalog.=) $1) IS TRUE, (r.b OPERATOR(pg_catalog.=) $2) IS TRUE)";
  EXPECT_EQ(steady.sql, "pg_catalog.booland_statefunc((" + list +
                            ") IS TRUE, pg_catalog.booland_statefunc((r.a OPERATOR(pg_catalog.<) $3) IS TRUE, (r.b IS "
                            "NULL) IS TRUE))");
  EXPECT_EQ(steady.canonical, plain.canonical);
  EXPECT_EQ(steady.shape, plain.shape);
  EXPECT_EQ(steady.parameters.size(), plain.parameters.size());
}

TEST(Predicate, NullInAListMattersOnlyToNotIn) {
  Predicate predicate = Columns(true);
  AddLeaf(&predicate, {LeafKind::kAmong, Comparison::kEqual, 0, 0, {0, 2}});
  EXPECT_EQ(Normalise(predicate, 1).sql, "r.a OPERATOR(pg_catalog.=) $1");
  Add(&predicate, PredicateKind::kNot, {0});
  EXPECT_EQ(Normalise(predicate, 1).sql, "false");
}

TEST(Predicate, NotOfNullIsNotTrue) {
  Predicate predicate = Columns(true);
  Add(&predicate, PredicateKind::kNull, {});
  EXPECT_EQ(Normalise(predicate, 1).sql, "false");
  Add(&predicate, PredicateKind::kNot, {0});
  EXPECT_EQ(Normalise(predicate, 1).sql, "false");
}

TEST(Predicate, TheSamePartsInAnotherOrderAreTheSame) {
  std::string first;
  for (const bool swapped : {false, true}) {
    Predicate predicate = Columns(true);
    AddLeaf(&predicate, {LeafKind::kIsNull, Comparison::kEqual, swapped ? 1U : 0U, 0, {}});
    AddLeaf(&predicate, {LeafKind::kIsNull, Comparison::kEqual, swapped ? 0U : 1U, 0, {}});
    Add(&predicate, PredicateKind::kOr, {0, 1, 0});
    const NormalPredicate normal = Normalise(predicate, 1);
    EXPECT_EQ(normal.sql, "r.a IS NULL OR r.b IS NULL");
    if (!swapped) first = normal.canonical;
    EXPECT_EQ(normal.canonical, first);
  }
}

TEST(Predicate, ValuesOfOtherLengthsCannotBeMistaken) {
  Predicate predicate = Columns(true);
  predicate.constants[0].value = "1:x";
  predicate.constants[1].value = "x1:x";
  AddLeaf(&predicate, {LeafKind::kAmong, Comparison::kEqual, 0, 0, {0, 1}});
  const std::string canonical = Normalise(predicate, 1).canonical;
  predicate.constants[0].value = "1:x4:x1:x";
  predicate.leaves[0].constants = {0};
  EXPECT_NE(Normalise(predicate, 1).canonical, canonical);
}

// AND and OR by turns: (a = 1 OR a IS NULL) AND b IS NULL OR a IS NULL ...
Predicate Nested(int levels, std::string value) {
  Predicate predicate = Columns(true);
  predicate.constants[0].value = std::move(value);
  AddLeaf(&predicate, {LeafKind::kCompare, Comparison::kEqual, 0, 0, {0}});
  AddLeaf(&predicate, {LeafKind::kIsNull, Comparison::kEqual, 0, 0, {}});
  AddLeaf(&predicate, {LeafKind::kIsNull, Comparison::kEqual, 1, 0, {}});
  std::size_t inner = 0;
  for (int level = 0; level < levels; ++level) {
    Add(&predicate, level % 2 == 0 ? PredicateKind::kOr : PredicateKind::kAnd,
        {inner, static_cast<std::size_t>(1 + level % 2)});
    inner = predicate.nodes.size() - 1;
  }
  return predicate;
}

TEST(Predicate, LevelsAreKeptApart) {
  EXPECT_EQ(Normalise(Nested(4, "one"), 1).sql,
            "r.b IS NULL AND ((r.b IS NULL AND (r.a OPERATOR(pg_catalog.=) $1 OR r.a IS NULL)) OR r.a IS NULL)");
  // Parts that turn out to be the same, or nothing, at several levels.
  Predicate predicate = Nested(4, "one");
  const std::size_t all = predicate.nodes.size() - 1;
  Add(&predicate, PredicateKind::kAnd, {all, all});
  Add(&predicate, PredicateKind::kOr, {predicate.nodes.size() - 1});
  EXPECT_EQ(Normalise(predicate, 1).canonical, Normalise(Nested(4, "one"), 1).canonical);
}

// The canonical text of each level has the whole constant; they are not all kept.
TEST(PredicateDeathTest, TakesNoMemoryByDepth) {
  if (testing_support::kSanitized) GTEST_SKIP() << "memory cannot be limited";
  constexpr rlim_t kMegabyte = 1U << 20U;
  const auto normalise = [] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * 4096 + 100 * kMegabyte;
    const rlimit limit = {most, most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) std::exit(2);
    const NormalPredicate normal = Normalise(Nested(400, std::string(kMegabyte, 'x')), 1);
    std::exit(normal.canonical.size() > kMegabyte ? 0 : 1);
  };
  EXPECT_EXIT(normalise(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace privacy_score
