/*
 * markup_test.cpp - what has a meaning in markup, and what no document may hold.
 */
#include "core/report/markup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace privacy_score {
namespace {

TEST(Markup, EscapesWhatHasAMeaning) {
  EXPECT_EQ(Escaped("a<b>&\"c'"), "a&#60;b&#62;&#38;&#34;c&#39;");
  EXPECT_EQ(Escaped("Z\xC3\xBCrich"), "Z&#252;rich");
  EXPECT_EQ(Escaped("\xF0\x9F\x98\x80"), "&#128512;");
}

TEST(Markup, ReplacesWhatNoDocumentHolds) {
  for (const char* text :
       {"\x01", "\x7F", "\xC3", "\xE2\x82", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xEF\xBF\xBF", "\x80"})
    EXPECT_EQ(Escaped(text).substr(0, 8), "&#65533;") << testing::PrintToString(std::string(text));
  EXPECT_EQ(Escaped("\xC3("), "&#65533;(");
}

TEST(Markup, RandomBytesBecomeAscii) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += static_cast<char>(random() % 256);
    const std::string escaped = Escaped(text);
    EXPECT_TRUE(std::all_of(escaped.begin(), escaped.end(), [](unsigned char c) { return c < 0x7F; }));
    EXPECT_EQ(escaped.find_first_of("<>\"'"), std::string::npos);
  }
}

TEST(Markup, NumbersWithoutZerosAtTheEnd) {
  EXPECT_EQ(Shown(1.50, 2), "1.5");
  EXPECT_EQ(Shown(100, 2), "100");
  EXPECT_EQ(Shown(-0.001, 2), "0");
  EXPECT_EQ(Shown(std::nan(""), 2), "-");
  EXPECT_EQ(Shown(1e300, 1).size(), 301U);
  EXPECT_EQ(ShownShort(123.4), "123");
  EXPECT_EQ(ShownShort(0.0524), "0.052");
}

}  // namespace
}  // namespace privacy_score
