/*
 * parser_island.cpp - the only file that calls libpg_query.
 *
 * Plain C in a C++ file: it needs malloc and free and nothing of libstdc++, so the island has no other imports. The
 * recursive parts of libpg_query (raw tree to protobuf) and of protobuf-c (unpacking) have no stack check, so the depth
 * of the tree is bounded from the tokens first. That costs a scan, which short texts are spared: a level takes a byte.
 */
#include "sqlparse/parser_island.hpp"

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t kMaxLength = size_t{1} << 30;

// The state of one open bracket, or of an open CASE.
struct Level {
  long operators;  // operator-like tokens since the last token that surely separates siblings
  long below;      // deepest closed bracket since then
  long deepest;    // greatest operators + below of the earlier segments
  long joins;      // JOINs since the last set operation; never fewer than the JOIN nodes above one another
  long most_joins;
  long arms;  // set operations, which nest to the left without brackets
  bool is_case;
  bool between;  // a BETWEEN whose AND is still to come
};

struct Levels {
  Level* items;
  size_t size;
  size_t capacity;
};

long Greater(long a, long b) { return a > b ? a : b; }

// Adds a level; false when memory runs out.
bool Push(Levels* levels, bool is_case) {
  if (levels->size == levels->capacity) {
    const size_t capacity = levels->capacity == 0 ? 64 : 2 * levels->capacity;
    void* items = std::realloc(levels->items, capacity * sizeof(Level));
    if (items == nullptr) return false;
    levels->items = static_cast<Level*>(items);
    levels->capacity = capacity;
  }
  Level* level = &levels->items[levels->size++];
  std::memset(level, 0, sizeof(Level));
  level->is_case = is_case;
  return true;
}

void EndSegment(Level* level) {
  level->deepest = Greater(level->deepest, level->operators + level->below);
  level->operators = 0;
  level->below = 0;
  level->between = false;
}

// The depth of what a level holds.
long Depth(const Level& level) {
  return Greater(level.deepest, level.operators + level.below) + Greater(level.most_joins, level.joins) + level.arms;
}

// Closes the innermost level into the one around it.
void Pop(Levels* levels) {
  const long depth = Depth(levels->items[--levels->size]) + 1;
  Level* outer = &levels->items[levels->size - 1];
  outer->below = Greater(outer->below, depth);
}

// Closes levels down to and with the innermost bracket, past CASEs that lack their END.
void CloseBracket(Levels* levels) {
  while (levels->size > 1 && levels->items[levels->size - 1].is_case) Pop(levels);
  if (levels->size > 1) Pop(levels);
}

