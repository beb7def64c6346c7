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

// Fields of pgaudit's message.
enum AuditField : std::size_t { kNumber = 1, kSubNumber = 2, kText = 7 };

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

std::optional<std::string> LoggedStatements::Audited(std::string_view audit, Session* session) {
  std::vector<std::string> fields;
  if (!SplitCsv(audit, &fields, kText + 1) || fields.size() <= kText) return std::nullopt;
  std::string number = fields[kNumber] + '.' + fields[kSubNumber];
  if (number == session->audited) return std::nullopt;
  session->audited = std::move(number);
  const std::string& sql = fields[kText];
  if (sql == "<previously logged>" || sql == "<not logged>") return std::nullopt;
  if (std::hash<std::string_view>()(sql) == session->logged) return std::nullopt;
  return IsPrepare(sql) ? std::nullopt : std::optional<std::string>(sql);
}

std::optional<std::string> LoggedStatements::Of(const LogRecord& record) {
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
  std::string_view prepared = record.detail;
  if (Take(&prepared, "prepare: ")) return std::string(prepared);
  if (is_statement && IsPrepare(text)) return std::nullopt;
  return std::string(text);
}

}  // namespace privacy_score
