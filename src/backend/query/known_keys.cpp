/*
 * known_keys.cpp - see known_keys.hpp.
 */
#include "backend/query/known_keys.hpp"

#include "backend/catalog/catalog_relations.hpp"
#include "backend/query/remembered_abstractions.hpp"
#include "backend/state/live_room.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

namespace privacy_score {

namespace {

constexpr int kMostColumns = 4;
constexpr int kMostKnownWords = 24;

struct KnownKey {
  int64 id;  // 0: none
  uint64 generation;
  Oid relid;
  CmdType command;
  bool shown;
  int column_count;
  int columns[kMostColumns];
  int word_count;
  uint32 words[kMostKnownWords];
  uint32 gaps;  // where in these the lower word of the hash stands, before the upper one
};

KnownKey known[8] = {};
unsigned next_known = 0;

uint32 LowerWord(uint64 hash) { return static_cast<uint32>(hash); }
uint32 UpperWord(uint64 hash) { return static_cast<uint32>(hash >> 32U); }

bool IsKnownAs(const KnownKey& one, const TriedKey& key, CmdType command) {
  if (one.id == 0 || one.relid != key.relid || one.command != command || one.shown != key.shown ||
      one.column_count != list_length(key.columns))
    return false;
  for (int i = 0; i < one.column_count; ++i)
    if (one.columns[i] != list_nth_int(key.columns, i)) return false;
  return true;
}

}  // namespace

bool IsMemorable(const TriedKey& key) {
  if (key.value_count != 1 || list_length(key.columns) > kMostColumns) return false;
  for (int i = 1; i < list_length(key.columns); ++i)
    if (key.hashes[i] != key.hashes[0]) return false;
  return true;
}

int64 FindKnownKey(const TriedKey& key, CmdType command, uint64 vector, privacy_score::BoundConstants* constants) {
  if (!IsMemorable(key)) return 0;
  for (const KnownKey& one : known) {
    if (!IsKnownAs(one, key, command)) continue;
    if (one.generation != CatalogGeneration() || !IsRemembered(one.id)) return 0;
    if (one.word_count <= 2) return one.id;
    auto* words = static_cast<uint32*>(palloc(sizeof(uint32) * static_cast<Size>(one.word_count)));
    memcpy(words, one.words, sizeof(uint32) * static_cast<Size>(one.word_count));
    words[0] = LowerWord(vector);
    words[1] = UpperWord(vector);
    for (int i = 2; i < one.word_count; ++i) {
      if ((one.gaps >> static_cast<unsigned>(i) & 1U) == 0) continue;
      words[i] = LowerWord(key.hashes[0]);
      words[i + 1] = UpperWord(key.hashes[0]);
    }
    constants->words = words;
    constants->count = static_cast<size_t>(one.word_count);
    return one.id;
  }
  return 0;
}

void RememberKey(const TriedKey& key, CmdType command, uint64 generation, int64 id, ConstantWordsView words,
                 ConstantWordsView others, uint64 other) {
  if (id == 0 || IsUnparsed(id) || words.count != others.count || words.count > kMostKnownWords) return;
  const uint64 hash = key.hashes[0];
  KnownKey one = {id, generation, key.relid, command, key.shown, list_length(key.columns), {}, words.count, {}, 0};
  for (int i = 0; i < one.column_count; ++i) one.columns[i] = list_nth_int(key.columns, i);
  for (int i = 2; i < words.count; ++i) {
    one.words[i] = words.words[i];
    if (words.words[i] == others.words[i]) continue;
    // What differs must be the hash itself: else it was made of it in a way that is not known here.
    if (i + 1 >= words.count || words.words[i] != LowerWord(hash) || words.words[i + 1] != UpperWord(hash) ||
        others.words[i] != LowerWord(other) || others.words[i + 1] != UpperWord(other))
      return;
    one.gaps |= 1U << static_cast<unsigned>(i);
    one.words[i + 1] = words.words[i + 1];
    ++i;
  }
  for (KnownKey& place : known)
    if (IsKnownAs(place, key, command)) {
      place = one;
      return;
    }
  known[next_known++ % lengthof(known)] = one;
}

}  // namespace privacy_score
