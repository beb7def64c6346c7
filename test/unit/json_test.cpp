/*
 * json_test.cpp - commas and escapes.
 */
#include "core/base/json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace privacy_score {
namespace {

TEST(JsonWriter, CommasAndEscapes) {
  JsonWriter json;
  json.BeginObject().Key("a").Value(std::int64_t{1}).Key("b\"").BeginArray().Value("x\\\n\x01\t").Value(true).Null();
  json.EndArray().Key("c").BeginObject().EndObject().Key("d").Value(std::vector<double>{.5, 2});
  json.Key("e").Value(std::vector<std::string>{"\xc3\xa9", ""}).EndObject();
  EXPECT_EQ(json.text(),
            "{\"a\": 1, \"b\\\"\": [\"x\\\\\\n\\u0001\\u0009\", true, null], \"c\": {}, \"d\": [0.5, 2], "
            "\"e\": [\"\xc3\xa9\", \"\"]}");
}

TEST(JsonWriter, WhatJsonCannotSayIsNull) {
  JsonWriter json;
  json.BeginArray().Value(std::numeric_limits<double>::infinity()).Value(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(json.EndArray().text(), "[null, null]");
}

}  // namespace
}  // namespace privacy_score
