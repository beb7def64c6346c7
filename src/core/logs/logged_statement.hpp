/*
 * logged_statement.hpp - the statement that a record of the server's log tells of.
 *
 * Read are log_statement's "statement: ..." and "execute <name>: ...", with or without the duration that
 * log_min_duration_statement puts before them, and pgaudit's "AUDIT: ...". EXECUTE in SQL counts as the text that was
 * prepared, which the server gives as the detail; PREPARE itself, further rows fetched from a portal, and what pgaudit
 * says of a statement that has just been logged otherwise, or of a further object of it, do not count. The values of
 * parameters are those of the detail, or of pgaudit.log_parameter.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/logs/line_prefix.hpp"

namespace privacy_score {

struct LoggedStatement {
  std::string sql;
  // The values of $1, $2 and so on; nothing for NULL. None where the log does not have them.
  std::vector<std::optional<std::string>> parameters;
  // EXECUTE as it was sent, of which `sql` is what was prepared; else empty.
  std::string execute;
  std::optional<std::int64_t> rows;  // that it returned or wrote, where pgaudit.log_rows has it
};

// Reads "parameters: $1 = '5', $2 = NULL" from a detail; nothing when it is something else.
std::vector<std::optional<std::string>> ParametersOfDetail(std::string_view detail);

class LoggedStatements {
 public:
  // Of the records of one log in their order.
  std::optional<LoggedStatement> Of(const LogRecord& record);

 private:
  struct Session {
    std::size_t logged = 0;  // hash of the statement that log_statement has told last
    std::string audited;     // pgaudit's numbers of the statement that it has told last
  };

  std::optional<LoggedStatement> Audited(std::string_view audit, Session* session);

  std::unordered_map<std::string, Session> sessions_;
};

}  // namespace privacy_score
