/*
 * names_test.cpp - identifiers as abstractions write them.
 */
#include "core/base/names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace privacy_score {
namespace {

TEST(NamesTest, AreQuotedByOneRuleOnEachVersionOfTheServer) {
  for (const char* bare : {"plain_1", "order", "json_array", "system_user", "merge_action", "_", "a$"})
    EXPECT_EQ(QuoteName(bare), bare);
  for (const char* quoted : {"1a", "größe", "Order", "a b", "$a", "a.b", ""})
    EXPECT_EQ(QuoteName(quoted), '"' + std::string(quoted) + '"');
  EXPECT_EQ(QuoteName("a\"b"), "\"a\"\"b\"");
}

TEST(NamesTest, AreTakenApart) {
  EXPECT_EQ(UnquoteName("\"a\"\"b\""), "a\"b");
  EXPECT_EQ(UnquoteName("plain"), "plain");
  EXPECT_EQ(SplitName("public.\"a.b\"").schema, "public");
  EXPECT_EQ(SplitName("public.\"a.b\"").name, "\"a.b\"");
  EXPECT_EQ(SplitName("\"a.b\"").schema, "");
}

TEST(NamesTest, LoseQuotesThatTheyNeedNot) {
  EXPECT_EQ(WithFewestQuotes("p:public.\"order\".\"user\""), "p:public.order.user");
  EXPECT_EQ(WithFewestQuotes("f:sum(\"A\".\"a$\",x.\"Y\")"), "f:sum(\"A\".a$,x.\"Y\")");
  for (const char* kept :
       {"", "p:public.plain", "p:\"A\".\"1a\"", "p:\"a\"\"b\"", "p:\"x,\"\"b\"\",y\"", "\"\"", "p:\"open", "\""})
    EXPECT_EQ(WithFewestQuotes(kept), kept);
}

// What was quoted for whatever reason is as it would be written now.
TEST(NamesTest, ComeOutAsTheyAreWrittenNow) {
  const std::string letters = "a$Z1_\". ";
  for (std::size_t code = 0; code < 8 * 8 * 8 * 8; ++code) {
    std::string name;
    std::string quoted = "\"";
    for (std::size_t rest = code, i = 0; i < 4; ++i, rest /= 8) name += letters[rest % 8];
    for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
    quoted += '"';
    EXPECT_EQ(WithFewestQuotes("t:" + quoted + "." + quoted), "t:" + QuoteName(name) + "." + QuoteName(name));
    EXPECT_EQ(UnquoteName(QuoteName(name)), name);
  }
}

}  // namespace
}  // namespace privacy_score
