/*
 * end_user_source_test.cpp - lists of sources of the end user, and what is wrong with others.
 */
#include "core/principal/end_user_source.hpp"

#include <gtest/gtest.h>

#include <random>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using Kind = EndUserSource::Kind;

// Each source in brackets: kind, name, key.
std::string Parsed(std::string_view text) {
  std::string all;
  for (const EndUserSource& source : ParseEndUserSources(text)) {
    static constexpr const char* kKinds[] = {"setting", "application_name", "tag", "pattern"};
    all += std::string("[") + kKinds[static_cast<int>(source.kind)] + "|" + source.name + "|" + source.key + "]";
  }
  return all;
}

std::string Refused(std::string_view text) {
  return testing_support::ErrorOf([&] { ParseEndUserSources(text); });
}

TEST(EndUserSources, AreNoneOfEmptyText) {
  EXPECT_TRUE(ParseEndUserSources("").empty());
  EXPECT_TRUE(ParseEndUserSources(" \t\n").empty());
}

TEST(EndUserSources, AreEachForm) {
  EXPECT_EQ(Parsed("setting app.user"), "[setting|app.user|]");
  EXPECT_EQ(Parsed("setting request.jwt.claims ->> sub"), "[setting|request.jwt.claims|sub]");
  EXPECT_EQ(Parsed("application_name"), "[application_name||]");
  EXPECT_EQ(Parsed("comment enduser"), "[tag|enduser|]");
  EXPECT_EQ(Parsed("comment /user=(\\w+)/"), "[pattern|user=(\\w+)|]");
  EXPECT_EQ(Parsed("privacy_score.end_user"), "[setting|privacy_score.end_user|]");
  EXPECT_EQ(Parsed("setting role"), "[setting|role|]");
}

TEST(EndUserSources, StandInTheirOrder) {
  EXPECT_EQ(Parsed("privacy_score.end_user, setting a.b->>c,comment d ,application_name"),
            "[setting|privacy_score.end_user|][setting|a.b|c][tag|d|][application_name||]");
}

TEST(EndUserSources, HaveKeywordsInAnyCaseAndFreeWhiteSpace) {
  EXPECT_EQ(Parsed("SETTING App.User->>Sub , Comment Key,APPLICATION_NAME,Privacy_Score.End_User"),
            "[setting|app.user|Sub][tag|Key|][application_name||][setting|privacy_score.end_user|]");
  EXPECT_EQ(Parsed("\n setting\n\ta.b\n->>\n'c'\n,\ncomment/(a)/\n,comment'x'"),
            "[setting|a.b|c][pattern|(a)|][tag|x|]");
}

TEST(EndUserSources, HaveKeysBareOrInQuotes) {
  EXPECT_EQ(Parsed("setting a.b ->> x-y:z.w$1"), "[setting|a.b|x-y:z.w$1]");
  EXPECT_EQ(Parsed("setting a.b ->> 'https://x/y, z'"), "[setting|a.b|https://x/y, z]");
  EXPECT_EQ(Parsed("comment 'O''Neil'''"), "[tag|O'Neil'|]");
  EXPECT_EQ(Parsed("comment b\xC3\xA4r"), "[tag|b\xC3\xA4r|]");
}

TEST(EndUserSources, HavePatternsWithEscapedSlashes) {
  EXPECT_EQ(Parsed("comment /a\\/(b)\\\\/"), "[pattern|a/(b)\\\\|]");
  EXPECT_EQ(Parsed("comment /\\((x),y/, comment z"), "[pattern|\\((x),y|][tag|z|]");
}

TEST(EndUserSources, CountGroupsThatCapture) {
  for (const char* pattern :
       {"(a)", "(?:a)(b)", "(?i)(b)", "(?=a)(?!b)(?<=c)(?<!d)(e)", "[(](a)[^(]", "[](](a)", "[^](](a)",
        "[[:alpha:](](a)", "[[.].](](a)", "[\\](](a)", "\\(\\[(a)\\)", "(?#a(b)(c)", "([(]"})
    EXPECT_EQ(Parsed("comment /" + std::string(pattern) + "/"), "[pattern|" + std::string(pattern) + "|]");
  EXPECT_EQ(Refused("comment /a/"), "22023 the pattern at character 9 must have one group, not 0");
  EXPECT_EQ(Refused("comment //"), "22023 the pattern at character 9 must have one group, not 0");
  EXPECT_EQ(Refused("comment /(a)(b)/"), "22023 the pattern at character 9 must have one group, not 2");
  EXPECT_EQ(Refused("comment /((a))/"), "22023 the pattern at character 9 must have one group, not 2");
  EXPECT_EQ(Refused("comment /[(a)/"), "22023 the pattern at character 9 must have one group, not 0");
  EXPECT_EQ(Refused("comment /[[:(a)/"), "22023 the pattern at character 9 must have one group, not 0");
  EXPECT_EQ(Refused("comment /(?#(a)/"), "22023 the pattern at character 9 must have one group, not 0");
}

