/*
 * parse.hpp - a parse of the island that is freed on every way out.
 */
#pragma once

#include <cstring>
#include <new>
#include <string_view>

#include "sqlparse/parser_island.hpp"

namespace privacy_score {

// Parses, or throws std::bad_alloc.
inline PrivacyScoreParse ParseOrThrow(std::string_view sql) {
  PrivacyScoreParse parse = privacy_score_parse(sql.data(), sql.size());
  if (parse.message == nullptr || std::strcmp(parse.message, kOutOfMemory) != 0) return parse;
  privacy_score_parse_free(&parse);
  throw std::bad_alloc();
}

class Parse {
 public:
  explicit Parse(std::string_view sql) : parse_(ParseOrThrow(sql)) {}
  ~Parse() { privacy_score_parse_free(&parse_); }
  Parse(const Parse&) = delete;
  Parse& operator=(const Parse&) = delete;

  // Null when the text does not parse; then message() says why.
  const PgQuery__ParseResult* tree() const { return parse_.tree; }
  const char* message() const { return parse_.message; }

 private:
  PrivacyScoreParse parse_;
};

}  // namespace privacy_score