// Counts one token.
bool Count(Levels* levels, PgQuery__Token token) {
  Level* level = &levels->items[levels->size - 1];
  switch (token) {
    case PG_QUERY__TOKEN__ASCII_40:  // (
      return Push(levels, false);
    case PG_QUERY__TOKEN__ASCII_91:  // [ is two nodes: what has the index, and the index
      if (!Push(levels, false)) return false;
      levels->items[levels->size - 1].most_joins = 1;
      return true;
    case PG_QUERY__TOKEN__CASE:
      return Push(levels, true);
    case PG_QUERY__TOKEN__ASCII_41:  // )
    case PG_QUERY__TOKEN__ASCII_93:  // ]
      CloseBracket(levels);
      return true;
    case PG_QUERY__TOKEN__END_P:
      if (level->is_case)
        Pop(levels);
      else
        ++level->operators;
      return true;
    case PG_QUERY__TOKEN__AND:
      if (level->between) {  // x BETWEEN 1 AND NOT y BETWEEN 1 AND NOT ... nests to the right
        ++level->operators;
        level->between = false;
      } else {
        EndSegment(level);
        ++level->operators;
      }
      return true;
    case PG_QUERY__TOKEN__BETWEEN:
      ++level->operators;
      level->between = true;
      return true;
    case PG_QUERY__TOKEN__OR:
    case PG_QUERY__TOKEN__WHEN:
    case PG_QUERY__TOKEN__THEN:
    case PG_QUERY__TOKEN__ELSE:
      if (token != PG_QUERY__TOKEN__OR && !level->is_case) {
        ++level->operators;
        return true;
      }
      EndSegment(level);
      level->operators = token == PG_QUERY__TOKEN__OR ? 2 : 1;
      return true;
    case PG_QUERY__TOKEN__ON:
      EndSegment(level);
      ++level->operators;
      return true;
    case PG_QUERY__TOKEN__ASCII_44:  // ,
      EndSegment(level);
      return true;
    case PG_QUERY__TOKEN__ASCII_59:  // ;
      EndSegment(level);
      level->deepest = Depth(*level);
      level->joins = level->most_joins = level->arms = 0;
      return true;
    case PG_QUERY__TOKEN__JOIN:
      ++level->operators;
      ++level->joins;
      return true;
    case PG_QUERY__TOKEN__UNION:
    case PG_QUERY__TOKEN__INTERSECT:
    case PG_QUERY__TOKEN__EXCEPT:
      EndSegment(level);
      level->most_joins = Greater(level->most_joins, level->joins);
      level->joins = 0;
      ++level->arms;
      return true;
    case PG_QUERY__TOKEN__SELECT:  // several nodes: the subquery, its statement, its target
      level->operators += 2;
      return true;
    case PG_QUERY__TOKEN__ICONST:
    case PG_QUERY__TOKEN__FCONST:
    case PG_QUERY__TOKEN__SCONST:
    case PG_QUERY__TOKEN__BCONST:
    case PG_QUERY__TOKEN__XCONST:
    case PG_QUERY__TOKEN__IDENT:
    case PG_QUERY__TOKEN__PARAM:
    case PG_QUERY__TOKEN__ASCII_46:  // .
    case PG_QUERY__TOKEN__FROM:      // IS DISTINCT FROM has counted before
      return true;
    default:  // operators and all other keywords
      ++level->operators;
      return true;
  }
}

// The bound from scanned tokens; -1 when memory runs out.
long Bound(const PgQuery__ScanResult& scan) {
  Levels levels = {nullptr, 0, 0};
  long bound = -1;
  bool ok = Push(&levels, false);
  bool is_name = false;     // after a dot or AS any keyword is a mere name
  bool is_operand = false;  // after SELECT, comma, dot and bracket a * is no operator
  for (size_t i = 0; ok && i < scan.n_tokens; ++i) {
    const PgQuery__Token token = scan.tokens[i]->token;
    if (token == PG_QUERY__TOKEN__SQL_COMMENT || token == PG_QUERY__TOKEN__C_COMMENT) continue;
    const bool is_keyword = scan.tokens[i]->keyword_kind != PG_QUERY__KEYWORD_KIND__NO_KEYWORD;
    if (is_name && is_keyword)
      ++levels.items[levels.size - 1].operators;
    else if (!(is_operand && token == PG_QUERY__TOKEN__ASCII_42))
      ok = Count(&levels, token);
    is_operand = token == PG_QUERY__TOKEN__SELECT || token == PG_QUERY__TOKEN__ASCII_44 ||
                 token == PG_QUERY__TOKEN__ASCII_46 || token == PG_QUERY__TOKEN__ASCII_40;
    is_name = token == PG_QUERY__TOKEN__ASCII_46 || token == PG_QUERY__TOKEN__AS;
  }
  if (ok) {
    while (levels.size > 1) Pop(&levels);
    bound = Depth(levels.items[0]);
  }
  std::free(levels.items);
  return bound;
}

// True when the bytes are UTF-8 without surrogates, overlong forms and zero bytes, as the server demands of its input.
bool IsUtf8(const unsigned char* text, size_t length) {
  size_t i = 0;
  while (i < length) {
    const unsigned char lead = text[i];
    if (lead == 0) return false;
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t size = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
    if (size == 0 || length - i < size) return false;
    for (size_t k = 1; k < size; ++k)
      if ((text[i + k] & 0xC0) != 0x80) return false;
    const unsigned char next = text[i + 1];
    if ((lead == 0xE0 && next < 0xA0) || (lead == 0xED && next > 0x9F) || (lead == 0xF0 && next < 0x90) ||
        (lead == 0xF4 && next > 0x8F))
      return false;
    i += size;
  }
  return true;
}

