/*
 * relationships_test.cpp - the attribute relationship diagram.
 */
#include "core/scoring/relationships.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::TestTable;

AttributeEntropies EntropiesOf(const TestTable& table) {
  AttributeEntropies entropies;
  entropies.names = table.columns;
  entropies.rows = static_cast<std::int64_t>(table.rows.size());
  for (std::size_t a = 0; a < table.columns.size(); ++a) {
    entropies.single.push_back(Entropy(table.SizesBy({a})));
    entropies.pair.emplace_back();
    for (std::size_t b = 0; b < table.columns.size(); ++b) {
      entropies.pair.back().push_back(Entropy(table.SizesBy({a, b})));
    }
  }
  return entropies;
}

TEST(Relationships, Example) {
  const auto entropies = EntropiesOf(testing_support::ExampleTable());
  const auto diagram = DiagramOf(entropies);
  const std::vector<std::vector<std::string>> nodes = {
      {"department", "department_head"}, {"first_name"}, {"gender"}, {"last_name"}};
  EXPECT_EQ(diagram.nodes, nodes);
  EXPECT_EQ(diagram.constants, std::vector<std::string>{"city"});
  const std::vector<std::pair<std::size_t, std::size_t>> edges = {{1, 2}, {3, 2}};
  EXPECT_EQ(diagram.edges, edges);

  const auto table = AttributeRelationships(entropies, 0);
  // 5 determine city, 2 mutual, first_name and last_name determine gender
  ASSERT_EQ(table.rows.size(), 9U);
  EXPECT_EQ(table.rows[0][0], "department");
  EXPECT_EQ(table.rows[0][1], "city");
  EXPECT_EQ(table.rows[0][2], "0");
  EXPECT_NEAR(testing_support::Number(table.rows[0][3]), .4182, 5e-5);
  EXPECT_EQ(AttributeRelationships(entropies, 10).rows.size(), 30U);
}

TEST(Relationships, TransitiveEdgesAreLeftOut) {
  // a -> b -> c, and a -> c follows
  const TestTable table{"t", {"a", "b", "c"}, {{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {3, 1, 0}, {4, 2, 1}, {5, 2, 1}}};
  const auto diagram = DiagramOf(EntropiesOf(table));
  const std::vector<std::pair<std::size_t, std::size_t>> edges = {{0, 1}, {1, 2}};
  EXPECT_EQ(diagram.edges, edges);
  EXPECT_EQ(RelationshipsDot(EntropiesOf(table), "t"),
            "digraph \"t\" {\n  node [shape=box];\n  n0 [label=\"a\"];\n  n1 [label=\"b\"];\n  n2 [label=\"c\"];\n"
            "  n0 -> n1;\n  n1 -> n2;\n}\n");
}

TEST(Relationships, NamesAreQuoted) {
  const TestTable table{"t", {"a\"\\n", "b\nc", "k"}, {{0, 0, 0}, {1, 1, 0}}};
  EXPECT_EQ(RelationshipsDot(EntropiesOf(table), "x\"y"),
            "digraph \"x\\\"y\" {\n  node [shape=box];\n  n0 [label=\"a\\\"\\\\n\\nb\\nc\"];\n"
            "  constants [label=\"constant:\\nk\", style=dashed];\n}\n");
}

TEST(Relationships, EmptyAndBadInput) {
  EXPECT_EQ(RelationshipsDot({}, "t"), "digraph \"t\" {\n  node [shape=box];\n}\n");
  EXPECT_THROW(AttributeRelationships({}, -1), Error);
  EXPECT_THROW(AttributeRelationships({{"a"}, {}, {}, 1}, 0), Error);
}

}  // namespace
}  // namespace privacy_score
