/*
 * comparisons_test.cpp - which columns are compared with which constants, and the way from plan to execution.
 */
#include "core/statement/comparisons.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "core/base/error.hpp"
#include "core/base/keyed_hash.hpp"
#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class ComparisonsTest : public ::testing::Test {
 protected:
  // The values that each column is compared with in an execution with these parameters, by name.
  using Found = std::map<std::string, std::set<std::uint64_t>>;
  Found Compared(Query* query, const std::vector<ParameterValue>& parameters = {}) {
    StatementConstants constants;
    constants.groups = FindComparisons({query, false});
    const ConstantWords words = Encode(constants);
    Found found;
    Resolve({words.data(), words.size(), parameters.data(), parameters.size()});
    const std::uint64_t* at = groups.data();
    for (std::uint64_t left_groups = *at++; left_groups > 0; --left_groups) {
      std::set<std::string> columns;
      for (std::uint64_t left = *at++; left > 0; --left, at += 2) columns.insert(names.at(at[1]));
      std::set<std::uint64_t> values;
      for (std::uint64_t left = *at++; left > 0; --left)
        for (std::uint64_t size = *at++; size > 0; --size) values.insert(*at++);
      for (const std::string& column : columns)
        if (!values.empty()) found[column].insert(values.begin(), values.end());
    }
    EXPECT_EQ(at, groups.data() + groups.size());
    return found;
  }
  static std::map<std::uint64_t, std::string> Names() {
    std::map<std::uint64_t, std::string> result;
    for (const char* name : {"p.id", "p.name", "v.id", "v.patient_id"}) result[NameHash(name)] = name;
    return result;
  }

  std::uint64_t Resolve(const BoundConstants& bound) {
    std::size_t groups_at = 0;
    const std::uint64_t vector = ResolveVector(bound, &groups_at);
    ResolveGroups(bound, groups_at, groups);
    return vector;
  }

  std::vector<std::uint64_t> groups;  // serves all executions, as in a backend
  Builder b;
  Relation* patients = b.Table("p", {"id", "name"}, {0});
  Relation* visits = b.Table("v", {"id", "patient_id"}, {0});
  const std::map<std::uint64_t, std::string> names = Names();
};

TEST_F(ComparisonsTest, ConstantOnEitherSide) {
  Query* query = b.Select({b.Col(0, 1)});
  b.From(query, patients);
  query->conditions.Add(b.Equal(b.Col(0, 0), b.Constant({b.Known(5)})));
  query->conditions.Add(b.Equal(b.Constant({b.Known(6)}), b.Col(0, 1)));
  EXPECT_EQ(Compared(query), (Found{{"p.id", {5}}, {"p.name", {6}}}));
}

TEST_F(ComparisonsTest, NothingWithoutConstants) {
  EXPECT_TRUE(FindComparisons({nullptr, false}).empty());
  Query* query = b.Select({b.Col(0, 1)});
  b.From(query, patients);
  b.From(query, visits);
  query->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 1)));
  query->conditions.Add(b.Op({b.Col(0, 0)}));
  query->conditions.Add(b.Equal(b.Col(0, 1), b.Constant()));
  EXPECT_TRUE(Compared(query).empty());
}

TEST_F(ComparisonsTest, ListsAndCasts) {
  Query* query = b.Select();
  b.From(query, patients);
  query->conditions.Add(b.In(b.Col(0, 0), {b.Known(1), b.Known(2)}));
  query->conditions.Add(b.Op({b.Equal(b.Cast(b.Cast(b.Col(0, 0))), b.Constant({b.Known(3)}))}));
  EXPECT_EQ(Compared(query), (Found{{"p.id", {1, 2, 3}}}));
  ASSERT_EQ(FindComparisons({query, false})[0].comparisons.size(), 2U);
}

