/*
 * logged_statement.cpp - see logged_statement.hpp.
 */
#include "core/logs/logged_statement.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <vector>

#include "core/logs/csv_fields.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMostSessions = 100000;
constexpr std::size_t kMostParameters = 65535;

// Fields of pgaudit's message.
enum AuditField : std::size_t { kNumber = 1, kSubNumber = 2, kText = 7, kParameters = 8, kRows = 9 };

bool Take(std::string_view* text, std::string_view beginning) {
  if (text->substr(0, beginning.size()) != beginning) return false;
  text->remove_prefix(beginning.size());
  return true;
}

// Takes "duration: 0.123 ms  " away, where it is followed by something.
void TakeDuration(std::string_view* text) {
  std::string_view rest = *text;
  if (!Take(&rest, "duration: ")) return;
  const std::size_t end = rest.find_first_not_of("0123456789.");
  if (end == std::string_view::npos) return;
  rest.remove_prefix(end);
  if (!Take(&rest, " ms")) return;
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (!rest.empty()) *text = rest;
}

std::optional<std::int64_t> RowsOf(const std::string& text) {
  if (text.empty() || text.size() > 15 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(text);
}

bool IsPrepare(std::string_view sql) {
  constexpr std::string_view kWord = "prepare";
  const std::size_t begin = sql.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const std::string_view word = sql.substr(begin, kWord.size() + 1);
  return word.size() == kWord.size() + 1 && std::isspace(static_cast<unsigned char>(word.back())) != 0 &&
         std::equal(kWord.begin(), kWord.end(), word.begin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

}  // namespace

std::vector<std::optional<std::string>> ParametersOfDetail(std::string_view detail) {
  std::vector<std::optional<std::string>> parameters;
  if (!Take(&detail, "parameters: ") && !Take(&detail, "Parameters: ")) return {};
  while (Take(&detail, "$" + std::to_string(parameters.size() + 1) + " = ")) {
    if (Take(&detail, "NULL")) {
      parameters.emplace_back(std::nullopt);
    } else {
      if (!Take(&detail, "'")) return {};
      std::string value;
      for (;; detail.remove_prefix(1)) {
        if (detail.empty()) return {};
        if (detail.front() == '\'') {
          detail.remove_prefix(1);
          if (detail.empty() || detail.front() != '\'') break;  // else a quote within
        }
        value += detail.front();
      }
      parameters.emplace_back(std::move(value));
    }
    if (!Take(&detail, ", ")) break;
  }
  return parameters;
}

std::optional<LoggedStatement> LoggedStatements::Audited(std::string_view audit, Session* session) {
  std::vector<std::string> fields;
  if (!SplitCsv(audit, &fields, kRows + 1) || fields.size() <= kText) return std::nullopt;
  std::string number = fields[kNumber] + '.' + fields[kSubNumber];
  if (number == session->audited) return std::nullopt;
  session->audited = std::move(number);
  const std::string& sql = fields[kText];
  if (sql == "<previously logged>" || sql == "<not logged>") return std::nullopt;
  if (std::hash<std::string_view>()(sql) == session->logged) return std::nullopt;
  if (IsPrepare(sql)) return std::nullopt;
  LoggedStatement statement;
  statement.sql = sql;
  if (fields.size() > kParameters && fields[kParameters] != "<not logged>" && fields[kParameters] != "<none>") {
    std::vector<std::string> values;
    if (SplitCsv(fields[kParameters], &values, kMostParameters))
      statement.parameters.assign(values.begin(), values.end());
  }
  if (fields.size() > kRows) statement.rows = RowsOf(fields[kRows]);
  return statement;
}

std::optional<LoggedStatement> LoggedStatements::Of(const LogRecord& record) {
  if (record.severity != "LOG") return std::nullopt;
  std::string_view text = record.message;
  TakeDuration(&text);
  const bool is_statement = text.substr(0, 11) == "statement: ";
  const bool is_execute = text.substr(0, 8) == "execute ";
  const bool is_audit = text.substr(0, 7) == "AUDIT: ";
  if (!is_statement && !is_execute && !is_audit) return std::nullopt;
  if (sessions_.size() > kMostSessions) sessions_.clear();
  Session& session = sessions_[record.session];
  if (is_audit) return Audited(text.substr(7), &session);
  if (is_execute) {
    const std::size_t name = text.find(": ");
    if (name == std::string_view::npos || text.substr(0, 19) == "execute fetch from ") return std::nullopt;
    text.remove_prefix(name + 2);
  } else {
    text.remove_prefix(11);
  }
  session.logged = std::hash<std::string_view>()(text);
  LoggedStatement statement;
  std::string_view prepared = record.detail;
  if (Take(&prepared, "prepare: ")) {
    statement.sql = prepared;
    statement.execute = text;
    return statement;
  }
  if (is_statement && IsPrepare(text)) return std::nullopt;
  statement.sql = text;
  statement.parameters = ParametersOfDetail(record.detail);
  return statement;
}

}  // namespace privacy_score
