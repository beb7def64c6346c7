/*
 * html_page_test.cpp - tables of a page, and what a page may do.
 */
#include "core/report/html_page.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Misnested;

TEST(HtmlPage, BarStaysWithinItsRail) {
  for (const char* share : {"-3", "0.25", "7", "nan", "x"}) {
    HtmlPage page("t");
    page.Section("s", "s").Table({{"share", CellKind::kShare}}, {{std::string_view(share)}}, "none");
    const std::string text = page.Finish("");
    const std::size_t at = text.find("<i style=\"width:");
    ASSERT_NE(at, std::string::npos);
    const double width = std::strtod(text.c_str() + at + 16, nullptr);
    EXPECT_TRUE(width >= 0 && width <= 100) << share;
  }
}

TEST(HtmlPage, NeedsNothingBesideIt) {
  HtmlPage page("<title>");
  page.Lead("a\nb").Tiles({{"1", "<two>", true, "two"}}).Section("one", "One").Part("<b>").Note("&");
  page.Section("two", "Two").LegendPart("<three>", "<i></i>").EndPart();
  const std::string text = page.Finish("<end>");
  EXPECT_EQ(Misnested(text), "");
  EXPECT_NE(text.find("a<br>b"), std::string::npos);
  EXPECT_NE(text.find("<a href=\"#two\">Two</a>"), std::string::npos);
  for (const char* part : {"url(", "@import", "http:", "https:", "<link", "<img", "src=", "eval(", "innerHTML"})
    EXPECT_EQ(text.find(part), std::string::npos) << part;
  EXPECT_NE(text.find("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"),
            std::string::npos);
}

TEST(HtmlPage, SaysThatATableIsEmpty) {
  HtmlPage page("t");
  page.Section("s", "s").Table({{"a"}}, {}, "no <rows>");
  const std::string text = page.Finish("");
  EXPECT_NE(text.find("<p class=\"none\">no &#60;rows&#62;</p>"), std::string::npos);
  EXPECT_EQ(text.find("<table"), std::string::npos);
}

TEST(HtmlPage, ExplainsHeadersAndKnowsWhoseARowIs) {
  HtmlPage page("t");
  page.Section("s", "s").Table({{"score", CellKind::kNumber, "score"}, {"role", CellKind::kShort}},
                               {{std::string_view("1"), std::string_view("a\"b")}}, "none", 1);
  const std::string text = page.Finish("");
  EXPECT_EQ(Misnested(text), "");
  EXPECT_NE(text.find("<a class=\"term\" href=\"#term-score\" title=\""), std::string::npos);
  EXPECT_NE(text.find("<tr data-role=\"a&#34;b\">"), std::string::npos);
}

TEST(HtmlPage, SaysInWordsWhatADrawingShows) {
  HtmlPage page("t");
  page.Section("s", "s").Figure("<svg aria-label=\"zip &#38; city\"></svg>");
  EXPECT_NE(page.Finish("").find("<figcaption class=\"instead\">zip &#38; city</figcaption>"), std::string::npos);
}

}  // namespace
}  // namespace privacy_score
