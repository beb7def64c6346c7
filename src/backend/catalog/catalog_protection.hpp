/*
 * catalog_protection.hpp - what the extension's own tables say of relations, read as the server reads catalogs.
 *
 * By index scans under a catalog snapshot instead of SPI: the relation cache asks in the middle of planning and at
 * executor start, where no query may run. Answers are those of the current transaction; whoever keeps them relies on
 * the relcache messages that the trigger protection_changed() sends for every row that comes, goes or changes. The
 * triggers of these tables are here, too.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "nodes/pg_list.h"
}

namespace privacy_score {

// Whether protect() has declared a relation, itself or as one of its name that was dropped since. `rival` is a relation
// that was declared under this name and still exists under another: once it is dropped, this one is the declared one.
struct Declaration {
  bool declared;
  Oid rival;
};

Declaration ReadDeclaration(Oid relid, const char* qualified_name);

// The columns that protect() was told to be the subject of a relation, as names: NIL where it was told of none.
List* DeclaredSubject(Oid relid);

// The OIDs of all declared relations that exist.
List* DeclaredRelations();

// One row of privacy_score.copied_column: a column of a copy and one base column that its values come from. Numbers are
// those of now; 0 when a column is gone.
struct CopiedColumn {
  AttrNumber number;
  Oid origin;  // InvalidOid when it was dropped
  AttrNumber origin_number;
  const char* origin_name;
  const char* origin_attribute;
};

// What is recorded of one relation, as palloc'd CopiedColumn.
List* ReadCopiedColumns(Oid relid);

// Whether this database has the table of copies: the extension is here, in a version that knows it.
bool RecordsCopies();

// The OIDs of all relations of which anything is recorded.
List* CopiedRelations();

}  // namespace privacy_score
