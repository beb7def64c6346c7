/*
 * log_records.cpp - see log_records.hpp.
 */
#include "core/logs/log_records.hpp"
#include "core/base/json_field.hpp"

#define BOOST_BIND_GLOBAL_PLACEHOLDERS  // the parser of Boost 1.74 asks for it
#include <vector>

#include "core/base/error.hpp"
#include "core/logs/csv_fields.hpp"

namespace privacy_score {

namespace {

// A record that is longer is not looked at: the server logs statements whole.
constexpr std::size_t kLongestRecord = std::size_t{64} << 20;
// What has been taken is dropped from the buffer when it is more than this.
constexpr std::size_t kDropped = std::size_t{1} << 20;

// Columns of csvlog.
enum CsvColumn : std::size_t {
  kAt = 0,
  kUser = 1,
  kDatabase = 2,
  kSession = 5,
  kSeverity = 11,
  kMessage = 13,
  kDetail = 14
};
constexpr std::size_t kFewestColumns = 23;  // PostgreSQL 9.0; 26 since 14

LogRecords::State ParseCsv(std::string_view raw, LogRecord* record) {
  std::vector<std::string> fields;
  if (!SplitCsv(raw, &fields) || fields.size() < kFewestColumns) return LogRecords::State::kNotUnderstood;
  *record = {fields[kAt],       fields[kUser],    fields[kDatabase], fields[kSession],
             fields[kSeverity], fields[kMessage], fields[kDetail]};
  return LogRecords::State::kRecord;
}

// A line as deep as it likes: the reader does not go into what it does not look for.
LogRecords::State ParseJson(std::string_view raw, LogRecord* record) {
  const auto text = [raw](std::string_view key) { return JsonField(raw, key).value_or(std::string()); };
  *record = {text("timestamp"),      text("user"),    text("dbname"), text("session_id"),
             text("error_severity"), text("message"), text("detail")};
  return record->at.empty() ? LogRecords::State::kNotUnderstood : LogRecords::State::kRecord;
}

// Lines that go on after a line feed begin with a tab, which the server has put there.
std::string Joined(std::string_view lines) {
  std::string text;
  text.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += lines[i];
    if (lines[i] == '\n' && i + 1 < lines.size() && lines[i + 1] == '\t') ++i;
  }
  return text;
}

}  // namespace

LogFormat LogFormatOf(std::string_view name) {
  if (name == "csvlog") return LogFormat::kCsv;
  if (name == "jsonlog") return LogFormat::kJson;
  if (name == "stderr") return LogFormat::kLines;
  throw InvalidValue("there is no log format \"" + std::string(name) + "\"", "Formats are csvlog, jsonlog and stderr.");
}

LogRecords::LogRecords(LogFormat format, std::string_view line_prefix) : format_(format) {
  if (format == LogFormat::kLines) prefix_.emplace(line_prefix);
}

void LogRecords::Feed(std::string_view bytes) {
  if (begin_ > kDropped) {
    buffer_.erase(0, begin_);
    looked_ -= begin_;
    begin_ = 0;
  }
  buffer_.append(bytes);
}

void LogRecords::Finish() { finished_ = true; }

// The end of the record at begin_, behind its line feed; npos when it is not there yet.
std::size_t LogRecords::EndOfCsv() {
  for (; looked_ < buffer_.size(); ++looked_) {
    if (buffer_[looked_] == '"') quoted_ = !quoted_;
    if (buffer_[looked_] == '\n' && !quoted_) return ++looked_;
  }
  return std::string::npos;
}

std::size_t LogRecords::EndOfLines() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', looked_);
    if (end == std::string::npos) {
      looked_ = buffer_.size();
      return finished_ && begin_ < looked_ ? looked_ : std::string::npos;
    }
    const bool known = format_ == LogFormat::kJson || end + 1 < buffer_.size() || finished_;
    if (!known) {
      looked_ = end;
      return std::string::npos;
    }
    looked_ = end + 1;
    if (format_ == LogFormat::kJson || looked_ == buffer_.size() || buffer_[looked_] != '\t') return looked_;
  }
}

std::optional<std::string> LogRecords::TakeRaw() {
  for (;;) {
    const std::size_t end = format_ == LogFormat::kCsv ? EndOfCsv() : EndOfLines();
    if (end == std::string::npos) {
      if (skipping_ || buffer_.size() - begin_ > kLongestRecord) {
        begin_ = looked_;
        if (skipping_) return std::nullopt;
        skipping_ = true;
        return std::string();
      }
      return std::nullopt;
    }
    if (skipping_) {
      skipping_ = false;
      begin_ = end;
      continue;
    }
    std::string raw = buffer_.substr(begin_, end - begin_);
    begin_ = end;
    while (!raw.empty() && (raw.back() == '\n' || raw.back() == '\r')) raw.pop_back();
    if (!raw.empty()) return raw;
  }
}

LogRecords::State LogRecords::ParseLine(const std::string& raw, LogRecord* record) {
  std::size_t length = 0;
  if (!prefix_->Match(raw, record, &length)) return State::kNotUnderstood;
  record->message = Joined(std::string_view(raw).substr(length));
  return State::kRecord;
}

LogRecords::State LogRecords::Parse(const std::string& raw, LogRecord* record) {
  switch (format_) {
    case LogFormat::kCsv:
      return ParseCsv(raw, record);
    case LogFormat::kJson:
      return ParseJson(raw, record);
    default:
      return ParseLine(raw, record);
  }
}

LogRecords::State LogRecords::Next(LogRecord* record) {
  if (strange_) {
    strange_ = false;
    return State::kNotUnderstood;
  }
  while (std::optional<std::string> raw = TakeRaw()) {
    LogRecord next;
    const State state = raw->empty() ? State::kNotUnderstood : Parse(*raw, &next);
    if (format_ != LogFormat::kLines) {
      *record = std::move(next);
      return state;
    }
    // What belongs to the record before: its DETAIL is kept.
    if (state == State::kRecord && held_ && IsFurther(next.severity)) {
      if (next.severity == "DETAIL" && next.session == held_->session) held_->detail = std::move(next.message);
      continue;
    }
    std::optional<LogRecord> before = std::move(held_);
    held_.reset();
    if (state == State::kRecord) held_ = std::move(next);
    if (before) {
      *record = std::move(*before);
      // A line that was not understood is told with the next call.
      if (state == State::kNotUnderstood) strange_ = true;
      return State::kRecord;
    }
    if (state == State::kNotUnderstood) return state;
  }
  if (finished_ && held_) {
    *record = std::move(*held_);
    held_.reset();
    return State::kRecord;
  }
  return State::kMore;
}

}  // namespace privacy_score
