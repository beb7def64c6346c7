/*
 * known_queries.cpp - see known_queries.hpp.
 *
 * A table of sets of a few entries each; an entry is one piece of memory. When all entries together become too large,
 * or a catalog has changed, they are all forgotten, which costs each query that comes again one translation. Entries
 * that no longer hold must not stay: queries of tables that come and go never come again, and would fill the table.
 */
#include "backend/query/known_queries.hpp"

extern "C" {
#include "utils/memutils.h"
}

#include <vector>

#include "backend/catalog/catalog_relations.hpp"
#include "backend/query/aggregate_plans.hpp"
#include "backend/query/pieces.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/scoring_errors.hpp"

namespace privacy_score {

// A place in the words where the hash belongs that a recipe gives.
struct HashGap {
  int place;
  int recipe;
};

// The arrays follow it in memory.
struct KnownQuery {
  uint64 hash;
  int64 id, estimates;  // as in PlanMark
  const uint32* key;
  int key_count;
  const uint32* words;
  int word_count;
  const HashGap* gaps;
  int gap_count;
  const HashRecipe* recipes;
  const HashStep* steps;
  bool planning_shows;
  // Below 0: not looked at yet.
  mutable int may_have_pieces;
  mutable int answer_column;
  Size size;  // of all of it
};

namespace {

// Sets, a power of two: the table begins small, and is doubled for as long as its entries are more than its sets.
constexpr int kFirstSets = 16;
constexpr int kMostSets = 512;
constexpr int kWays = 4;
constexpr Size kMostBytes = 4 * 1024 * 1024;

struct Set {
  KnownQuery* entries[kWays];
  int next;  // to be overwritten
};

MemoryContext context = nullptr;
Set* sets = nullptr;
int set_count = 0;
int entry_count = 0;
uint64 generation_of_all = 0;
Size bytes = 0;

void MakeRoomForQuery(uint64 generation) {
  generation_of_all = generation;
  if (context == nullptr)
    context = AllocSetContextCreate(TopMemoryContext, "privacy_score known queries", ALLOCSET_START_SMALL_SIZES);
  sets = nullptr;
  MemoryContextReset(context);
  sets = static_cast<Set*>(MemoryContextAllocZero(context, sizeof(Set) * kFirstSets));
  set_count = kFirstSets;
  entry_count = 0;
  bytes = 0;
}

Set* SetOf(uint64 hash) { return &sets[hash >> 32 & static_cast<uint64>(set_count - 1)]; }

// An entry of a set goes to one of two in a table of twice the size, at the same place of it.
void Grow() {
  const int before = set_count;
  Set* const old = sets;
  sets = static_cast<Set*>(MemoryContextAllocZero(context, sizeof(Set) * static_cast<Size>(2 * before)));
  set_count = 2 * before;
  for (int i = 0; i < before; ++i)
    for (int way = 0; way < kWays; ++way) {
      KnownQuery* known = old[i].entries[way];
      if (known == nullptr) continue;
      Set* set = SetOf(known->hash);
      set->entries[way] = known;
      set->next = old[i].next;
    }
  pfree(old);
}

bool SameKey(const KnownQuery* known, const QueryKey& key) {
  return known != nullptr && known->hash == key.hash && known->key_count == key.word_count &&
         memcmp(known->key, key.words, sizeof(uint32) * static_cast<Size>(key.word_count)) == 0;
}

// Copies a list to the end of what an entry has so far.
template <typename T>
const T* Place(char** at, const T* list, int count) {
  T* copy = reinterpret_cast<T*>(*at);
  if (count > 0) memcpy(copy, list, sizeof(T) * static_cast<Size>(count));
  *at += MAXALIGN(sizeof(T) * static_cast<Size>(count));
  return copy;
}

// Finds the gaps of words that hold numbers of recipes, in the current context. Null when core has failed or something
// else stands there.
const HashGap* FindGaps(ConstantWordsView words, const ValueRecipes& recipes, int* count) {
  static std::vector<std::size_t>* places = nullptr;
  CoreError error;
  if (!CallCore(&error, [words] {
        if (places == nullptr) places = new std::vector<std::size_t>();
        *places = privacy_score::PlacesOfHashes(words.words, static_cast<std::size_t>(words.count));
      })) {
    CountScoringError(error.message);
    return nullptr;
  }
  auto* gaps = static_cast<HashGap*>(palloc(sizeof(HashGap) * (places->size() + 1)));
  *count = 0;
  for (const std::size_t place : *places) {
    const uint32 number = words.words[place];
    if (number == 0 || number > static_cast<uint32>(recipes.recipe_count)) return nullptr;
    gaps[(*count)++] = {static_cast<int>(place), static_cast<int>(number) - 1};
  }
  return gaps;
}

}  // namespace

[[gnu::hot]] const KnownQuery* FindKnownQuery(const QueryKey& key) {
  if (sets == nullptr || generation_of_all != CatalogGeneration()) return nullptr;
  for (const KnownQuery* known : SetOf(key.hash)->entries)
    if (SameKey(known, key)) return known;
  return nullptr;
}

bool PlanningIsKnownToShow(const KnownQuery* known) { return known->planning_shows; }

bool KnownToHavePieces(const KnownQuery* known, ::Query* query) {
  if (known->may_have_pieces < 0) known->may_have_pieces = MayHavePieces(query) ? 1 : 0;
  return known->may_have_pieces > 0;
}

int KnownAnswerColumn(const KnownQuery* known, ::Query* query) {
  if (known->answer_column < 0) known->answer_column = AnswerColumn(query);
  return known->answer_column;
}

[[gnu::hot]] PlanMark* MarkOfKnownQuery(const KnownQuery* known, const QueryKey& key) {
  PlanMark* mark = NewPlanMark(known->id, known->estimates, known->word_count);
  if (known->word_count == 0) return mark;
  uint64 hashes[kMostLiterals];
  const uint64 begun = ps_keys_begun;
  for (int i = 0; i < key.literal_count; ++i) {
    hashes[i] = HashOfConstant(key.literals[i], 0);
    if (ps_keys_begun != begun) return nullptr;
  }
  memcpy(mark->words, known->words, sizeof(uint32) * static_cast<Size>(known->word_count));
  const uint64 vector = VectorOfLiterals(hashes, &key);
  memcpy(mark->words, &vector, sizeof vector);
  for (int i = 0; i < known->gap_count; ++i) {
    const HashGap& gap = known->gaps[i];
    const uint64 hash = FollowRecipe(known->recipes[gap.recipe], known->steps, hashes);
    memcpy(&mark->words[gap.place], &hash, sizeof hash);
  }
  return mark;
}

const KnownQuery* RememberQuery(const QueryKey& key, uint64 generation, int64 id, int64 estimates,
                                ConstantWordsView words, const ValueRecipes& recipes, bool planning_shows) {
  int gap_count;
  if (words.count == 0 || recipes.failed) return nullptr;
  const HashGap* gaps = FindGaps(words, recipes, &gap_count);
  if (gaps == nullptr) return nullptr;
  const Size size = MAXALIGN(sizeof(KnownQuery)) + MAXALIGN(sizeof(uint32) * static_cast<Size>(key.word_count)) +
                    MAXALIGN(sizeof(uint32) * static_cast<Size>(words.count)) +
                    MAXALIGN(sizeof(HashGap) * static_cast<Size>(gap_count)) +
                    MAXALIGN(sizeof(HashRecipe) * static_cast<Size>(recipes.recipe_count)) +
                    MAXALIGN(sizeof(HashStep) * static_cast<Size>(recipes.step_count));
  if (sets == nullptr || generation != generation_of_all || bytes + size > kMostBytes) MakeRoomForQuery(generation);
  auto* known = static_cast<KnownQuery*>(MemoryContextAlloc(context, size));
  char* at = reinterpret_cast<char*>(known) + MAXALIGN(sizeof(KnownQuery));
  *known = {};
  known->hash = key.hash;
  known->id = id;
  known->estimates = estimates;
  known->key = Place(&at, key.words, key.word_count);
  known->key_count = key.word_count;
  known->words = Place(&at, words.words, words.count);
  known->word_count = words.count;
  known->gaps = Place(&at, gaps, gap_count);
  known->gap_count = gap_count;
  known->recipes = Place(&at, recipes.recipes, recipes.recipe_count);
  known->steps = Place(&at, recipes.steps, recipes.step_count);
  known->planning_shows = planning_shows;
  known->may_have_pieces = known->answer_column = -1;
  known->size = size;
  bytes += size;
  if (entry_count > set_count && set_count < kMostSets) Grow();
  Set* set = SetOf(key.hash);
  int way = 0;
  while (way < kWays && !SameKey(set->entries[way], key)) ++way;
  if (way == kWays) way = set->next++ % kWays;
  if (set->entries[way] != nullptr) {
    bytes -= set->entries[way]->size;
    pfree(set->entries[way]);
  } else {
    ++entry_count;
  }
  set->entries[way] = known;
  return known;
}

void ForgetKnownQueries() {
  if (sets != nullptr) MakeRoomForQuery(CatalogGeneration());
}

}  // namespace privacy_score