TEST_F(ComparisonsTest, EquatedColumnsShareTheirConstants) {
  Query* query = b.Select();
  b.From(query, patients);
  b.From(query, visits);
  b.From(query, patients);
  query->conditions.Add(b.And({b.Equal(b.Col(0, 0), b.Col(1, 1)), b.Equal(b.Col(1, 1), b.Constant({b.Known(5)}))}));
  query->conditions.Add(b.Equal(b.Col(2, 0), b.Constant({b.Known(7)})));
  const auto groups = FindComparisons({query, false});
  ASSERT_EQ(groups.size(), 2U);  // the two items of one relation are not mixed
  EXPECT_EQ(groups[0].columns.size(), 2U);
  EXPECT_EQ(groups[1].columns.size(), 1U);
  EXPECT_NE(groups[0].columns[0].item, groups[1].columns[0].item);
  EXPECT_EQ(Compared(query), (Found{{"p.id", {5, 7}}, {"v.patient_id", {5}}}));
}

TEST_F(ComparisonsTest, ThroughSubqueriesArmsAndWith) {
  Query* left = b.Select({b.Col(0, 0)});
  b.From(left, patients);
  Query* right = b.Select({b.Col(0, 1)});
  b.From(right, visits);
  Query* cte = b.Select({b.Constant({b.Known(9)})});
  Query* top = b.Select();
  b.With(top, cte);
  b.From(top, b.Union({left, right}));
  b.FromCte(top, 0);
  top->conditions.Add(b.Equal(b.Col(0, 0), b.Col(1, 0)));
  EXPECT_EQ(Compared(top), (Found{{"p.id", {9}}, {"v.patient_id", {9}}}));
}

TEST_F(ComparisonsTest, SubqueriesOfConstants) {
  Query* scalar = b.Select({b.Constant({b.Known(1)})});
  Expr* column = b.Op({});
  column->values.Add(b.Known(2));
  column->values.Add(b.Known(3));
  Query* list = b.Select({b.Col(0, 0)});
  b.From(list, RangeKind::kValues, {column});
  Query* query = b.Select();
  b.From(query, patients);
  query->conditions.Add(b.Equal(b.Col(0, 0), b.Sub(scalar)));
  query->having.Add(b.Sub(list, SubqueryUse::kMember, {b.Col(0, 0)}));
  EXPECT_EQ(Compared(query), (Found{{"p.id", {1, 2, 3}}}));
}

TEST_F(ComparisonsTest, EverywhereInTheStatement) {
  Expr* counted = b.Aggregate("count");
  counted->filter.Add(b.Equal(b.Col(0, 0), b.Constant({b.Known(1)})));
  Query* inner = b.Select({b.Col(0, 1)});
  b.From(inner, visits);
  inner->conditions.Add(b.Equal(b.Col(0, 0, 1), b.Col(0, 1)));
  inner->conditions.Add(b.Equal(b.Col(0, 1), b.Constant({b.Known(2)})));
  Query* query = b.Select(
      {b.Op({b.Op({b.Equal(b.Col(0, 0), b.Constant({b.Known(3)}))})}), counted, b.Sub(inner, SubqueryUse::kExists)});
  b.From(query, patients);
  query->order_by.Add(b.Equal(b.Col(0, 0), b.Constant({b.Known(4)})));
  EXPECT_EQ(Compared(query), (Found{{"p.id", {1, 2, 3, 4}}, {"v.patient_id", {1, 2, 3, 4}}}));
}

TEST_F(ComparisonsTest, Parameters) {
  Value* sum = b.Given(2);
  sum->hash = 77;
  Query* query = b.Select();
  b.From(query, patients);
  query->conditions.Add(b.Equal(b.Col(0, 0), b.Constant({b.Given(1)})));
  query->conditions.Add(b.In(b.Col(0, 0), {b.Given(3, true), b.Known(4)}));
  query->conditions.Add(b.Equal(b.Col(0, 1), b.Constant({sum})));
  const std::uint64_t elements[] = {21, 22};
  const std::vector<ParameterValue> given = {
      {1, false, 11, nullptr, 0}, {2, false, 12, nullptr, 0}, {3, false, 13, elements, 2}};
  EXPECT_EQ(Compared(query, given), (Found{{"p.id", {4, 11, 21, 22}}, {"p.name", {FoldHash(77, 12)}}}));
  // NULL and what is not given compare with nothing.
  EXPECT_EQ(Compared(query, {{1, true, 0, nullptr, 0}}), (Found{{"p.id", {4}}}));
}

