/*
 * query_key.hpp - what is the same in two queries that have the same abstraction and compare the same columns.
 *
 * A statement that is planned anew each time is recognised by its shape: everything of the analysed query that its
 * translation into a Statement looks at (query_*.cpp), written as words in one walk, with constants left out. Equal
 * words, compared in full, mean equal Statements but for the constants, as long as no catalog has changed. Kinds of
 * queries of which that cannot be said by the query alone have no key: functions in FROM, which the planner may put
 * others in the place of; conditions of row security and of security barrier views; statistics, which show what the
 * current user may read; arrays of constants, whose length counts; and every kind of node that is not known here.
 * Whether a query has a key depends on its shape, never on its constants.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
}

namespace privacy_score {

constexpr int kMostLiterals = 256;

// Points into memory of this backend that the next key overwrites.
struct QueryKey {
  uint64 hash;  // of the words
  const uint32* words;
  int word_count;
  const Const* const* literals;  // in the order in which the server's walkers meet them
  int literal_count;
  uint64 parameters;  // bit n - 1 for $n
};

// Makes the key; false when the query has none. Raises nothing but what memory or the stack may.
bool MakeQueryKey(::Query* query, QueryKey* key);

// How many keys this backend has begun so far.
extern uint64 ps_keys_begun;

}  // namespace privacy_score
