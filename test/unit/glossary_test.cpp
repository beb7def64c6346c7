/*
 * glossary_test.cpp - terms have meanings, and places to which their links lead.
 */
#include "core/report/glossary.hpp"

#include <gtest/gtest.h>

#include <string>

#include "error_fixture.hpp"
#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

TEST(Glossary, HasEachTermOnce) {
  const std::string html = Glossary();
  EXPECT_EQ(testing_support::Misnested(html), "");
  int terms = 0;
  for (std::size_t at = html.find("id=\"term-"); at != std::string::npos;
       at = html.find("id=\"term-", at + 1), ++terms) {
    const std::string id = html.substr(at, html.find('"', at + 4) - at + 1);
    EXPECT_EQ(html.find(id, at + 1), std::string::npos) << id;
  }
  EXPECT_GE(terms, 20);
}

TEST(Glossary, LinksTermsThatThereAre) {
  const std::string link = TermLink("score", "<highest>");
  EXPECT_EQ(testing_support::Misnested(link), "");
  EXPECT_NE(link.find("href=\"#term-score\""), std::string::npos);
  EXPECT_NE(link.find(">&#60;highest&#62;</a>"), std::string::npos);
  EXPECT_EQ(testing_support::ErrorOf([] { TermLink("nothing", "x"); }).substr(0, 5), "XX000");
}

}  // namespace
}  // namespace privacy_score
