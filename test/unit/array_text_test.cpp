/*
 * array_text_test.cpp - arrays as the server writes and reads them.
 */
#include "core/base/array_text.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace privacy_score {
namespace {

std::string Shown(const std::string& text) {
  const std::optional<ArrayElements> elements = ReadArrayText(text);
  if (!elements) return "none";
  std::string shown;
  for (const std::optional<std::string>& value : elements->values) shown += value ? '<' + *value + '>' : "NULL ";
  if (elements->nested) shown += " nested";
  if (elements->quoted) shown += " quoted";
  return shown;
}

TEST(ArrayText, ElementsAsTheServerReadsThem) {
  EXPECT_EQ(Shown("{}"), "");
  EXPECT_EQ(Shown(" { } "), "");
  EXPECT_EQ(Shown("{1,2,3}"), "<1><2><3>");
  EXPECT_EQ(Shown("{ a b , c }"), "<a b><c>");
  EXPECT_EQ(Shown("{null,NULL,nulls}"), "NULL NULL <nulls>");
  EXPECT_EQ(Shown("{\"null\",\"a,}b\",\"\"}"), "<null><a,}b><> quoted");
  EXPECT_EQ(Shown("{\"a\\\"b\\\\\",c\\ }"), "<a\"b\\><c > quoted");
  EXPECT_EQ(Shown("{{1,2},{3,4}}"), "<1><2><3><4> nested");
  EXPECT_EQ(Shown("[0:1]={a,b}"), "<a><b>");
}

TEST(ArrayText, WhatIsNone) {
  for (const char* text : {"", "1", "{", "}", "{1", "1}", "{,}", "{1,}", "{,1}", "{1}2", "{1}{2}", "{1,{", "{\"a}",
                           "{a\\", "{1 {2}}", "{{1}2}", "[0:1]", "{{1},}"})
    EXPECT_EQ(Shown(text), "none") << text;
}

TEST(ArrayText, NoTextIsReadBeyondItsEnd) {
  std::mt19937 random(1);
  const std::string characters = "{},\"\\ n1a[]=";
  for (int i = 0; i < 200000; ++i) {
    std::string text;
    for (std::size_t length = random() % 12; length > 0; --length) text += characters[random() % characters.size()];
    (void)ReadArrayText(text);
  }
}

}  // namespace
}  // namespace privacy_score
