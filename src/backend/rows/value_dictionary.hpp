/*
 * value_dictionary.hpp - the values of one column as codes 0, 1, 2, ... in the order in which they are first seen.
 *
 * Two values get one code exactly when GROUP BY makes them one group: NULL is one value, NaN equals NaN, -0 equals 0,
 * 1.0 equals 1.00, text is equal by the collation of its column, and types of extensions by their own default operator
 * class. Types whose equality is that of bits or bytes are compared here; of integers those that lie close together are
 * looked up in a plain array. All others go through the type's hash and equality functions, or through its ordering
 * where it has no hash function; these are looked up and run as the current user, as the server's own grouping runs
 * them.
 *
 * Dictionaries are plain structs: server functions may raise while they are searched. What they take comes out of one
 * memory context and is bounded; a dictionary that would go beyond says so and is of no further use.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "lib/rbtree.h"
}

namespace privacy_score {

// What the dictionaries of one pass take, together. `full` once something did not fit.
struct DictionaryMemory {
  MemoryContext context;
  Size limit;  // bytes, may be moved while the pass goes on
  bool full;
  char* next;  // free part of the block that small pieces are cut from
  char* end;
};

// An entry of the hash table: integers as they are, bytes with their length in front, others as values of their type.
struct ValueSlot {
  union {
    int64 integer;
    const char* bytes;
    Datum value;
  };
  uint32 hash;
  uint32 next_code;  // code + 1; 0 for a free entry
};

struct ValueDictionary {
  // How values are told apart.
  enum Way : uint8 { kInteger, kFloat, kText, kPadded, kName, kFixed, kHashed, kOrdered };

  Way way;
  bool by_value;
  int16 length;      // of the type, as the catalog has it
  uint32 codes;      // given so far
  uint32 next_null;  // code + 1 of NULL; 0 while there was none
  DictionaryMemory* memory;
  Size bytes;  // asked for so far, freed ones too

  // Integers within [low, low + span) are entries of an array, code + 1, 0 for a value not seen.
  int64 low;
  uint64 span;
  uint32* window;

  // All others, in a hash table with open addressing whose size is a power of two.
  ValueSlot* slots;
  uint64 capacity;
  uint64 used;

  // The type's own functions, and the tree of the types that are only ordered.
  Oid collation;
  FmgrInfo hash;
  FmgrInfo equal;
  FmgrInfo compare;
  RBTree* tree;
  RBTNode* spare;
};

// Whether the values of a type can be told apart: only then there can be a dictionary of them.
bool CanTellApart(Oid type);

// Empty dictionary for a type that can be grouped and a collation; it lives in memory->context. Raises 42501 when the
// current user may not execute the type's equality function.
ValueDictionary* NewValueDictionary(DictionaryMemory* memory, Oid type, Oid collation);

// Raises 54000: the distinct values of `of` do not fit.
[[noreturn]] void RaiseValuesFull(const char* of);

// An array of zeros out of the dictionary's memory, which can be freed; null, and memory->full, beyond the limit.
void* TakeArray(ValueDictionary* dictionary, Size bytes);

// See CodeOf; any value.
uint32 CodeOfAnyValue(ValueDictionary* dictionary, Datum value, bool null);

inline int64 IntegerOf(const ValueDictionary* dictionary, Datum value) {
  switch (dictionary->length) {
    case 1:
      return DatumGetChar(value);
    case 2:
      return DatumGetInt16(value);
    case 4:
      return DatumGetInt32(value);
    default:
      return DatumGetInt64(value);
  }
}

// The code of a value. May raise; leaves garbage in the current memory context. Meaningless once memory->full.
inline uint32 CodeOf(ValueDictionary* dictionary, Datum value, bool null) {
  if (dictionary->span > 0 && !null) {
    const uint64 at = static_cast<uint64>(IntegerOf(dictionary, value)) - static_cast<uint64>(dictionary->low);
    if (at < dictionary->span && dictionary->window[at] != 0) return dictionary->window[at] - 1;
  }
  return CodeOfAnyValue(dictionary, value, null);
}

}  // namespace privacy_score
