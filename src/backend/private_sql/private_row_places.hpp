/*
 * private_row_places.hpp - taking the columns of a part from the rows of its relation as they are stored.
 *
 * A part that asks for some columns of one relation has the executor copy these out of each row into another one. Asked
 * for all columns of the relation, as they lie in it, the executor hands over the stored row itself, and the columns
 * are taken from there: a scan that counts persons takes about a tenth less.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

namespace privacy_score {

// Makes the part ask for all columns of its relation, and says at which place of a row each of its columns lies then,
// from 0 on, palloc'd. Null, and nothing is changed, where the part has more than columns of one relation, or where
// rows are not stored as the relation is now (columns were dropped, or added without writing the rows anew).
int* AskForWholeRows(::Query* part);

}  // namespace privacy_score
