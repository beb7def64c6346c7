/*
 * html_page_test.cpp - tables of a page.
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
    page.Section("s", "s").Table({{"share", CellKind::kShare}}, {{std::string_view(share)}});
    const std::string text = page.Finish("");
    const std::size_t at = text.find("<i style=\"width:");
    ASSERT_NE(at, std::string::npos);
    const double width = std::strtod(text.c_str() + at + 16, nullptr);
    EXPECT_TRUE(width >= 0 && width <= 100) << share;
  }
}

TEST(HtmlPage, NeedsNothingBesideIt) {
  HtmlPage page("<title>");
  page.Lead("a\nb").Tiles({{"1", "<two>", true}}).Section("one", "One").Part("<b>").Note("&").Section("two", "Two");
  const std::string text = page.Finish("<end>");
  EXPECT_EQ(Misnested(text), "");
  EXPECT_NE(text.find("a<br>b"), std::string::npos);
  EXPECT_NE(text.find("<a href=\"#two\">Two</a>"), std::string::npos);
  for (const char* part : {"url(", "@import", "http", "<script", "<link", "<img"})
    EXPECT_EQ(text.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace privacy_score