// A NUL-terminated copy on the heap, or null.
char* CopyText(const char* text, size_t length) {
  char* copy = static_cast<char*>(std::malloc(length + 1));
  if (copy == nullptr) return nullptr;
  if (length > 0) std::memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

PrivacyScoreParse Failure(const char* message) { return {nullptr, message, nullptr}; }

// A failure with libpg_query's own message.
PrivacyScoreParse Failure(const PgQueryError& error) {
  const char* message = error.message == nullptr ? "syntax error" : error.message;
  char* copy = CopyText(message, std::strlen(message));
  return {nullptr, copy == nullptr ? "syntax error" : copy, copy};
}

// The bound of a NUL-terminated text: -1 when it does not scan, in which case `failure` says why.
long ScanBound(const char* text, PrivacyScoreParse* failure) {
  PgQueryScanResult result = pg_query_scan(text);
  long bound = -1;
  if (result.error != nullptr) {
    *failure = Failure(*result.error);
  } else {
    PgQuery__ScanResult* scan =
        pg_query__scan_result__unpack(nullptr, result.pbuf.len, reinterpret_cast<const uint8_t*>(result.pbuf.data));
    if (scan != nullptr) {
      bound = Bound(*scan);
      pg_query__scan_result__free_unpacked(scan, nullptr);
    }
    if (bound < 0) *failure = Failure("out of memory");
  }
  pg_query_free_scan_result(result);
  return bound;
}

// Parses a NUL-terminated text of bounded depth.
PrivacyScoreParse ParseBounded(const char* text) {
  PgQueryProtobufParseResult result = pg_query_parse_protobuf(text);
  PrivacyScoreParse parse = {nullptr, nullptr, nullptr};
  if (result.error != nullptr) {
    parse = Failure(*result.error);
  } else {
    parse.tree = pg_query__parse_result__unpack(nullptr, result.parse_tree.len,
                                                reinterpret_cast<const uint8_t*>(result.parse_tree.data));
    if (parse.tree == nullptr) parse.message = "out of memory";
  }
  pg_query_free_protobuf_parse_result(result);
  return parse;
}

}  // namespace

extern "C" {

PrivacyScoreParse privacy_score_parse(const char* text, size_t length) {
  if (length > kMaxLength) return Failure("statement is too long");
  if (!IsUtf8(reinterpret_cast<const unsigned char*>(text), length))
    return Failure("invalid byte sequence for encoding \"UTF8\"");
  char* copy = CopyText(text, length);
  if (copy == nullptr) return Failure("out of memory");
  PrivacyScoreParse parse = {nullptr, nullptr, nullptr};
  long bound = 0;
  if (length > static_cast<size_t>(privacy_score::kMaxNesting)) bound = ScanBound(copy, &parse);
  if (bound > privacy_score::kMaxNesting)
    parse = Failure("statement is nested too deeply");
  else if (bound >= 0)
    parse = ParseBounded(copy);
  std::free(copy);
  return parse;
}

void privacy_score_parse_free(PrivacyScoreParse* parse) {
  if (parse->tree != nullptr) pg_query__parse_result__free_unpacked(parse->tree, nullptr);
  std::free(parse->owned);
  parse->tree = nullptr;
  parse->message = nullptr;
  parse->owned = nullptr;
}

long privacy_score_nesting_bound(const char* text, size_t length) {
  char* copy = CopyText(text, length);
  if (copy == nullptr) return -1;
  PrivacyScoreParse failure = {nullptr, nullptr, nullptr};
  const long bound = ScanBound(copy, &failure);
  std::free(copy);
  std::free(failure.owned);
  return bound;
}
}
