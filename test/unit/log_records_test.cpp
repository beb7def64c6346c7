/*
 * log_records_test.cpp - records of the three formats, in pieces of any size; nothing that a file can hold breaks the
 * reader.
 */
#include "core/logs/log_records.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/base/error.hpp"

namespace privacy_score {
namespace {

constexpr const char* kPrefix = "%m [%p] %q%u@%d ";

constexpr const char* kCsv =
    "2026-11-27 07:05:47.906 UTC,\"alice\",\"shop\",7,\"[local]\",6b0.7,1,\"SELECT\",2026-11-27 07:05:00 UTC,3/1,0,LOG,"
    "00000,\"statement: SELECT \"\"a\"\",\n  'b' FROM t\",,,,,,,,,\"psql\",\"client backend\",,0\n"
    "2026-11-27 07:05:48.001 UTC,,,9,,6b0.9,1,,2026-11-27 07:05:00 UTC,,0,LOG,00000,\"checkpoint starting\",,,,,,,,,"
    "\"\",\"checkpointer\",,0\n"
    "2026-11-27 07:05:49.000 UTC,\"alice\",\"shop\",7,\"[local]\",6b0.7,2,\"EXECUTE\",2026-11-27 07:05:00 "
    "UTC,3/1,0,LOG,"
    "00000,\"statement: EXECUTE p(1)\",\"prepare: PREPARE p AS SELECT 1\",,,,,,,,\"psql\",\"client backend\",,0\n";

constexpr const char* kJson =
    "{\"timestamp\":\"2026-11-27 07:05:47.906 UTC\",\"user\":\"alice\",\"dbname\":\"shop\",\"pid\":7,\"session_id\":"
    "\"6b0.7\",\"error_severity\":\"LOG\",\"message\":\"statement: SELECT \\\"a\\\",\\n  'b' FROM t\"}\n"
    "{\"timestamp\":\"2026-11-27 07:05:48.001 UTC\",\"pid\":9,\"session_id\":\"6b0.9\",\"error_severity\":\"LOG\","
    "\"message\":\"checkpoint starting\"}\n"
    "{\"timestamp\":\"2026-11-27 07:05:49.000 UTC\",\"user\":\"alice\",\"dbname\":\"shop\",\"pid\":7,\"session_id\":"
    "\"6b0.7\",\"error_severity\":\"LOG\",\"message\":\"statement: EXECUTE p(1)\",\"detail\":\"prepare: PREPARE p AS "
    "SELECT 1\"}\n";

constexpr const char* kLines =
    "2026-11-27 07:05:47.906 UTC [7] alice@shop LOG:  statement: SELECT \"a\",\n\t  'b' FROM t\n"
    "2026-11-27 07:05:48.001 UTC [9] LOG:  checkpoint starting\n"
    "2026-11-27 07:05:49.000 UTC [7] alice@shop LOG:  statement: EXECUTE p(1)\n"
    "2026-11-27 07:05:49.000 UTC [7] alice@shop DETAIL:  prepare: PREPARE p AS SELECT 1\n"
    "2026-11-27 07:05:49.000 UTC [7] alice@shop STATEMENT:  EXECUTE p(1)\n";

// Each record as a line; "?" for what was not understood.
std::vector<std::string> Read(LogFormat format, std::string_view log, std::size_t piece) {
  LogRecords records(format, kPrefix);
  std::vector<std::string> all;
  const auto take = [&] {
    for (LogRecord record;;) {
      const LogRecords::State state = records.Next(&record);
      if (state == LogRecords::State::kMore) return;
      all.push_back(state == LogRecords::State::kNotUnderstood
                        ? "?"
                        : record.at + "|" + record.role + "|" + record.database + "|" + record.severity + "|" +
                              record.message + "|" + record.detail);
      if (all.size() > 10000) return;
    }
  };
  for (std::size_t at = 0; at < log.size(); at += piece) {
    records.Feed(log.substr(at, piece));
    take();
  }
  records.Finish();
  take();
  return all;
}

const std::vector<std::string> kExpected = {
    "2026-11-27 07:05:47.906 UTC|alice|shop|LOG|statement: SELECT \"a\",\n  'b' FROM t|",
    "2026-11-27 07:05:48.001 UTC|||LOG|checkpoint starting|",
    "2026-11-27 07:05:49.000 UTC|alice|shop|LOG|statement: EXECUTE p(1)|prepare: PREPARE p AS SELECT 1"};

TEST(LogRecords, TheThreeFormatsTellTheSameInPiecesOfAnySize) {
  for (const std::size_t piece : {1, 2, 3, 7, 64, 100000}) {
    EXPECT_EQ(Read(LogFormat::kCsv, kCsv, piece), kExpected) << piece;
    EXPECT_EQ(Read(LogFormat::kJson, kJson, piece), kExpected) << piece;
    EXPECT_EQ(Read(LogFormat::kLines, kLines, piece), kExpected) << piece;
  }
}

TEST(LogRecords, WhatEndsWithinARecordIsLeftOut) {
  const std::string csv = kCsv;
  EXPECT_EQ(Read(LogFormat::kCsv, csv.substr(0, csv.size() - 1), 10).size(), 2u);
  EXPECT_EQ(Read(LogFormat::kCsv, csv.substr(0, 150), 10).size(), 0u);
  // Lines: the last one may lack its end.
  const std::string lines = kLines;
  EXPECT_EQ(Read(LogFormat::kLines, lines.substr(0, lines.size() - 1), 10), kExpected);
}

TEST(LogRecords, WhatIsNoneIsToldAndTheNextOneIsRead) {
  EXPECT_EQ(Read(LogFormat::kCsv, std::string("a,b\n") + kCsv, 5).front(), "?");
  EXPECT_EQ(Read(LogFormat::kCsv, std::string("a,b\n") + kCsv, 5).size(), 4u);
  EXPECT_EQ(Read(LogFormat::kJson, std::string(1000000, '[') + "\n" + kJson, 4096).size(), 4u);
  EXPECT_EQ(Read(LogFormat::kJson, std::string("{\"timestamp\": }\n[1]\nnull\n") + kJson, 5).size(), 6u);
  const std::vector<std::string> lines =
      Read(LogFormat::kLines, std::string("hello\n") + kLines + "hello\n" + kLines, 5);
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0], "?");
  EXPECT_EQ(lines[3], kExpected[2]);
  EXPECT_EQ(lines[4], "?");
  EXPECT_EQ(lines[5], kExpected[0]);
}

