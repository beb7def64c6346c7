/*
 * release_tables.hpp - the tables that a release is published in: named, created and filled for the current user.
 *
 * They are created by ordinary statements of the current user in the same transaction, so that that user's rights,
 * event triggers and other extensions have their say, before a row is read. Nobody but the owner may read them,
 * whatever the default privileges say: to publish is an act of its own, GRANT. Rows then go in by the table access
 * method in large blocks, past triggers and constraints, so a table that an event trigger has given some is refused.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/heapam.h"
#include "access/tupdesc.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "nodes/primnodes.h"
#include "utils/relcache.h"
}

namespace privacy_score {

// How the comments of the tables of a release begin, and of its second table: what may be replaced, and what a report
// counts, is told by that.
#define RELEASE_COMMENT "privacy_score release: "
#define SENSITIVE_VALUES_OF "sensitive values of "

// A table to be. Columns and the rest are palloc'd.
struct ReleaseTable {
  const char* parameter;  // of the function, for messages
  RangeVar* name;
  Oid schema;
  Oid existing;        // a table of this name, InvalidOid for none
  const char* quoted;  // its qualified name
  int columns;
  Form_pg_attribute* types;  // of each column: what is in its name, type, modifier and collation counts
  Oid relation;              // once it is created
};

// Reads a qualified name as it is written in SQL. Raises 42601, 42602, 3F000, 42501 (CREATE on the schema), and 42P07
// when a relation of that name exists and `replace` is false. With `replace` that relation is locked, and must be a
// table of an earlier release that the current user owns: else 42501, 42809, 55000.
void NameReleaseTable(ReleaseTable* table, const char* parameter, const text* name, bool replace);

// Raises 22023 when the table is the relation that is published.
void RequireAnotherTable(const ReleaseTable* table, Oid published);

// Gives the table one more column: one like another, or a bigint.
void AddColumnLike(ReleaseTable* table, const FormData_pg_attribute* like);
void AddNumberColumn(ReleaseTable* table, const char* name);

// Drops the tables of the earlier release, creates those of the new one, and makes sure that they are what was asked
// for. SPI must be connected.
void CreateReleaseTables(ReleaseTable* const* tables, int count);

// Makes sure that they still are: what ran since, such as functions of a view, may have changed them. 55000.
void RequireUnchanged(const ReleaseTable* const* tables, int count);

// What the table says of itself, and of one of its columns: the texts of their comments. SPI must be connected.
void DescribeReleaseTable(const ReleaseTable* table, const char* comment);
void DescribeReleaseColumn(const ReleaseTable* table, const char* column, const char* comment);

// Fills a table. Rows are seen by what runs after the next command counter increment.
struct TableWriter {
  ::Relation relation;
  BulkInsertState bulk;
  MemoryContext batch;
  TupleTableSlot** slots;
  int used;
  Size bytes;  // of the rows that wait
};

// Rows come in slots of a form.
void OpenWriter(TableWriter* writer, Oid relation, const TupleTableSlotOps* form);
// An empty slot: store a row in it, then add it with about as many bytes as it has. A virtual row's values are needed
// until the writer is flushed or closed.
TupleTableSlot* NextRow(TableWriter* writer);
void AddRow(TableWriter* writer, Size bytes);
// Writes the rows that wait.
void FlushWriter(TableWriter* writer);
void CloseWriter(TableWriter* writer);

}  // namespace privacy_score
