/*
 * unique_keys.hpp - columns that tell all rows of a relation apart, whatever the rows are.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/relcache.h"
}

namespace privacy_score {

// Sets of attribute numbers (a list of Bitmapset) by which no two rows that the active snapshot sees are one group of
// GROUP BY: the columns of valid, immediate, complete unique indexes that allow no NULL. None for relations whose rows
// are also those of children.
List* UniqueKeysOf(::Relation relation);

}  // namespace privacy_score
