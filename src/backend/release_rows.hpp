/*
 * release_rows.hpp - reading the rows of a release: those it is made of, and those it is in.
 *
 * Rows go from the executor straight to where they are needed; the statements run as the current user, so rights, row
 * security and hooks are those of SQL. Interrupts are taken between rows.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "access/tupdesc.h"
#include "utils/tuplestore.h"
}

#include "value_list.hpp"

namespace privacy_score {
class ReleaseCheck;
}

// The records that a release is made of. The store has rows of the table of quasi-identifiers, with the number of the
// record's sensitive value in the place of the bucket, the last column.
struct SourceRows {
  ValueList* values;
  int64* counts;  // of records, by value
  int64 values_count;
  Tuplestorestate* store;
  uint64 rows;
  uint64 fingerprint;  // of all rows' quasi-identifiers, in any order
};

// Runs `sql`, which yields the quasi-identifiers and then the sensitive column, once. `columns` are those of the table
// of quasi-identifiers. The store takes `memory_kb` and goes to disk beyond that. SPI must be connected.
void ReadSource(SourceRows* source, const char* sql, TupleDesc columns, ValueList* values, int memory_kb);

// Gives the rows of two published tables to a check. `records_sql` yields columns of which the last is the bucket, and
// `values_sql` bucket, value and, with `counted`, how often it is there. What finds no number in the lists gets one.
// Returns the fingerprint of the columns before the bucket. SPI must be connected; sees what the current command has
// written.
uint64 ReadRelease(privacy_score::ReleaseCheck* check, const char* records_sql, const char* values_sql, bool counted,
                   ValueList* buckets, ValueList* values);
