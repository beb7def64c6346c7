/*
 * parser_island.cpp - the only file that calls libpg_query.
 *
 * Plain C in a C++ file: it needs malloc and free and nothing of libstdc++, so the island has no other imports. What
 * walks the raw tree in libpg_query, and the copying of what it gives, have no stack check, so the depth of the tree is
 * bounded from the tokens first. That costs a scan, which short texts are spared: a level takes a byte.
 * Nor does libpg_query live when memory runs out: it writes through null, or raises where it catches nothing, which
 * ends the process. So its requests for memory and for the end come here, and jump out of the call; also when it may
 * take no more, or when nobody waits for it any longer. What the parser has then lies in its memory context and goes
 * with it; the scanner's tokens do not, so it is not left for that.
 */
#include "sqlparse/parser_island.hpp"

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "sqlparse/nesting_bound.hpp"
#include "sqlparse/tree_copy.hpp"

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
// And in that of packing a tree.
#ifndef PS_PACKED_BY_UPB
size_t island_packed_size(const PgQuery__ParseResult* tree);
size_t island_pack(const PgQuery__ParseResult* tree, uint8_t* packed);
#else
void* palloc(size_t size);
void* repalloc(void* memory, size_t size);
void pfree(void* memory);
void assign_max_stack_depth(int kilobytes, void* unused);
int upb_Encode(const void* tree, const void* kind, int options, void* arena, char** packed, size_t* size);
int island_encode(const void* tree, const void* kind, int options, void* arena, char** packed, size_t* size);
void* island_arena_realloc(void* memory, size_t size);
void island_arena_free(void* memory);
int island_stack_of(unsigned long thread, void* attributes);
#endif
}

namespace {

using privacy_score::kGivenUp;
using privacy_score::kOutOfMemory;
using privacy_score::kTooDeep;
using privacy_score::kTooLarge;
using privacy_score::TreeMemory;

constexpr size_t kMaxLength = size_t{1} << 30;
// What a byte of text may take while its tokens are scanned, about.
constexpr size_t kScanBytes = 64;

// Out of the call of libpg_query that is under way, and what it may still take.
sigjmp_buf* way_out = nullptr;
PrivacyScoreParseLimits left = privacy_score::kNoLimits;
const char* why_left = nullptr;  // static
// Texts that it has, which lie in no memory context; it makes no more than these.
constexpr size_t kMostTexts = 4;
char* texts[kMostTexts];
size_t text_count = 0;
// Where the tree of that call is copied to, which may take so much again, and the copy.
size_t copies_may_take = 0;
TreeMemory copies = {nullptr, nullptr, nullptr, 0, 0, nullptr};
PgQuery__ParseResult* copied = nullptr;

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

#ifdef PS_PACKED_BY_UPB
// libpg_query looks for the end of the process's stack, which is another than this runs on: the bound of the text's
// depth is what holds here.
void BeforeCall() { assign_max_stack_depth(1 << 20, nullptr); }
#else
void BeforeCall() {}
#endif

// Runs a call of libpg_query; false when it was left, why_left says why. It does not look at all that it gets, and what
// it raises outside of its own nets would end the process. The tokens that it had and, when it was forming an error,
// its memory context are given up.
template <typename Call>
bool Contained(Call call) {
  sigjmp_buf out;
  sigjmp_buf* const stack = PG_exception_stack;
  ErrorContextCallback* const callbacks = error_context_stack;
  text_count = 0;
  BeforeCall();
  if (sigsetjmp(out, 0) == 0) {
    way_out = &out;
    call();
    way_out = nullptr;
    return true;
  }
  way_out = nullptr;
  for (size_t i = 0; i < text_count; ++i) std::free(texts[i]);
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
void* Allocate(void*, size_t size) { return std::malloc(size); }
void Free(void*, void* memory) { std::free(memory); }
ProtobufCAllocator allocator = {Allocate, Free, nullptr};

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
  const size_t size = std::strlen(message) + 1;
  TreeMemory memory = {Take, nullptr, nullptr, 0, 0, nullptr};
  void* copy = privacy_score::TakeFrom(&memory, size);
  if (copy != nullptr) std::memcpy(copy, message, size);
  return {nullptr, copy == nullptr ? "syntax error" : static_cast<char*>(copy), memory.blocks};
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
      bound = privacy_score::NestingBound(*scan);
      pg_query__scan_result__free_unpacked(scan, &allocator);
    }
    if (bound < 0) *failure = Failure(kOutOfMemory);
  }
  pg_query_free_scan_result(result);
  return bound;
}