// As many parameters as the protocol allows: each is found at once, in whatever order they are asked for.
TEST_F(ComparisonsTest, ParametersAreFoundInAnyOrder) {
  constexpr int kMost = 65535;
  Query* query = b.Select();
  b.From(query, patients);
  Expr* list = b.In(b.Col(0, 0), {});
  for (int number = 1; number <= kMost; number += 2) list->values.Add(b.Given(number));
  for (int number = kMost - 1; number > 0; number -= 2) list->values.Add(b.Given(number));
  list->values.Add(b.Given(kMost + 1));
  query->conditions.Add(list);
  std::vector<ParameterValue> given;
  std::set<std::uint64_t> expected;
  for (int number = 1; number <= kMost; ++number) {
    const bool is_null = number % 7 == 0;
    const auto hash = static_cast<std::uint64_t>(1000 + number);
    given.push_back({number, is_null, hash, nullptr, 0});
    if (!is_null) expected.insert(hash);
  }
  EXPECT_EQ(Compared(query, given), (Found{{"p.id", expected}}));
}

TEST_F(ComparisonsTest, TheVectorHasConstantsAndParameters) {
  const auto vector = [this](std::uint64_t constants, std::uint64_t first, std::uint64_t second) {
    StatementConstants statement;
    statement.vector = constants;
    statement.parameters = {1, 2};
    const ConstantWords words = Encode(statement);
    const ParameterValue given[] = {{1, first == 0, first, nullptr, 0}, {2, second == 0, second, nullptr, 0}};
    return Resolve({words.data(), words.size(), given, 2});
  };
  std::set<std::uint64_t> distinct;
  for (std::uint64_t constants : {0U, 1U})
    for (std::uint64_t first : {0U, 1U, 2U})
      for (std::uint64_t second : {0U, 1U, 2U}) distinct.insert(vector(constants, first, second));
  EXPECT_EQ(distinct.size(), 18U);
  EXPECT_EQ(vector(1, 2, 3), vector(1, 2, 3));
}

TEST_F(ComparisonsTest, ValuesAreBounded) {
  Query* query = b.Select();
  b.From(query, patients);
  Expr* list = b.In(b.Col(0, 0), {});
  for (std::uint64_t i = 0; i < kMostComparedValues + 10; ++i) list->values.Add(b.Known(i + 1));
  query->conditions.Add(list);
  EXPECT_EQ(Compared(query).at("p.id").size(), kMostComparedValues);
  // So are the elements of a parameter.
  Query* given = b.Select();
  b.From(given, patients);
  given->conditions.Add(b.In(b.Col(0, 0), {b.Given(1, true)}));
  std::vector<std::uint64_t> elements;
  for (std::uint64_t i = 0; i < kMostComparedValues + 10; ++i) elements.push_back(i);
  EXPECT_EQ(Compared(given, {{1, false, 1, elements.data(), static_cast<int>(elements.size())}}).at("p.id").size(),
            kMostComparedValues);
}

TEST_F(ComparisonsTest, ACopyStandsForItsOrigins) {
  Relation* copy = b.Table("copy", {"k", "own"});
  b.Copied(copy, 0, patients, 0);
  b.Copied(copy, 0, visits, 1);
  Query* query = b.Select();
  b.From(query, copy);
  query->conditions.Add(b.Equal(b.Col(0, 0), b.Constant({b.Known(5)})));
  EXPECT_EQ(Compared(query), (Found{{"p.id", {5}}, {"v.patient_id", {5}}}));
}

// Nothing is read beyond the words, whatever they hold.
TEST_F(ComparisonsTest, DamagedWords) {
  StatementConstants constants;
  constants.vector = 1;
  constants.parameters = {1, 2};
  constants.groups.resize(2);
  constants.groups[0].columns = {{0, 17}, {1, 18}};
  constants.groups[0].comparisons = {{{5, {}, false}, {0, {1}, true}}, {{7, {1, 2}, false}}};
  const ConstantWords words = Encode(constants);
  for (std::size_t size = 1; size < words.size(); ++size)
    EXPECT_THROW(Resolve({words.data(), size, nullptr, 0}), Error) << size;
  Resolve({words.data(), words.size(), nullptr, 0});
  EXPECT_EQ(groups[0], 2U);
  EXPECT_EQ(Resolve({}), 0U);
  EXPECT_EQ(groups, (std::vector<std::uint64_t>{0}));
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    ConstantWords damaged = words;
    damaged[random() % damaged.size()] = random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : random() % 8;
    try {
      Resolve({damaged.data(), damaged.size(), nullptr, 0});
    } catch (const Error&) {
    }
  }
}

