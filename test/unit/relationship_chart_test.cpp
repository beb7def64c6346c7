/*
 * relationship_chart_test.cpp - any diagram within its drawing, the same each time.
 */
#include "core/report/relationship_chart.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Misnested;

TEST(RelationshipChart, DrawsNothingOutside) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    RelationshipDiagram diagram;
    const std::size_t nodes = random() % 14;
    for (std::size_t i = 0; i < nodes; ++i) {
      diagram.nodes.push_back({"column_" + std::to_string(i)});
      if (random() % 4 == 0) diagram.nodes.back().push_back(std::string(random() % 63, 'w'));
      for (std::size_t k = 0; k < i; ++k)
        if (random() % 5 == 0) diagram.edges.emplace_back(k, i);
    }
    for (std::size_t i = random() % 3; i > 0; --i) diagram.constants.push_back("constant<" + std::to_string(i));
    const std::string svg = RelationshipChart("s.\"<t>\"", diagram, Placement::kAlone);
    EXPECT_EQ(Misnested(svg), "");
    EXPECT_EQ(svg, RelationshipChart("s.\"<t>\"", diagram, Placement::kAlone));
    double width = 0, height = 0;
    ASSERT_EQ(std::sscanf(svg.c_str() + svg.find("viewBox=\"0 0 "), "viewBox=\"0 0 %lf %lf", &width, &height), 2);
    for (std::size_t at = svg.find("<rect class=\"node\""); at != std::string::npos;
         at = svg.find("<rect class=\"node\"", at + 1)) {
      double x = 0, y = 0, w = 0, h = 0;
      ASSERT_EQ(std::sscanf(svg.c_str() + at, "<rect class=\"node\" x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"",
                            &x, &y, &w, &h),
                4);
      EXPECT_GE(x, 0);
      EXPECT_GE(y, 0);
      EXPECT_LE(x + w, width);
      EXPECT_LE(y + h, height);
    }
  }
}

TEST(RelationshipChart, CirclesOfDeterminationEnd) {
  RelationshipDiagram diagram;
  diagram.nodes = {{"a"}, {"b"}, {"c"}};
  diagram.edges = {{0, 1}, {1, 2}, {2, 0}};
  EXPECT_EQ(Misnested(RelationshipChart("t", diagram, Placement::kAlone)), "");
}

}  // namespace
}  // namespace privacy_score
