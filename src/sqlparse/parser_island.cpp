/*
 * parser_island.cpp - the only file that calls libpg_query.
 *
 * Plain C in a C++ file: it needs malloc and free and nothing of libstdc++, so the island has no other imports. The
 * recursive parts of libpg_query (raw tree to protobuf) and of protobuf-c (unpacking) have no stack check, so the depth
 * of the tree is bounded from the tokens first. That costs a scan, which short texts are spared: a level takes a byte.
 * Nor does libpg_query live when memory runs out: it writes through null, or raises where it catches nothing, which
 * ends the process. So its requests for memory and for the end come here, and jump out of the call; also when it may
 * take no more, or when nobody waits for it any longer. What the parser has then lies in its memory context and goes
 * with it; the scanner's tokens do not, so it is not left for that.
 */
#include "sqlparse/parser_island.hpp"

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {

// What libpg_query has of the server; its copies are local to the island.
struct MemoryContextData;
extern __thread MemoryContextData* CurrentMemoryContext;
extern __thread MemoryContextData* TopMemoryContext;
extern __thread MemoryContextData* ErrorContext;
extern __thread sigjmp_buf* PG_exception_stack;
extern __thread struct ErrorContextCallback* error_context_stack;
extern __thread sig_atomic_t pg_query_initialized;
void FlushErrorState(void);
void pg_query_exit_memory_context(MemoryContextData* context);

// What libpg_query calls in the place of the C library's functions (Makefile).
void* island_malloc(size_t size);
void* island_realloc(void* memory, size_t size);
char* island_strdup(const char* text);
void island_exit(int status);
void island_abort();
}

namespace {

using privacy_score::kGivenUp;
using privacy_score::kOutOfMemory;
using privacy_score::kTooLarge;

constexpr size_t kMaxLength = size_t{1} << 30;
// What a byte of text may take while its tokens are scanned, about.
constexpr size_t kScanBytes = 64;

// Out of the call of libpg_query that is under way, and what it may still take.
sigjmp_buf* way_out = nullptr;
PrivacyScoreParseLimits left = privacy_score::kNoLimits;
const char* why_left = nullptr;  // static

void Leave(const char* why) {
  why_left = why;
  if (way_out != nullptr) siglongjmp(*way_out, 1);
}

// Takes so much memory from what is left; null, or why it must not be taken.
const char* Take(size_t size) {
  if (left.gives_up != nullptr && left.gives_up()) return kGivenUp;
  if (size > left.memory) return kTooLarge;
  if (left.memory != SIZE_MAX) left.memory -= size;
  return nullptr;
}

// Runs a call of libpg_query; false when it was left, why_left says why. It does not look at all that it gets, and what
// it raises outside of its own nets would end the process. The tokens that it had and, when it was forming an error,
// its memory context are given up.
template <typename Call>
bool Contained(Call call) {
  sigjmp_buf out;
  sigjmp_buf* const stack = PG_exception_stack;
  ErrorContextCallback* const callbacks = error_context_stack;
  if (sigsetjmp(out, 0) == 0) {
    way_out = &out;
    call();
    way_out = nullptr;
    return true;
  }
  way_out = nullptr;
  PG_exception_stack = stack;
  error_context_stack = callbacks;
  if (ErrorContext == nullptr) {  // it had not begun
    pg_query_initialized = 0;
    TopMemoryContext = CurrentMemoryContext = nullptr;
    return false;
  }
  if (CurrentMemoryContext != TopMemoryContext && CurrentMemoryContext != ErrorContext)
    pg_query_exit_memory_context(CurrentMemoryContext);
  CurrentMemoryContext = TopMemoryContext;
  FlushErrorState();
  return false;
}

// For protobuf-c, which frees what it has when it gets no more.
void* Allocate(void*, size_t size) {
  why_left = Take(size);
  void* memory = why_left == nullptr ? std::malloc(size) : nullptr;
  if (memory == nullptr && why_left == nullptr) why_left = kOutOfMemory;
  return memory;
}
void Free(void*, void* memory) { std::free(memory); }
ProtobufCAllocator allocator = {Allocate, Free, nullptr};

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

// Whether the scanner would take too long, about a second, which it cannot be stopped in: it looks at a run of operator
// characters again from each of them when they begin comments, and for each again when they are signs.
bool ScansTooLong(const char* text, size_t length) {
  constexpr double kMostSteps = 4e9;
  double steps = 0;
  double run = 0;
  double signs = 0;
  for (size_t i = 0; i < length && steps < kMostSteps; ++i) {
    const char c = text[i];
    const bool is_sign = c == '+' || c == '-';
    run = std::strchr("~!@#^&|`?+-*/%<>=", c) != nullptr ? run + 1 : 0;
    signs = is_sign && !(c == '-' && i > 0 && text[i - 1] == '-') ? signs + 1 : 0;
    steps += 2 * run + 3 * signs * signs;  // in all the square of a run, and the cube
  }
  return steps >= kMostSteps;
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
  PgQueryScanResult result;
  long bound = -1;
  if (!Contained([&] { result = pg_query_scan(text); })) {
    *failure = Failure(why_left);
    return bound;
  }
  if (result.error != nullptr) {
    *failure = Failure(*result.error);
  } else {
    PgQuery__ScanResult* scan =
        pg_query__scan_result__unpack(&allocator, result.pbuf.len, reinterpret_cast<const uint8_t*>(result.pbuf.data));
    if (scan != nullptr) {
      bound = Bound(*scan);
      pg_query__scan_result__free_unpacked(scan, &allocator);
    }
    if (bound < 0) *failure = Failure(kOutOfMemory);
  }
  pg_query_free_scan_result(result);
  return bound;
}

// Parses a NUL-terminated text of bounded depth.
PrivacyScoreParse ParseBounded(const char* text, PrivacyScoreParseLimits limits) {
  PgQueryProtobufParseResult result;
  PrivacyScoreParse parse = {nullptr, nullptr, nullptr};
  left = limits;
  const bool returned = Contained([&] { result = pg_query_parse_protobuf(text); });
  left = privacy_score::kNoLimits;
  if (!returned) return Failure(why_left);
  if (result.error != nullptr) {
    parse = Failure(*result.error);
  } else {
    left = limits;
    parse.tree = pg_query__parse_result__unpack(&allocator, result.parse_tree.len,
                                                reinterpret_cast<const uint8_t*>(result.parse_tree.data));
    left = privacy_score::kNoLimits;
    if (parse.tree == nullptr) parse.message = why_left;
  }
  pg_query_free_protobuf_parse_result(result);
  return parse;
}

}  // namespace

