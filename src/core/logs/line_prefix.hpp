/*
 * line_prefix.hpp - what log_line_prefix has put before a line of the server's log, and the severity behind it.
 *
 * A prefix is read from left to right: a part of free text, such as %u or %d, ends where the text that the prefix has
 * behind it begins, so it needs some. A client chooses such text: a program whose name holds the rest of a prefix and a
 * message would be read as somebody else's statement. So a line that can be read in two ways is no match. Of a name
 * with a line feed, which the server logs before it lets anybody in, nothing tells; csvlog and jsonlog cannot be
 * forged.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

struct LogRecord {
  std::string at;  // as written: date, time and zone, or seconds since 1970
  std::string role, database;
  std::string session;  // names the connection
  std::string severity, message, detail;
};

// Whether a line of that severity goes on about the record before: DETAIL, HINT, CONTEXT, STATEMENT and the like.
bool IsFurther(std::string_view severity);

class LinePrefix {
 public:
  // Throws Error 22023 when lines with this prefix do not tell the role, when, and of which connection they are.
  explicit LinePrefix(std::string_view prefix);

  // Reads the beginning of a line, up to the message; false where it is none, or can be read in more than one way.
  // Lines of processes that serve nobody have no role.
  bool Match(std::string_view line, LogRecord* record, std::size_t* length) const;

 private:
  struct Part {
    char escape = 0;  // 0: literal
    std::string literal;
  };

  bool MatchParts(std::string_view line, std::size_t count, LogRecord* record, std::size_t* at) const;
  bool HasOtherEnd(std::string_view line, std::size_t count, std::size_t length) const;

  std::vector<Part> parts_;
  std::size_t of_all_;  // parts before %q, which every line has
};

}  // namespace privacy_score