// Only a statement with one constant in all, given or a parameter, which one column is compared with.
TEST_F(ComparisonsTest, SoleConstant) {
  StatementConstants constants;
  const auto found = [&constants] {
    const ConstantWords words = Encode(constants);
    SoleConstant sole;
    if (!FindSoleConstant(words.data(), words.size(), sole)) return std::string("none");
    return std::to_string(sole.column.item) + " " + std::to_string(sole.column.name) + " " + std::to_string(sole.hash) +
           " $" + std::to_string(sole.parameter);
  };
  EXPECT_EQ(found(), "none");
  constants.vector = FoldHash(0, 77);
  constants.groups.push_back({{{3, std::uint64_t{1} << 40U}}, {{{77, {}, false}}}});
  EXPECT_EQ(found(), "3 1099511627776 77 $0");
  constants.vector = FoldHash(FoldHash(0, 77), 78);
  EXPECT_EQ(found(), "none");
  constants.vector = 0;
  constants.parameters = {4};
  constants.groups[0].comparisons[0][0] = {0, {4}, false};
  EXPECT_EQ(found(), "3 1099511627776 0 $4");
  constants.vector = FoldHash(0, 78);
  EXPECT_EQ(found(), "none");
  constants.vector = 0;
  constants.parameters = {5};
  EXPECT_EQ(found(), "none");
  constants.parameters = {4};
  constants.groups[0].comparisons[0][0].elements = true;
  EXPECT_EQ(found(), "none");
  constants.groups[0].comparisons[0][0] = {9, {4}, false};
  EXPECT_EQ(found(), "none");
  constants.groups[0].comparisons[0][0] = {0, {4}, false};
  constants.groups[0].comparisons.push_back({{0, {4}, false}});
  EXPECT_EQ(found(), "none");
}

// Each hash of the words can be put in afterwards.
TEST_F(ComparisonsTest, PlacesOfHashes) {
  StatementConstants constants;
  constants.parameters = {1, 2};
  constants.groups.resize(2);
  constants.groups[0].columns = {{0, 17}, {1, 18}};
  constants.groups[0].comparisons = {{{1, {}, false}, {0, {1}, true}, {2, {1}, false}}, {{0, {2}, false}}};
  constants.groups[1].columns = {{0, 19}};
  constants.groups[1].comparisons = {{{3, {1, 2}, false}}};
  ConstantWords words = Encode(constants);
  const auto places = PlacesOfHashes(words.data(), words.size());
  ASSERT_EQ(places.size(), 3U);
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(words[places[i]], i + 1);
    EXPECT_EQ(words[places[i] + 1], 0U);
    words[places[i]] = static_cast<std::uint32_t>(i + 11);
    words[places[i] + 1] = 5;
  }
  constants.groups[0].comparisons[0][0].hash = 11 + (std::uint64_t{5} << 32U);
  constants.groups[0].comparisons[0][2].hash = 12 + (std::uint64_t{5} << 32U);
  constants.groups[1].comparisons[0][0].hash = 13 + (std::uint64_t{5} << 32U);
  EXPECT_EQ(words, Encode(constants));
  for (std::size_t size = 0; size < words.size(); ++size) EXPECT_THROW(PlacesOfHashes(words.data(), size), Error);
}

TEST_F(ComparisonsTest, AnAbstractionDoesNotLookAtValues) {
  const auto tokens = [this](bool with) {
    Query* query = b.Select({b.Col(0, 1)});
    b.From(query, patients);
    Expr* list = with ? b.In(b.Col(0, 0), {b.Known(1)}) : b.Op({b.Col(0, 0)});
    query->conditions.Add(list);
    query->conditions.Add(b.Equal(b.Col(0, 0), with ? b.Constant({b.Known(1)}) : b.Constant()));
    return Builder::Of(query);
  };
  EXPECT_EQ(tokens(true), tokens(false));
}

}  // namespace
}  // namespace privacy_score
