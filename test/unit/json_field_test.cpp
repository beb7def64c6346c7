/*
 * json_field_test.cpp - fields of JSON objects, and text that is none.
 */
#include "core/base/json_field.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace privacy_score {
namespace {

// The field, "-" where there is none.
std::string Field(std::string_view json, std::string_view key = "sub") { return JsonField(json, key).value_or("-"); }

TEST(JsonField, GivesStringsNumbersAndBooleans) {
  EXPECT_EQ(Field(R"({"sub":"alice"})"), "alice");
  EXPECT_EQ(Field(" {\t\"iss\" : \"x\" ,\r\n \"sub\" : \"alice\" } \n"), "alice");
  EXPECT_EQ(Field(R"({"sub":""})"), "");
  EXPECT_EQ(Field(R"({"sub":"null"})"), "null");
  for (const char* written : {"0", "-0", "12", "-1.50", "1e5", "1.0E-07", "2E+3", "true", "false"})
    EXPECT_EQ(Field(std::string("{\"sub\":") + written + "}"), written);
  EXPECT_EQ(Field(R"({"":"x"})", ""), "x");
  EXPECT_EQ(Field(R"({"https://a.b/c.d":"x"})", "https://a.b/c.d"), "x");
}

TEST(JsonField, DecodesEscapes) {
  EXPECT_EQ(Field(R"({"sub":"\"\\\/\b\f\n\r\t"})"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(Field(R"({"sub":"\u0041\u00e4\u20AC\ud83d\ude00"})"), "A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(Field(R"({"s\u0075b":"x"})"), "x");
  EXPECT_EQ(Field(R"({"sub":"a\u0000b"})"), std::string("a\0b", 3));
  // Halves of pairs are no UTF-8.
  EXPECT_EQ(Field(R"({"sub":"\ud83d"})"), "\xED\xA0\xBD");
  EXPECT_EQ(Field(R"({"sub":"\ude00x"})"), "\xED\xB8\x80x");
  EXPECT_EQ(Field(R"({"sub":"\ud83d\ud83d\ude00"})"), "\xED\xA0\xBD\xF0\x9F\x98\x80");
  EXPECT_EQ(Field(R"({"sub":"\ud83d\n"})"), "\xED\xA0\xBD\n");
}

TEST(JsonField, LooksAtTheTopLevelOnly) {
  EXPECT_EQ(Field(R"({"a":{"sub":"x"},"b":[{"sub":"y"}]})"), "-");
  EXPECT_EQ(Field(R"({"a":{"sub":"x","b":{}},"c":[[],[1,"]"],{}],"sub":"z"})"), "z");
  EXPECT_EQ(Field(R"({"a":"\"sub\":\"x\""})"), "-");
  EXPECT_EQ(Field(R"({"Sub":"x"})"), "-");
}

TEST(JsonField, TakesTheLastOfEqualKeys) {
  EXPECT_EQ(Field(R"({"sub":"a","sub":"b"})"), "b");
  EXPECT_EQ(Field(R"({"sub":"a","sub":null})"), "-");
  EXPECT_EQ(Field(R"({"sub":"a","sub":{}})"), "-");
}

TEST(JsonField, GivesNothingForNullObjectsAndArrays) {
  for (const char* value : {"null", "{}", "[]", "[\"x\"]", "{\"sub\":\"x\"}", "[null,1]"})
    EXPECT_EQ(Field(std::string("{\"sub\":") + value + "}"), "-") << value;
  EXPECT_EQ(Field("{}"), "-");
}

TEST(JsonField, GivesNothingForWhatIsNoObject) {
  for (const char* json : {"",
                           " ",
                           "alice",
                           "\"sub\"",
                           "[]",
                           "null",
                           "1",
                           "{",
                           "{\"sub\":\"x\"",
                           "{\"sub\":\"x\",}",
                           "{\"sub\":\"x\"}}",
                           "{\"sub\":\"x\"} x",
                           "{\"sub\" \"x\"}",
                           "{sub:\"x\"}",
                           "{'sub':'x'}",
                           "{\"sub\":x}",
                           "{\"sub\":\"x}",
                           "{\"sub\":}",
                           "{\"sub\":\"\\x\"}",
                           "{\"sub\":\"\\u12\"}",
                           "{\"sub\":\"\\u12g4\"}",
                           "{\"sub\":\"a\nb\"}",
                           "{\"sub\":01}",
                           "{\"sub\":1.}",
                           "{\"sub\":.5}",
                           "{\"sub\":+1}",
                           "{\"sub\":1e}",
                           "{\"sub\":-}",
                           "{\"sub\":truex}",
                           "{\"sub\":nul}",
                           "{\"sub\":\"x\",\"a\":[1,]}",
                           "{\"sub\":\"x\",\"a\":[1}}",
                           "{\"sub\":\"x\",\"a\":{1:2}}",
                           "{\"sub\":\"x\",\"a\":{\"b\"}}",
                           "{\"sub\":\"x\",\"a\":[",
                           "{\"sub\":\"x\" \"a\":1}",
                           "{\"sub\":\"\\"})
    EXPECT_EQ(Field(json), "-") << json;
}

TEST(JsonField, GoesAsDeepAsTheTextIsLong) {
  const std::size_t depth = 1000000;
  std::string deep = "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + ",\"sub\":\"x\"}";
  EXPECT_EQ(Field(deep), "x");
  deep.erase(deep.find(']'), 1);
  EXPECT_EQ(Field(deep), "-");
  std::string objects;
  for (std::size_t i = 0; i < depth; ++i) objects += "{\"a\":";
  EXPECT_EQ(Field(objects), "-");
}

TEST(JsonField, ReadsRandomTextWithinItsBounds) {
  static constexpr std::string_view kPieces[] = {"{",       "}",    "[",    "]",    ",",    ":",         "\"",
                                                 "\"sub\"", "\\",   "\\u",  "d83d", "1",    "-",         ".",
                                                 "e",       "null", "true", " ",    "\xC3", "{\"sub\":", "\"x\""};
  std::mt19937 random(11);
  int found = 0;
  for (int round = 0; round < 100000; ++round) {
    std::vector<char> text;
    const std::string_view begin = round % 2 == 0 ? "{\"sub\":" : "";
    text.assign(begin.begin(), begin.end());
    for (std::size_t i = random() % 12; i > 0; --i)
      for (const char c : kPieces[random() % std::size(kPieces)]) text.push_back(c);
    if (round % 4 == 0) text.push_back('}');
    text.shrink_to_fit();
    if (JsonField({text.data(), text.size()}, "sub")) ++found;
  }
  EXPECT_GT(found, 100);
}

TEST(JsonField, AsWritten) {
  const auto of = [](std::string_view json) { return JsonFieldAsWritten(json, "a").value_or("none"); };
  EXPECT_EQ(of(R"({"b": 1, "a" :  [1, {"a": "]"}] , "c": 2})"), R"([1, {"a": "]"}])");
  EXPECT_EQ(of(R"({"a": "x\"y", "a": null})"), "null");
  EXPECT_EQ(of(R"({"b": {"a": 1}})"), "none");
  EXPECT_EQ(of(R"({"a": [1)"), "none");
}

}  // namespace
}  // namespace privacy_score
