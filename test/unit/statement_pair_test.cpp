/*
 * statement_pair_test.cpp - what is new is marked, and nothing else.
 */
#include "core/report/statement_pair.hpp"

#include <gtest/gtest.h>

#include <string>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

TEST(StatementPair, MarksNewColumnsOfTheirTable) {
  const std::string html = StatementPair(
      "cmd:select p:s.bills.iban t:s.bills w:s.bills.id\ncmd:select p:s.people.name t:s.people w:s.people.id",
      "(start)", "s.bills.iban\ns.bills.id");
  EXPECT_EQ(testing_support::Misnested(html), "");
  EXPECT_NE(html.find("<b>select</b> <mark>iban</mark>\n<b>from</b> bills\n<b>where</b> <mark>id</mark>"),
            std::string::npos);
  EXPECT_NE(html.find("<b>from</b> people\n<b>where</b> id</pre>"), std::string::npos);
  EXPECT_NE(html.find("the session begins"), std::string::npos);
  EXPECT_NE(html.find(": bills.iban, bills.id</p>"), std::string::npos);
}

TEST(StatementPair, MarksColumnsOfSeveralTables) {
  const std::string html = StatementPair("cmd:select f:max(s.a.x) p:s.b.x t:s.a t:s.b", "", "s.a.x");
  EXPECT_NE(html.find("max(<mark>a.x</mark>)"), std::string::npos);
  EXPECT_EQ(html.find("<mark>b.x"), std::string::npos);
  EXPECT_NE(html.find("None: nothing usual is like it."), std::string::npos);
}

TEST(StatementPair, EscapesNames) {
  for (const char* text : {"<script>", "\"a b\".\"<b>\"", "cmd:select p:\"<i>\".\"&\" t:\"<i>\"", "\""}) {
    const std::string html = StatementPair(text, text, text);
    EXPECT_EQ(testing_support::Misnested(html), "") << text;
    EXPECT_EQ(html.find("<script"), std::string::npos);
    EXPECT_EQ(html.find("<i>"), std::string::npos);
  }
}

TEST(NewColumns, CountsTheOthers) {
  EXPECT_EQ(NewColumns("s.t.a\ns.t.b\ns.t.c", 2), "t.a, t.b and 1 more");
  EXPECT_EQ(NewColumns("s.t.a", 2), "t.a");
  EXPECT_EQ(NewColumns("", 2), "");
}

}  // namespace
}  // namespace privacy_score
