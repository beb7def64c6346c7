/*
 * parse.hpp - a parse of the island that is freed on every way out.
 */
#pragma once

#include <cstring>
#include <new>
#include <string_view>

#include "core/base/paused.hpp"
#include "sqlparse/own_stack.hpp"
#include "sqlparse/parser_island.hpp"

namespace privacy_score {

// Parses, or throws std::bad_alloc, or Paused.
inline PrivacyScoreParse ParseOrThrow(std::string_view sql, PrivacyScoreParseLimits limits) {
  PrivacyScoreParse parse = privacy_score_parse(sql.data(), sql.size(), limits);
  if (parse.message == nullptr) return parse;
  const bool out_of_memory = std::strcmp(parse.message, kOutOfMemory) == 0;
  const bool given_up = std::strcmp(parse.message, kGivenUp) == 0;
  if (out_of_memory || given_up) privacy_score_parse_free(&parse);
  if (out_of_memory) throw std::bad_alloc();
  if (given_up) throw Paused{};
  return parse;
}

// How many levels the own stack that this runs on has room for. Deeper texts would take more than a second, too.
inline long LevelsLeft() {
  constexpr std::size_t kMostLevels = 20000;
  const std::size_t left = StackLeft();
  const std::size_t levels = left < kStackReserve ? 0 : (left - kStackReserve) / kStackOfLevel;
  return static_cast<long>(levels < kMostLevels ? levels : kMostLevels);
}

inline bool IsTooDeep(const PrivacyScoreParse& parse) {
  return parse.message != nullptr && std::strcmp(parse.message, kTooDeep) == 0;
}

class Parse {
 public:
  explicit Parse(std::string_view sql, PrivacyScoreParseLimits limits = kNoLimits)
      : parse_(ParseOrThrow(sql, limits)) {}
  ~Parse() { privacy_score_parse_free(&parse_); }
  Parse(const Parse&) = delete;
  Parse& operator=(const Parse&) = delete;

  // Null when the text does not parse; then message() says why.
  const PgQuery__ParseResult* tree() const { return parse_.tree; }
  const char* message() const { return parse_.message; }
  bool IsTooDeep() const { return privacy_score::IsTooDeep(parse_); }

 private:
  PrivacyScoreParse parse_;
};

}  // namespace privacy_score
