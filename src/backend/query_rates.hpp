/*
 * query_rates.hpp - identification of statements given as text, from the data, with the caller's rights.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
}

// Columns that one relation reveals.
struct RevealedRelation {
  Oid relation;
  Bitmapset* attributes;
};

// What a text reveals: a list of RevealedRelation; columns of relations that do not exist are left out. Raises 42601
// when the text does not parse.
List* RevealedByText(const text* sql);

List* UnionOfRevealed(List* a, List* b);

// The attributes of a relation in such a list; null (the empty set) when it is not there.
const Bitmapset* RevealedOf(List* revealed, Oid relation);

// DRSQL: CDR of each relation against its subject, summed up to 1 within relations that share a subject through foreign
// keys, the greatest of the others [Khan; combination ours].
double QueryRate(List* revealed);
