/*
 * known_keys.hpp - keys that this backend has abstracted before, when an error showed them or a statement tried them.
 *
 * Whoever tries one key after the other, or loads rows some of which are there, meets the same key of the same relation
 * again with another value. Remembered of it are the abstraction and the words of core/statement/comparisons.hpp, with
 * gaps for the hash of the value. That holds as long as known_queries.hpp holds what it has; only the latest few are
 * kept, and only of one value.
 */
#pragma once

#include "backend/query/constants.hpp"
#include "backend/query/query_statement.hpp"

namespace privacy_score {

// The abstraction of trying a key, with its constants in the current context; 0 when it is not known.
int64 FindKnownKey(const TriedKey& key, CmdType command, uint64 vector, privacy_score::BoundConstants* constants);

// Remembers a key that was abstracted under `generation`. `words`: those of its constants; `others`: the same with
// `other` as the hash of the value, by which the gaps are found.
void RememberKey(const TriedKey& key, CmdType command, uint64 generation, int64 id, ConstantWordsView words,
                 ConstantWordsView others, uint64 other);

// Whether it can be remembered: it has one value, of which there is one hash.
bool IsMemorable(const TriedKey& key);

}  // namespace privacy_score
