/*
 * end_user_test.cpp - names of end users that count, and those that something else stands for.
 */
#include "core/principal/end_user.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace privacy_score {
namespace {

TEST(CheckedEndUser, TakesWhiteSpaceAway) {
  EXPECT_EQ(CheckedEndUser("alice"), "alice");
  EXPECT_EQ(CheckedEndUser(" \t\r\n alice b. \f\v"), "alice b.");
  EXPECT_EQ(CheckedEndUser(""), "");
  EXPECT_EQ(CheckedEndUser(" \n "), "");
}

TEST(CheckedEndUser, KeepsNamesOfAnyAlphabet) {
  for (const char* name :
       {"O'Neil", "\"x\"; --", "\xC3\xA4\xC3\xB6", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xC2\xA0", "\xE2\x80\xA9",
        "\xE2\x80\xAF", "\xE2\x81\xA5", "\xE2\x81\xAA", "\xF4\x8F\xBF\xBF", "(none)"})
    EXPECT_EQ(CheckedEndUser(name), name);
}

TEST(CheckedEndUser, RefusesControlCharacters) {
  for (int byte = 0; byte < 0x20; ++byte)
    EXPECT_EQ(CheckedEndUser(std::string("a") + static_cast<char>(byte) + "b"), kInvalidEndUser) << byte;
  for (const char* name : {"a\x7F", "\xC2\x80", "a\xC2\x9F", "\xE2\x80\xAA",
                           "a\xE2\x80\xAE"
                           "b",
                           "\xE2\x81\xA6", "\xE2\x81\xA9"})
    EXPECT_EQ(CheckedEndUser(name), kInvalidEndUser) << name;
  EXPECT_EQ(CheckedEndUser(std::string("alice\0", 6)), kInvalidEndUser);
}

TEST(CheckedEndUser, RefusesWhatIsNotUtf8) {
  for (const char* name : {"\x80", "\xC3",
                           "a\xC3"
                           "b",
                           "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF",
                           "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF"})
    EXPECT_EQ(CheckedEndUser(name), kInvalidEndUser);
}

TEST(CheckedEndUser, RefusesLongNamesAndWordsOfOurOwn) {
  EXPECT_EQ(CheckedEndUser(std::string(256, 'a')), std::string(256, 'a'));
  EXPECT_EQ(CheckedEndUser("  " + std::string(256, 'a') + "  ").size(), kMostEndUserBytes);
  EXPECT_EQ(CheckedEndUser(std::string(257, 'a')), kInvalidEndUser);
  EXPECT_EQ(CheckedEndUser(std::string(10000, 'a')), kInvalidEndUser);
  EXPECT_EQ(CheckedEndUser("(invalid)"), kInvalidEndUser);
  EXPECT_EQ(CheckedEndUser(" (overflow) "), kInvalidEndUser);
}

TEST(CheckedEndUser, GivesPrintableTextOfRandomBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 50000; ++round) {
    // Without a byte behind the text, so that reading on is seen.
    std::vector<char> bytes(random() % 12);
    for (char& c : bytes) c = static_cast<char>(random() % 4 == 0 ? random() % 128 : 0x80 + random() % 128);
    const std::string_view name(bytes.data(), bytes.size());
    const std::string_view checked = CheckedEndUser(name);
    EXPECT_LE(checked.size(), kMostEndUserBytes);
    for (const char c : checked) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
    EXPECT_EQ(CheckedEndUser(checked), checked);
  }
}

}  // namespace
}  // namespace privacy_score
