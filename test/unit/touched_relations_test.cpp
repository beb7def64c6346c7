/*
 * touched_relations_test.cpp - unit tests of core/touched_relations.
 */
#include "core/statement/touched_relations.hpp"

#include <gtest/gtest.h>

namespace privacy_score {
namespace {

using Names = std::vector<std::string_view>;

TEST(TouchedRelations, OfTablesAndColumns) {
  EXPECT_EQ(RelationsNamedBy("cmd:select\np:h.a.id\np:h.b.id\nt:h.a\nt:h.b", '\n'),
            (Names{"h.a", "h.b", "h.a", "h.b"}));
  EXPECT_EQ(RelationsNamedBy("cmd:select\nw:h.a.x\nw:h.a.y", '\n'), Names{"h.a"});
}

TEST(TouchedRelations, OfAggregates) {
  EXPECT_EQ(RelationsNamedBy("f:sum(h.a.x,h.b.y)", '\n'), (Names{"h.a", "h.b"}));
  EXPECT_EQ(RelationsNamedBy("f:count(*)", '\n'), Names{});
}

TEST(TouchedRelations, NamesMayHoldWhatPartsThem) {
  EXPECT_EQ(RelationsNamedBy("t:\"a.b\".\"c,(\"\"d\"", '\n'), Names{"\"a.b\".\"c,(\"\"d\""});
  EXPECT_EQ(RelationsNamedBy("f:max(\"a.b\".\"c)\".\"d,e\")", '\n'), Names{"\"a.b\".\"c)\""});
  EXPECT_EQ(SchemaOfRelation("\"a.b\".c"), "\"a.b\"");
}

TEST(TouchedRelations, OfNothing) {
  EXPECT_EQ(RelationsNamedBy("", '\n'), Names{});
  EXPECT_EQ(RelationsNamedBy("cmd:select", '\n'), Names{});
  EXPECT_EQ(RelationsNamedBy("unparsed", '\n'), Names{});
  EXPECT_EQ(RelationsNamedBy("t:nosuch", '\n'), Names{});
}

}  // namespace
}  // namespace privacy_score
