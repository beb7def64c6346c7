/*
 * logged_statement_test.cpp - which statement a record tells of, and none twice.
 */
#include "core/logs/logged_statement.hpp"

#include <gtest/gtest.h>

namespace privacy_score {
namespace {

// The statement of a message of session "s", "-" for none.
std::string Of(LoggedStatements* statements, const char* message, const char* detail = "",
               const char* severity = "LOG") {
  LogRecord record;
  record.session = "s";
  record.message = message;
  record.detail = detail;
  record.severity = severity;
  const std::optional<LoggedStatement> statement = statements->Of(record);
  if (!statement) return "-";
  std::string shown = statement->sql;
  if (!statement->parameters.empty()) shown += " --";
  for (const std::optional<std::string>& value : statement->parameters) shown += value ? " <" + *value + '>' : " NULL";
  if (!statement->execute.empty()) shown += " -- " + statement->execute;
  if (statement->rows) shown += " -- " + std::to_string(*statement->rows) + " rows";
  return shown;
}

TEST(LoggedStatements, OfTheServer) {
  LoggedStatements log;
  EXPECT_EQ(Of(&log, "statement: SELECT 1"), "SELECT 1");
  EXPECT_EQ(Of(&log, "duration: 0.123 ms  statement: SELECT 2"), "SELECT 2");
  EXPECT_EQ(Of(&log, "duration: 0.123 ms"), "-");
  EXPECT_EQ(Of(&log, "duration: 0.123 ms  parse <unnamed>: SELECT 2"), "-");
  EXPECT_EQ(Of(&log, "duration: 0.123 ms  bind <unnamed>: SELECT 2"), "-");
  EXPECT_EQ(Of(&log, "execute <unnamed>: SELECT 3", "parameters: $1 = '7'"), "SELECT 3 -- <7>");
  EXPECT_EQ(Of(&log, "execute S_1/C_2: SELECT 'a: b'"), "SELECT 'a: b'");
  EXPECT_EQ(Of(&log, "execute fetch from S_1/C_2: SELECT 3"), "-");
  EXPECT_EQ(Of(&log, "statement: EXECUTE p(7)", "prepare: PREPARE p AS SELECT 4"),
            "PREPARE p AS SELECT 4 -- EXECUTE p(7)");
  EXPECT_EQ(Of(&log, "statement:  prepare p AS SELECT 4"), "-");
  EXPECT_EQ(Of(&log, "statement: preparation"), "preparation");
  EXPECT_EQ(Of(&log, "statement: SELECT 1", "", "ERROR"), "-");
  EXPECT_EQ(Of(&log, "connection received: host=[local]"), "-");
  EXPECT_EQ(Of(&log, ""), "-");
}

TEST(LoggedStatements, Parameters) {
  LoggedStatements log;
  const auto of = [&log](const char* detail) { return Of(&log, "execute <unnamed>: SELECT 3", detail); };
  EXPECT_EQ(of("Parameters: $1 = '7', $2 = NULL, $3 = 'it''s, $4 = ''8'''"), "SELECT 3 -- <7> NULL <it's, $4 = '8'>");
  EXPECT_EQ(of("parameters: $1 = '', $2 = ''''"), "SELECT 3 -- <> <'>");
  // What is cut short tells nothing.
  for (const char* detail :
       {"parameters: $1 = '7", "parameters: $1 = 7", "parameters: $2 = '7'", "parameters: ", "other"})
    EXPECT_EQ(of(detail), "SELECT 3") << detail;
}

TEST(LoggedStatements, OfPgaudit) {
  LoggedStatements log;
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,1,1,READ,SELECT,,,\"SELECT a, \"\"b\"\" FROM t\",<none>"),
            "SELECT a, \"b\" FROM t");
  EXPECT_EQ(Of(&log, "AUDIT: OBJECT,1,1,READ,SELECT,TABLE,public.t,\"SELECT a, \"\"b\"\" FROM t\",<none>"), "-");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,1,2,READ,SELECT,,,SELECT 2,<none>"), "SELECT 2");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,2,1,READ,SELECT,TABLE,public.t,<previously logged>,<previously logged>"), "-");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,3,1,READ,SELECT,,,<not logged>,<not logged>"), "-");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,4,1,READ"), "-");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,5,1,READ,PREPARE,,,PREPARE p AS SELECT 1,<none>"), "-");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,8,1,READ,SELECT,,,SELECT 8,\"7,\"\"a b\"\",\""), "SELECT 8 -- <7> <a b> <>");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,9,1,READ,SELECT,,,SELECT 9,<none>,17"), "SELECT 9 -- 17 rows");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,10,1,READ,SELECT,,,SELECT 9,<not logged>,many"), "SELECT 9");
  // What log_statement has told already.
  EXPECT_EQ(Of(&log, "statement: SELECT 6"), "SELECT 6");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,6,1,READ,SELECT,,,SELECT 6,<none>"), "-");
  EXPECT_EQ(Of(&log, "AUDIT: SESSION,7,1,READ,SELECT,,,SELECT 7,<none>"), "SELECT 7");
}

}  // namespace
}  // namespace privacy_score
