/*
 * line_prefix_test.cpp - log_line_prefix: Debian's, other people's, and those that do not tell enough.
 */
#include "core/logs/line_prefix.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace privacy_score {
namespace {

// "at|role|database|session|severity|rest of the line"; empty when it does not match.
std::string Matched(const char* prefix, std::string_view line) {
  LogRecord record;
  std::size_t length = 0;
  if (!LinePrefix(prefix).Match(line, &record, &length)) return "";
  return record.at + "|" + record.role + "|" + record.database + "|" + record.session + "|" + record.severity + "|" +
         std::string(line.substr(length));
}

TEST(LinePrefix, Debian) {
  const char* const prefix = "%m [%p] %q%u@%d ";
  EXPECT_EQ(Matched(prefix, "2026-11-27 07:05:47.906 UTC [123] alice@shop LOG:  statement: SELECT 1"),
            "2026-11-27 07:05:47.906 UTC|alice|shop|123|LOG|statement: SELECT 1");
  EXPECT_EQ(Matched(prefix, "2026-11-27 07:05:47.906 CET [1] LOG:  checkpoint: LOG:  x"),
            "2026-11-27 07:05:47.906 CET|||1|LOG|checkpoint: LOG:  x");
  EXPECT_EQ(Matched(prefix, "2026-11-27 07:05:47.906 UTC [123] [unknown]@[unknown] LOG:  connection received"),
            "2026-11-27 07:05:47.906 UTC|||123|LOG|connection received");
  EXPECT_EQ(Matched(prefix, "2026-11-27 07:05 UTC [123] alice@shop LOG:  statement: SELECT 1"), "");
  EXPECT_EQ(Matched(prefix, "2026-11-27 07:05:47.906 UTC [123] alice@shop NOTHING:  x"), "");
  EXPECT_EQ(Matched(prefix, ""), "");
}

TEST(LinePrefix, Others) {
  EXPECT_EQ(Matched("%t:%r:%u@%d:[%p]: ", "2026-11-27 07:05:47 UTC:127.0.0.1(55):alice@shop:[9]: LOG:  x"),
            "2026-11-27 07:05:47 UTC|alice|shop|9|LOG|x");
  EXPECT_EQ(Matched("%n %c %l user=%u,db=%d,app=%a,client=%h ",
                    "1764230747.906 6927f5a4.1a2b 3 user=alice,db=shop,app=My App,client=[local] ERROR:  x"),
            "1764230747.906|alice|shop|6927f5a4.1a2b|ERROR|x");
  EXPECT_EQ(Matched("%-10u %5p %m ", "alice          9 2026-11-27 07:05:47.906 +02 DEBUG1:  x"),
            "2026-11-27 07:05:47.906 +02|alice||9|DEBUG1|x");
  EXPECT_EQ(Matched("%m %p 100%% %u", "2026-11-27 07:05:47.906 UTC 9 100% aliceLOG:  x"),
            "2026-11-27 07:05:47.906 UTC|alice||9|LOG|x");
}

// The program of a client, or a name that it gave before it was let in, says what another role's line would say.
TEST(LinePrefix, WhatCanBeReadInTwoWaysIsNoMatch) {
  const char* const debian = "%m [%p] %q%u@%d ";
  EXPECT_EQ(Matched(debian, "2026-11-27 07:05:47.906 UTC [1] bob@shop LOG:  statement: SELECT 1 --@x FATAL:  no entry"),
            "");
  EXPECT_EQ(Matched(debian, "2026-11-27 07:05:47.906 UTC [1] bob@shop LOG:  statement: SELECT 'a@b.c', 'x:  y'"),
            "2026-11-27 07:05:47.906 UTC|bob|shop|1|LOG|statement: SELECT 'a@b.c', 'x:  y'");
  const char* const program = "%m [%p] %a %u@%d ";
  EXPECT_EQ(
      Matched(
          program,
          "2026-11-27 07:05:47.906 UTC [1] x bob@shop LOG:  statement: TABLE t -- eve@shop LOG:  statement: SELECT 1"),
      "");
  EXPECT_EQ(Matched(program, "2026-11-27 07:05:47.906 UTC [1] psql eve@shop LOG:  statement: SELECT 1"),
            "2026-11-27 07:05:47.906 UTC|eve|shop|1|LOG|statement: SELECT 1");
  // Behind the role it would hide what the role does.
  EXPECT_EQ(Matched("%m %p %u %a ", "2026-11-27 07:05:47.906 UTC 1 eve x LOG:  y LOG:  statement: SELECT 1"), "");
}

TEST(LinePrefix, WhatDoesNotTellEnough) {
  for (const char* prefix : {"", "%m [%p] ", "%u@%d ", "%m %u ", "%p %u ", "%m %p %u%d ", "%"})
    EXPECT_THROW(LinePrefix{prefix}, Error) << prefix;
}

TEST(LinePrefix, Severities) {
  EXPECT_TRUE(IsFurther("DETAIL"));
  EXPECT_FALSE(IsFurther("LOG"));
}

}  // namespace
}  // namespace privacy_score