// A statement may be longer than what is looked at, and have lines that look like records.
TEST(LogRecords, WhatIsTooLongIsLeftOutToItsEnd) {
  const std::string forged =
      "2026-11-27 07:05:47.906 UTC,bob,shop,7,[local],6b0.8,1,SELECT,2026-11-27 07:05:00 UTC,3/1,0,LOG,00000,"
      "statement: SELECT 1,,,,,,,,,psql,client backend,,0\n";
  const std::string long_text(std::size_t{66} << 20, 'x');
  const std::string record = kCsv;
  const std::string begin = record.substr(0, record.find("SELECT \"\"a"));
  const std::vector<std::string> read =
      Read(LogFormat::kCsv, begin + long_text + "\n" + forged + "'\",,,,,,,,,\"psql\",\"client backend\",,0\n" + record,
           1 << 20);
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(read[0], "?");
  EXPECT_EQ(read[1], kExpected[0]);
  const std::string lines = kLines;
  const std::vector<std::string> of_lines =
      Read(LogFormat::kLines, lines.substr(0, lines.find('\n')) + long_text + "\n\tx\n" + lines, 1 << 20);
  ASSERT_EQ(of_lines.size(), 4u);
  EXPECT_EQ(of_lines[0], "?");
  EXPECT_EQ(of_lines[1], kExpected[0]);
}

// What others write between belongs to them.
TEST(LogRecords, ADetailBelongsToItsSession) {
  const std::vector<std::string> read = Read(LogFormat::kLines,
                                             "2026-11-27 07:05:49.000 UTC [7] alice@shop LOG:  execute p: SELECT $1\n"
                                             "2026-11-27 07:05:49.000 UTC [8] bob@shop DETAIL:  parameters: $1 = '2'\n",
                                             1000);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0], "2026-11-27 07:05:49.000 UTC|alice|shop|LOG|execute p: SELECT $1|");
}

TEST(LogRecords, FormatsHaveTheirNames) {
  EXPECT_EQ(LogFormatOf("csvlog"), LogFormat::kCsv);
  EXPECT_EQ(LogFormatOf("jsonlog"), LogFormat::kJson);
  EXPECT_EQ(LogFormatOf("stderr"), LogFormat::kLines);
  EXPECT_THROW(LogFormatOf("syslog"), Error);
}

// Bytes turned, cut out and doubled at random: the reader always comes to its end, and pieces make no difference.
TEST(LogRecords, RandomDamageIsSurvived) {
  std::mt19937 random(20261127);
  for (int round = 0; round < 600; ++round) {
    const LogFormat format = static_cast<LogFormat>(round % 3);
    std::string log = format == LogFormat::kCsv ? kCsv : format == LogFormat::kJson ? kJson : kLines;
    log += log;
    for (unsigned i = 0; i <= random() % 8; ++i) {
      const std::size_t at = random() % log.size();
      switch (random() % 4) {
        case 0:
          log[at] = static_cast<char>(random());
          break;
        case 1:
          log.erase(at, random() % 20);
          break;
        case 2:
          log.insert(at, 1, "\",\n\t{}\\"[random() % 7]);
          break;
        default:
          log.insert(at, log.substr(at, random() % 40));
      }
    }
    EXPECT_EQ(Read(format, log, 1 + random() % 50), Read(format, log, log.size())) << log;
  }
}

}  // namespace
}  // namespace privacy_score