extern "C" {

void* island_malloc(size_t size) {
  if (const char* why = Take(size)) Leave(why);
  void* memory = std::malloc(size);
  if (memory == nullptr && size > 0) Leave(kOutOfMemory);
  return memory;
}

void* island_realloc(void* memory, size_t size) {
  if (const char* why = Take(size)) Leave(why);
  void* larger = std::realloc(memory, size);
  if (larger == nullptr && size > 0) Leave(kOutOfMemory);
  return larger;
}

char* island_strdup(const char* text) {
  char* copy = CopyText(text, std::strlen(text));
  if (copy == nullptr) Leave(kOutOfMemory);
  return copy;
}

void island_exit(int status) {
  Leave(kOutOfMemory);
  std::exit(status);
}

void island_abort() {
  Leave(kOutOfMemory);
  std::abort();
}

bool privacy_score_parser_start() {
  PrivacyScoreParse parse = privacy_score_parse("SELECT 1", std::strlen("SELECT 1"), privacy_score::kNoLimits);
  const bool started = parse.tree != nullptr;
  privacy_score_parse_free(&parse);
  return started;
}

PrivacyScoreParse privacy_score_parse(const char* text, size_t length, PrivacyScoreParseLimits limits) {
  if (length > kMaxLength) return Failure("statement is too long");
  if (!IsUtf8(reinterpret_cast<const unsigned char*>(text), length))
    return Failure("invalid byte sequence for encoding \"UTF8\"");
  if (length > limits.memory / kScanBytes || ScansTooLong(text, length)) return Failure(kTooLarge);
  char* copy = CopyText(text, length);
  if (copy == nullptr) return Failure(kOutOfMemory);
  PrivacyScoreParse parse = {nullptr, nullptr, nullptr};
  long bound = 0;
  if (length > static_cast<size_t>(privacy_score::kMaxNesting)) bound = ScanBound(copy, &parse);
  if (bound > privacy_score::kMaxNesting)
    parse = Failure("statement is nested too deeply");
  else if (bound >= 0)
    parse = ParseBounded(copy, limits);
  std::free(copy);
  return parse;
}

void privacy_score_parse_free(PrivacyScoreParse* parse) {
  if (parse->tree != nullptr) pg_query__parse_result__free_unpacked(parse->tree, &allocator);
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
