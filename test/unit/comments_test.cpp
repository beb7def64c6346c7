/*
 * comments_test.cpp - the outer comments of statements and tags in them; nothing else in a statement passes for one.
 */
#include "core/principal/comments.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/principal/end_user.hpp"

#include "sanitizers.hpp"

namespace privacy_score {
namespace {

// "first|last".
std::string Outer(std::string_view sql) {
  const OuterComments comments = OuterCommentsOf(sql);
  return std::string(comments.first) + "|" + std::string(comments.last);
}

// The tag u, "-" where there is none.
std::string Tag(std::string_view sql, std::string_view key = "u") { return CommentTag(sql, key).value_or("-"); }

TEST(OuterComments, AreTheFirstAndTheLast) {
  EXPECT_EQ(Outer(""), "|");
  EXPECT_EQ(Outer("SELECT 1"), "|");
  EXPECT_EQ(Outer("/*a*/ SELECT 1"), "a|");
  EXPECT_EQ(Outer("SELECT 1 /* b */"), "| b ");
  EXPECT_EQ(Outer(" \n\t/*a*/SELECT 1/*b*/;\n; "), "a|b");
  EXPECT_EQ(Outer("SELECT 1; /*b*/"), "|b");
  EXPECT_EQ(Outer("SELECT 1 /*a*/ ; /*b*/ ;"), "|b");
  EXPECT_EQ(Outer("/*a*/ /*b*/ SELECT 1 /*c*/ /*d*/"), "a|d");
  EXPECT_EQ(Outer("SELECT /*a*/ 1"), "|");
  EXPECT_EQ(Outer("; /*a*/ SELECT 1"), "|");
  EXPECT_EQ(Outer("SELECT 1; /*a*/ SELECT 2"), "|");
  EXPECT_EQ(Outer("/**/SELECT 1/**/"), "|");
}

TEST(OuterComments, MayBeOne) {
  EXPECT_EQ(Outer("/*a*/"), "a|a");
  EXPECT_EQ(Outer("/*a*/;"), "a|a");
  EXPECT_EQ(Outer("/*a*/ /*b*/"), "a|b");
  EXPECT_EQ(Outer("--a"), "a|a");
  EXPECT_EQ(Outer("--"), "|");
}

TEST(OuterComments, AreRunsOfLines) {
  EXPECT_EQ(Outer("-- a\nSELECT 1 -- b"), " a| b");
  EXPECT_EQ(Outer("-- a\r\n  -- b\r\nSELECT 1\n-- c\n-- d\n"), " a\r\n  -- b| c\n-- d");
  EXPECT_EQ(Outer("--a\n/*b*/--c\n--d\nSELECT 1--e\n/*f*/"), "a|f");
  EXPECT_EQ(Outer("--a\n/*b*/--c\n--d"), "a|c\n--d");
  EXPECT_EQ(Outer("SELECT 1--a\n;--b"), "|b");
  EXPECT_EQ(Outer("--a\rSELECT 1"), "a|");
  EXPECT_EQ(Outer("SELECT 1--/*a\n"), "|/*a");
}

TEST(OuterComments, AreNested) {
  EXPECT_EQ(Outer("/*a/*b*/c*/SELECT 1/*d/*/**/*/*/"), "a/*b*/c|d/*/**/*/");
  EXPECT_EQ(Outer("/*/*/ */ */ SELECT 1"), "/*/ */ |");
  EXPECT_EQ(Outer("/***/SELECT 1/*-- '*/"), "*|-- '");
}

TEST(OuterComments, AreNoneThatAreNotFinished) {
  EXPECT_EQ(Outer("/*a"), "|");
  EXPECT_EQ(Outer("/*a/*b*/ SELECT 1"), "|");
  EXPECT_EQ(Outer("/*"), "|");
  EXPECT_EQ(Outer("/*/"), "|");
  EXPECT_EQ(Outer("/*a*/ SELECT 1 /*b*/ /*c"), "a|");
  for (const char* open : {"'", "\"", "$$", "$a$", "E'\\'", "$a$ $b$", "U&'", "E'"})
    EXPECT_EQ(Outer("/*a*/ SELECT " + std::string(open) + " /*b*/"), "a|") << open;
  EXPECT_EQ(Outer("SELECT 1 /*b*/ */"), "|");
}

TEST(OuterComments, AreNotWithinStrings) {
  for (const char* string : {"'%'", "'x''%'", "\"%\"", "\"x\"\"%\"", "$$%$$", "$a$%$a$", "$a$ $b$ $$ $%$a$", "E'\\'%'",
                             "e'\\\\''%'", "E'''%'", "U&'\\0041%'", "U&\"%\"", "N'%'", "B'%'", "'a'\n'%'",
                             "E'a'\n'\\'%'", "E'a' --'\n 'b' \n\t--x\n '\\'%'", "$\xC3\xA4$%$\xC3\xA4$", "x.E'\\'%'"}) {
    for (const char* comment : {"/*u='x'*/", "--u='x'\n"}) {
      std::string sql = string;
      sql.replace(sql.find('%'), 1, comment);
      EXPECT_EQ(Outer("SELECT " + sql), "|") << sql;
      EXPECT_EQ(Outer("SELECT " + sql + " /*b*/"), "|b") << sql;
      EXPECT_EQ(Tag("SELECT " + sql), "-") << sql;
    }
  }
}

TEST(OuterComments, ComeAfterStringsThatHaveEnded) {
  for (const char* string : {"'\\'",
                             "'a\\'",
                             "U&'\\'",
                             "xE'\\'",
                             "_e'\\'",
                             "\xC3\xA4"
                             "e'\\'",
                             "a$$",
                             "a$b$",
                             "$1",
                             "$",
                             "$a",
                             "$1$",
                             "E'\\\\'",
                             "E'a' '\\'",
                             "E'a'\n\"\\\"",
                             "E'a'--\n/**/'\\'",
                             "'a'\n'\\'",
                             "1",
                             "\"e\"'\\'",
                             "$$'$$",
                             "$a$$$a$",
                             "E''",
                             "''''"})
    EXPECT_EQ(Outer("SELECT " + std::string(string) + "/*b*/"), "|b") << string;
}

TEST(OuterComments, BeginWithinOperators) {
  EXPECT_EQ(Outer("SELECT 1 +--b"), "|b");
  EXPECT_EQ(Outer("SELECT 1 */*b*/"), "|b");
  EXPECT_EQ(Outer("SELECT 1 -/*b*/"), "|b");
  EXPECT_EQ(Outer("SELECT 1 - -1"), "|");
}

TEST(OuterComments, StandAnyBytes) {
  using std::literals::operator""sv;
  EXPECT_EQ(Outer("/*\0a*/ SELECT \0 1 /*\xFF*/"sv), "\0a|\xFF"sv);
  EXPECT_EQ(Outer("/*" + std::string(10000, 'x') + "*/ SELECT 1").size(), 10001U);
}

TEST(CommentTag, IsInEitherComment) {
  EXPECT_EQ(Tag("SELECT 1 /*u='alice'*/"), "alice");
  EXPECT_EQ(Tag("/*u='alice'*/ SELECT 1"), "alice");
  EXPECT_EQ(Tag("SELECT 1 /* a='1' , u='alice'\n,\tb='' */;"), "alice");
  EXPECT_EQ(Tag("SELECT 1 --u='alice'\n"), "alice");
  EXPECT_EQ(Tag("SELECT 1 -- u='alice',a='b' \r\n"), "alice");
  EXPECT_EQ(Tag("/*u=''*/ SELECT 1"), "");
  EXPECT_EQ(Tag("/*u='alice'*/"), "alice");
  EXPECT_EQ(Tag("SELECT 1 /*u='alice'*/ + 2"), "-");
  EXPECT_EQ(Tag("SELECT 1 /*u='alice'*/ /*x*/"), "-");
  EXPECT_EQ(Tag("/*+ SeqScan(t) */ SELECT 1 /*u='alice'*/"), "alice");
  EXPECT_EQ(Tag("/*+ SeqScan(t) */ SELECT 1"), "-");
  EXPECT_EQ(Tag("SELECT 1 /*U='alice'*/"), "-");
  EXPECT_EQ(Tag("SELECT 1 /*user='alice'*/"), "-");
  EXPECT_EQ(Tag("SELECT 1 /*db.user-id='a',x%2fy='b'*/", "db.user-id"), "a");
  EXPECT_EQ(Tag("SELECT 1 /*db.user-id='a',x%2fy='b'*/", "x/y"), "b");
}

TEST(CommentTag, IsDecoded) {
  EXPECT_EQ(Tag("SELECT 1 /*u='O%27Neil%20%C3%a4'*/"), "O'Neil \xC3\xA4");
  EXPECT_EQ(Tag("SELECT 1 /*u='O\\'Neil'*/"), "O'Neil");
  EXPECT_EQ(Tag("SELECT 1 /*u='%5C%2F%2a',a='\\''*/"), "\\/*");
  EXPECT_EQ(Tag("SELECT 1 /*u='a+b@c d'*/"), "a+b@c d");
  EXPECT_EQ(Tag("SELECT 1 /*u='a%00b'*/"), std::string("a\0b", 3));
  EXPECT_EQ(Tag("SELECT 1 /*u='" + std::string(10000, 'x') + "'*/").size(), 10000U);
}

TEST(CommentTag, IsInvalidWithMalformedEscapes) {
  for (const char* value : {"%", "%2", "a%2x", "%zz", "100%", "% 20"})
    EXPECT_EQ(Tag("SELECT 1 /*u='" + std::string(value) + "'*/"), kInvalidEndUser) << value;
  EXPECT_EQ(Tag("SELECT 1 /*u='alice',a='%'*/"), "alice");
}

TEST(CommentTag, IsNotInCommentsOfOtherFormats) {
  for (const char* comment : {"u=alice",          "u='alice",          "u='alice' b",       "u='alice',",
                              ",u='alice'",       "u='alice',,a='b'",  "u='alice' a='b'",   "u = 'alice'",
                              "x u='alice'",      "u='alice',b",       "u='alice',b=c",     "u='alice',='c'",
                              "u='a\\b'",         "u='a\\\\'",         "u='a''b'",          "u='a\\'",
                              "u=\"alice\"",      "u='alice';",        "u='alice',--b='c'", "u='alice',a--b='c'",
                              "u='alice',a%='c'", "u='alice',a%2='c'", "u='alice',a b='c'", "u='alice',\xC3\xA4='c'",
                              "'u'='alice'",      "/*u='alice'*/"})
    EXPECT_EQ(Tag("SELECT 1 /*" + std::string(comment) + "*/"), "-") << comment;
}

TEST(CommentTag, IsNeverChosen) {
  EXPECT_EQ(Tag("/*u='alice'*/ SELECT 1 /*u='alice'*/"), "alice");
  EXPECT_EQ(Tag("/*u='al%69ce'*/ SELECT 1 /*u='alice'*/"), "alice");
  EXPECT_EQ(Tag("/*u='alice'*/ SELECT 1 /*u='bob'*/"), kInvalidEndUser);
  EXPECT_EQ(Tag("/*u='alice'*/ SELECT 1 /*u='%'*/"), kInvalidEndUser);
  EXPECT_EQ(Tag("/*u='%'*/ SELECT 1 /*u='%'*/"), kInvalidEndUser);
  EXPECT_EQ(Tag("/*u='alice',u='alice'*/ SELECT 1"), kInvalidEndUser);
  EXPECT_EQ(Tag("SELECT 1 /*u='alice',a='b',u='bob'*/"), kInvalidEndUser);
  EXPECT_EQ(Tag("/*u='alice'*/ SELECT 1 /*a='b'*/"), "alice");
  EXPECT_EQ(Tag("/*u='alice'*/ /*u='bob'*/ SELECT 1"), "alice");
  EXPECT_EQ(Tag("/*u='alice'*/ /*u='bob'*/"), kInvalidEndUser);
}

TEST(CommentTag, IsReadFromEachLineOfARun) {
  EXPECT_EQ(Tag("SELECT 1 --x\n--u='alice'"), "alice");
  EXPECT_EQ(Tag("--u='alice'\n\n  -- a comment\nSELECT 1"), "alice");
  EXPECT_EQ(Tag("SELECT 1 --u='alice'\n--u='bob'"), kInvalidEndUser);
  EXPECT_EQ(Tag("SELECT 1 --u='alice'\n;--u='bob'"), "bob");
  EXPECT_EQ(Tag("SELECT 1 --u='alice',\n--a='b'"), "-");
}

// Somebody appends the comment of alice to text that bob has written, or part of it.
TEST(CommentTag, CannotBeForgedWithWhatStandsBeforeIt) {
  for (const char* appended : {"/*u='alice'*/", " /*u='alice'*/", "--u='alice'", " -- a='b',u='alice'"}) {
    for (const char* rest : {"", "' AND x = 'y'", ", 'c')", " AND x = 1"}) {
      for (const char* text : {"SELECT 1",
                               "SELECT 1 --u='bob'",
                               "SELECT 1 /*u='bob'*/",
                               "SELECT 1 /*u='bob'*/--",
                               "SELECT 1 --u='bob',",
                               "SELECT 1 --u='bob',x",
                               "SELECT 1 --u='bob',x=",
                               "SELECT 1 --u='bob',x='",
                               "SELECT 1 --u='bob',x='\\",
                               "SELECT 1 --u='bob'\n",
                               "SELECT 1 --u='bob',x%2",
                               "SELECT 1 '/*u='bob'*/",
                               "SELECT 1 /*u='bob',x='",
                               "/*u='bob'*/ SELECT 1",
                               "/*u='bob'*/ SELECT 1 --",
                               "/*u='bob'*/ SELECT 1 --x='",
                               "/*u='bob'*/ SELECT 1 -- %",
                               "/*u='bob'*/ SELECT 1; --\n",
                               "--u='bob'\nSELECT 1--",
                               "--u='bob'\n--"}) {
        const std::string sql = std::string(text) + rest + appended;
        // Of a statement that is not finished, which does not run, the first comment counts.
        const OuterComments comments = OuterCommentsOf(sql);
        if (comments.last.data() == nullptr) continue;
        EXPECT_NE(Tag(sql), "bob") << sql;
      }
    }
  }
  EXPECT_EQ(Tag("/*u='bob'*/ SELECT 1 --/*u='alice'*/"), kInvalidEndUser);
  EXPECT_EQ(Tag("/*a%2fb='bob'*/ SELECT 1 --/*a%2Fb='alice'*/", "a/b"), kInvalidEndUser);
}

TEST(CommentTag, CannotBeForgedBehindTheFirstComment) {
  for (const char* text : {"SELECT '/*u=''bob''*/'", "SELECT 1 --", "/*u='bob'*/ SELECT 1", "SELECT $$ --u='bob'\n $$"})
    EXPECT_EQ(Tag("/*u='alice'*/ " + std::string(text)), "alice") << text;
  for (const char* text : {"SELECT 1 /*u='bob'*/", "SELECT 1 --u='bob'", "SELECT 1 /*u='bob',*/"})
    EXPECT_EQ(Tag("/*u='alice'*/ " + std::string(text)), kInvalidEndUser) << text;
}

TEST(CommentTag, TakesTimeInProportion) {
  // What would take hours if a part were read again for each of its bytes, or end the process if it were read by calls.
  for (const char* piece : {"/*", "/**/", "--\n", "'", "E'", "E'a'\n", "E'a'--\n", "$a$", "$a", "$", "\"", "a", " ",
                            ";", "/*u='a'*/", "--u='a'\n", "u='a',", "*/", "%"}) {
    for (const char* before : {"", "/*", "$x$", "E'", "--u='", "--u='a',"}) {
      std::string sql = before;
      while (sql.size() < testing_support::Instances(std::size_t{200000})) sql += piece;
      for (const char* after : {"", "*/", "'"}) CommentTag(sql + after, "u");
    }
  }
}

TEST(CommentTag, ReadsRandomTextWithinItsBounds) {
  static constexpr std::string_view kPieces[] = {"/*",  "*/", "--",  "\n",    "'",         "E'", "\\",  "$",
                                                 "$a$", "\"", "u='", "u='a'", ",",         " ",  ";",   "%",
                                                 "%2",  "u",  "=",   "x",     "/*u='b'*/", "\r", "U&'", "\xC3"};
  std::mt19937 random(17);
  int found = 0;
  for (int round = 0; round < testing_support::Instances(200000); ++round) {
    std::vector<char> text;
    for (std::size_t i = random() % 14; i > 0; --i)
      for (const char c : kPieces[random() % std::size(kPieces)]) text.push_back(c);
    if (round % 4 == 0)
      for (char& c : text) c = static_cast<char>(random() % 256);
    text.shrink_to_fit();
    const std::string_view sql(text.data(), text.size());
    const OuterComments comments = OuterCommentsOf(sql);
    for (const std::string_view comment : {comments.first, comments.last}) {
      if (comment.data() == nullptr) continue;
      ASSERT_GE(comment.data(), sql.data());
      ASSERT_LE(comment.data() + comment.size(), sql.data() + sql.size());
    }
    if (CommentTag(sql, "u")) ++found;
  }
  EXPECT_GT(found, testing_support::Instances(1000));
}

}  // namespace
}  // namespace privacy_score
