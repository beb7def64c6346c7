/*
 * source_state.hpp - what tells that the rows of a relation are others than at another time.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// Of a relation with its partitions and children, by the server's statistics and, as the worker has copied them, those
// of the shards of Citus.
struct SourceState {
  bool exists;
  int64 identity;  // another one when one of them is dropped and made again, truncated, rewritten, or gets a column
  int64 rows;
  int64 modifications;
};

SourceState StateOfSource(Oid relation);

}  // namespace privacy_score
