/*
 * log_records.hpp - records of a PostgreSQL server's log, from its bytes.
 *
 * Formats: csvlog (26 columns since PostgreSQL 14), jsonlog (since 15), and lines with log_line_prefix as they go to
 * stderr or a file. A record may go over several lines; what follows the last whole one is kept until more bytes come.
 * A log that is still being written may end within a record, which is then left out.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/logs/line_prefix.hpp"

namespace privacy_score {

enum class LogFormat { kCsv, kJson, kLines };

// Of LogFormat by the name that log_destination has for it: csvlog, jsonlog, stderr. Throws Error 22023.
LogFormat LogFormatOf(std::string_view name);

class LogRecords {
 public:
  // `line_prefix` is log_line_prefix, and counts for kLines only. Throws Error 22023 when lines with it do not tell the
  // role and when.
  LogRecords(LogFormat format, std::string_view line_prefix);

  // Takes the next bytes of the log.
  void Feed(std::string_view bytes);

  // There are no more bytes: of lines the last one is whole.
  void Finish();

  enum class State { kRecord, kNotUnderstood, kMore };

  // The next whole record; kNotUnderstood when what is there is none, kMore when there is none yet.
  State Next(LogRecord* record);

 private:
  std::optional<std::string> TakeRaw();
  std::size_t EndOfCsv();
  std::size_t EndOfLines();
  State Parse(const std::string& raw, LogRecord* record);
  State ParseLine(const std::string& raw, LogRecord* record);

  LogFormat format_;
  std::optional<LinePrefix> prefix_;
  std::string buffer_;
  std::size_t begin_ = 0;   // of what has not been taken
  std::size_t looked_ = 0;  // how far the end of the record has been looked for
  bool quoted_ = false;     // csv: looked_ is within quotes
  bool finished_ = false;
  bool skipping_ = false;          // what is too long is left out up to its end
  std::optional<LogRecord> held_;  // lines: a DETAIL may follow
  bool strange_ = false;           // lines: one that is none came after the record that was handed out
};

}  // namespace privacy_score
