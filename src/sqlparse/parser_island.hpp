/*
 * parser_island.hpp - the entry points of the parser island: libpg_query behind a few C functions.
 *
 * libpg_query and the postgres binary define the same symbols, so parser_island.o and libpg_query.a are linked into one
 * relocatable object in which all but these functions are local. No other file may call libpg_query or protobuf-c; the
 * protobuf-c structs (pg_query/pg_query.pb-c.h) are plain data that anybody may read.
 *
 * No C++ in the interface and nothing that throws, longjmps out or calls the server.
 */
#pragma once

#include <cstddef>
#include <cstdint>

struct PgQuery__ParseResult;
namespace privacy_score {
struct TreeBlock;
}

extern "C" {

// What privacy_score_parse answers: a tree, or a message why there is none. Never both, never neither.
struct PrivacyScoreParse {
  struct PgQuery__ParseResult* tree;
  const char* message;               // static or owned by the result: lives until privacy_score_parse_free
  privacy_score::TreeBlock* blocks;  // the memory of either
};

// To be called once, early: makes what libpg_query keeps for the thread, for which there may be no memory later, when
// the C library or libpg_query would end the process. False when there is no memory now; it can be tried again.
bool privacy_score_parser_start();

// What a parse may take. Each step of it, the parser's and the reading of its answer, may take that much memory; it
// gives up when `gives_up` (may be null) says so, which is asked with each piece of memory. Scanning a text takes up to
// 60 times its length, and is not left. Text that could be nested deeper than `levels` is refused before it is parsed,
// since libpg_query recurses on the C stack: a level takes less than privacy_score::kStackOfLevel.
struct PrivacyScoreParseLimits {
  size_t memory;  // bytes
  bool (*gives_up)();
  long levels;
};

// Parses SQL text of `length` bytes, which need not end in NUL. Fails cleanly on invalid SQL, a zero byte, invalid
// UTF-8 and a text above 1 GB; with the messages privacy_score::kOutOfMemory when there is no memory, kTooLarge when it
// takes more than it may, kTooDeep, kGivenUp.
PrivacyScoreParse privacy_score_parse(const char* text, size_t length, PrivacyScoreParseLimits limits);

// Frees the tree and the message. The result may not be used afterwards.
void privacy_score_parse_free(PrivacyScoreParse* parse);

// An upper bound for the depth of the parse tree of `text`, or -1 when its tokens cannot be read. For tests; NUL-free.
long privacy_score_nesting_bound(const char* text, size_t length);
}

namespace privacy_score {

constexpr char kOutOfMemory[] = "out of memory";
constexpr char kTooLarge[] = "statement takes too much memory or time";
constexpr char kTooDeep[] = "statement is nested too deeply";
constexpr char kGivenUp[] = "given up";

// Mostly that of unpacking two messages, where trees are packed.
constexpr std::size_t kStackOfLevel = 2304;
// What any stack here has room for.
constexpr long kMaxNesting = 1600;
constexpr PrivacyScoreParseLimits kNoLimits = {SIZE_MAX, nullptr, kMaxNesting};

}  // namespace privacy_score