void* AllocateInTree(void* memory, size_t size) {
  return privacy_score::TakeFrom(static_cast<TreeMemory*>(memory), size);
}
void FreeInTree(void*, void*) {}  // blocks are freed as a whole

// Makes the copy of a tree's bytes.
void Unpack(const PgQueryProtobuf& bytes, const PrivacyScoreParseLimits& limits) {
  ProtobufCAllocator of_tree = {AllocateInTree, FreeInTree, &copies};
  left = limits;
  copied = pg_query__parse_result__unpack(&of_tree, bytes.len, reinterpret_cast<const uint8_t*>(bytes.data));
  left = privacy_score::kNoLimits;
}

// Parses a NUL-terminated text of bounded depth.
PrivacyScoreParse ParseBounded(const char* text, PrivacyScoreParseLimits limits) {
  PgQueryProtobufParseResult result;
  left = limits;
  copies = {Take, nullptr, nullptr, 0, 0, nullptr};
  copies_may_take = limits.memory;
  copied = nullptr;
  const bool returned = Contained([&] { result = pg_query_parse_protobuf(text); });
  left = privacy_score::kNoLimits;
  if (!returned) return Failure(why_left);
  PrivacyScoreParse parse = {nullptr, nullptr, nullptr};
  // libpg_query of PostgreSQL 18 has a tree of another library, and gives nothing but its bytes.
  if (result.error == nullptr && copied == nullptr && copies.why == nullptr) Unpack(result.parse_tree, limits);
  if (result.error == nullptr && copied != nullptr) {
    parse = {copied, nullptr, copies.blocks};
  } else {
    parse =
        result.error != nullptr ? Failure(*result.error) : Failure(copies.why == nullptr ? kOutOfMemory : copies.why);
    privacy_score::FreeBlocks(copies.blocks);
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
  if (copy != nullptr && text_count < kMostTexts) texts[text_count++] = copy;
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

#ifndef PS_PACKED_BY_UPB
size_t island_packed_size(const PgQuery__ParseResult*) { return 1; }

size_t island_pack(const PgQuery__ParseResult* tree, uint8_t*) {
  left.memory = copies_may_take;
  copied = reinterpret_cast<PgQuery__ParseResult*>(privacy_score::CopyTree(tree->base, &copies));
  return 1;
}
#else
// Packs trees as deep as upb can, rather than 10,000 messages; a step of its own.
int island_encode(const void* tree, const void* kind, int options, void* arena, char** packed, size_t* size) {
  constexpr unsigned kDeepest = 0xFFFF0000U;
  left.memory = copies_may_take;
  return upb_Encode(tree, kind, static_cast<int>(static_cast<unsigned>(options) | kDeepest), arena, packed, size);
}

// What upb has of the memory context, so that it goes with it when the call is left.
void* island_arena_realloc(void* memory, size_t size) {
  return memory == nullptr ? palloc(size) : repalloc(memory, size);
}

void island_arena_free(void* memory) {
  if (memory != nullptr) pfree(memory);
}

int island_stack_of(unsigned long, void*) { return ENOSYS; }
#endif

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
  if (length > static_cast<size_t>(limits.levels)) bound = ScanBound(copy, &parse);
  if (bound > limits.levels)
    parse = Failure(kTooDeep);
  else if (bound >= 0)
    parse = ParseBounded(copy, limits);
  std::free(copy);
  return parse;
}

void privacy_score_parse_free(PrivacyScoreParse* parse) {
  privacy_score::FreeBlocks(parse->blocks);
  parse->tree = nullptr;
  parse->message = nullptr;
  parse->blocks = nullptr;
}

long privacy_score_nesting_bound(const char* text, size_t length) {
  char* copy = CopyText(text, length);
  if (copy == nullptr) return -1;
  PrivacyScoreParse failure = {nullptr, nullptr, nullptr};
  const long bound = ScanBound(copy, &failure);
  std::free(copy);
  privacy_score::FreeBlocks(failure.blocks);
  return bound;
}
}
