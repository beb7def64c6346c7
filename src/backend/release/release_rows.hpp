/*
 * release_rows.hpp - reading the rows of a release: those it is made of, and those it is in.
 *
 * Rows go from the executor straight to where they are needed (row_reading.hpp).
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "access/tupdesc.h"
#include "executor/tuptable.h"
}

#include "backend/rows/record_store.hpp"
#include "backend/rows/value_list.hpp"

namespace privacy_score {

class OrderCheck;
class ReleaseCheck;

// The records that a release is made of. The store has rows of the table of quasi-identifiers, with the number of the
// record's sensitive value in the place of the bucket, the last column.
struct SourceRows {
  ValueList* values;
  int64* counts;  // of records, by value
  int64 values_count;
  TupleDesc columns;  // of the table of quasi-identifiers
  RecordStore* store;
  uint64 rows;
  uint64 fingerprint;  // of all rows' quasi-identifiers, in any order
};

// Runs `sql`, which yields the quasi-identifiers and then the sensitive column, once. `columns` are those of the table
// of quasi-identifiers. The store is one of records that wait to be arranged (release_arranging.hpp). SPI must be
// connected.
void ReadSource(SourceRows* source, const char* sql, TupleDesc columns, ValueList* values);

// Lets the rows of tables come in physical order, from the first on, in what runs until the caller's nest level of
// settings ends.
void ReadInPhysicalOrder();

// How the rows of two published tables are read.
struct ReleaseReading {
  const char* records_sql;  // columns, the last of which is the bucket
  const char* values_sql;   // bucket, value, and with `counted` how often it is there
  bool counted;
  bool fresh;  // they were written by this command
  ValueList*
      buckets;  // what has no number in the lists gets one; null: buckets are 1..last_bucket, and numbered from 0
  int64 last_bucket;
  ValueList* values;
  privacy_score::ReleaseCheck* check;
  privacy_score::OrderCheck* order;  // null: not wanted
  int64* senseless;                  // rows with a count of less than 1, which are left out
};

// Gives the rows to the checks. Returns the fingerprint of the columns before the bucket. SPI must be connected.
uint64 ReadRelease(const ReleaseReading* reading);

// Runs `sql`, which yields columns and a value, and hands each row to `receive`: its columns, with their hash, and the
// number of the value.
struct SourceReading {
  const char* sql;
  ValueList* values;
  void (*receive)(void* context, TupleTableSlot* row, uint64 hash, uint32 value);
  void* context;
};
void ReadSourceRows(const SourceReading* reading);

}  // namespace privacy_score