TEST(EndUserSources, SayWhatIsWrongAndWhere) {
  EXPECT_EQ(Refused("user"), "22023 unknown source \"user\" at character 1");
  EXPECT_EQ(Refused("settings a.b"), "22023 unknown source \"settings\" at character 1");
  EXPECT_EQ(Refused("app.user"), "22023 unknown source \"app.user\" at character 1");
  EXPECT_EQ(Refused(","), "22023 a source is missing at character 1");
  EXPECT_EQ(Refused("application_name,"), "22023 a source is missing at character 18");
  EXPECT_EQ(Refused("application_name, ,comment a"), "22023 a source is missing at character 19");
  EXPECT_EQ(Refused("'a'"), "22023 a source is missing at character 1");
  EXPECT_EQ(Refused(std::string_view("\0", 1)), "22023 a source is missing at character 1");
  EXPECT_EQ(Refused("setting"), "22023 the name of a setting is missing at character 8");
  EXPECT_EQ(Refused("setting ->> a"), "22023 the name of a setting is missing at character 9");
  EXPECT_EQ(Refused("setting a..b"), "22023 invalid name of a setting \"a..b\" at character 9");
  EXPECT_EQ(Refused("setting a."), "22023 invalid name of a setting \"a.\" at character 9");
  EXPECT_EQ(Refused("setting .a"), "22023 invalid name of a setting \".a\" at character 9");
  EXPECT_EQ(Refused("setting a.1"), "22023 invalid name of a setting \"a.1\" at character 9");
  EXPECT_EQ(Refused("setting a.b ->>"), "22023 a key is missing at character 16");
  EXPECT_EQ(Refused("setting a.b ->> ''"), "22023 a key is missing at character 17");
  EXPECT_EQ(Refused("setting a.b -> c"), "22023 a comma is missing at character 13");
  EXPECT_EQ(Refused("setting a.b c"), "22023 a comma is missing at character 13");
  EXPECT_EQ(Refused("privacy_score.end_user ->> a"), "22023 a comma is missing at character 24");
  EXPECT_EQ(Refused("comment"), "22023 a key is missing at character 8");
  EXPECT_EQ(Refused("comment 'a'b"), "22023 a comma is missing at character 12");
  EXPECT_EQ(Refused("comment 'a"), "22023 the quote at character 9 is not closed");
  EXPECT_EQ(Refused("comment 'a''"), "22023 the quote at character 9 is not closed");
  EXPECT_EQ(Refused("comment /(a)"), "22023 the pattern at character 9 is not closed");
  EXPECT_EQ(Refused("comment /(a)\\/"), "22023 the pattern at character 9 is not closed");
  EXPECT_EQ(Refused("comment /(a)\\"), "22023 the pattern at character 9 is not closed");
  // Characters are counted, not bytes.
  EXPECT_EQ(Refused("comment \xC3\xA4\xE2\x82\xAC x"), "22023 a comma is missing at character 12");
}

TEST(EndUserSources, AreSixteenAtMost) {
  std::string text = "comment a0";
  for (int i = 1; i < 16; ++i) text += ",comment a" + std::to_string(i);
  EXPECT_EQ(ParseEndUserSources(text).size(), 16U);
  EXPECT_EQ(Refused(text + ", x"),
            "22023 there are more than 16 sources at character " + std::to_string(text.size() + 3));
}

TEST(EndUserSources, ThrowNothingElseOfRandomText) {
  static constexpr std::string_view kPieces[] = {"setting", "comment", "application_name",
                                                 " ",       ",",       "->>",
                                                 "'",       "''",      "/",
                                                 "\\",      "(",       ")",
                                                 "[",       "]",       "[:",
                                                 "(?#",     "a.b",     "-",
                                                 ".",       "\xC3",    "x"};
  std::mt19937 random(13);
  int good = 0;
  for (int round = 0; round < 50000; ++round) {
    std::vector<char> text;
    for (std::size_t i = random() % 14; i > 0; --i)
      for (const char c : kPieces[random() % std::size(kPieces)]) text.push_back(c);
    if (round % 4 == 0)
      for (char& c : text) c = static_cast<char>(random() % 256);
    text.shrink_to_fit();
    const std::string refused = Refused({text.data(), text.size()});
    if (refused.empty()) {
      ++good;
    } else {
      EXPECT_EQ(refused.substr(0, 6), "22023 ");
    }
  }
  EXPECT_GT(good, 1000);
}

}  // namespace
}  // namespace privacy_score
