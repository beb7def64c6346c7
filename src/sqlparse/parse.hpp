/*
 * parse.hpp - a parse of the island that is freed on every way out.
 */
#pragma once

#include <string_view>

#include "sqlparse/parser_island.hpp"

namespace privacy_score {

class Parse {
 public:
  explicit Parse(std::string_view sql) : parse_(privacy_score_parse(sql.data(), sql.size())) {}
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
