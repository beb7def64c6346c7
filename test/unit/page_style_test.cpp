/*
 * page_style_test.cpp - a style sheet that asks for nothing and is whole.
 */
#include "core/report/page_style.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace privacy_score {
namespace {

TEST(PageStyle, IsWholeAndAsksForNothing) {
  const std::string style = kPageStyle;
  EXPECT_EQ(std::count(style.begin(), style.end(), '{'), std::count(style.begin(), style.end(), '}'));
  for (const char* part : {"url(", "@import", "<", "http"}) EXPECT_EQ(style.find(part), std::string::npos) << part;
  for (const char* part : {"@media print", "prefers-color-scheme:dark", "max-width:700px"})
    EXPECT_NE(style.find(part), std::string::npos) << part;
}

// Every colour that is used is there, in light and in dark.
TEST(PageStyle, HasAllItsColours) {
  const std::string style = kPageStyle;
  for (std::size_t at = style.find("var(--"); at != std::string::npos; at = style.find("var(--", at + 1)) {
    const std::string name = style.substr(at + 4, style.find(')', at) - at - 4);
    int times = 0;
    for (std::size_t found = style.find(name + ":"); found != std::string::npos;
         found = style.find(name + ":", found + 1))
      ++times;
    EXPECT_EQ(times, name == "--top" ? 1 : 2) << name;
  }
}

}  // namespace
}  // namespace privacy_score
