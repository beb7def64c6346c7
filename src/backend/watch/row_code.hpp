/*
 * row_code.hpp - code that a relation runs on each row which it is given, beside triggers.
 *
 * Checks, generated columns, expressions and predicates of indexes, and partition keys are evaluated on the row as it
 * becomes: of an UPDATE it has the values of one that was there. Their functions need not belong to who may read it.
 * Defaults are handed no row, and what domains of columns check the statement itself assigns.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

struct RelationEntry;

// Whether there may be code that the server has not brought. Kept until the relation changes, so it is one look-up. May
// raise.
bool HasRowCode(Oid relation);

// Whether others' code (others_code.hpp) is handed the rows. May raise.
bool RowCodeIsOthers(Oid relation, const RelationEntry* declared);

}  // namespace privacy_score
