/*
 * catalog_protection.hpp - what the extension's own tables say of relations, read as the server reads catalogs.
 *
 * By index scans under a catalog snapshot instead of SPI: the relation cache asks in the middle of planning and at
 * executor start, where no query may run. Answers are those of the current transaction; whoever keeps them relies on
 * the relcache messages that the trigger protection_changed() sends for every row that comes, goes or changes.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
}

// Whether protect() has declared a relation, itself or as one of its name that was dropped since. `rival` is a relation
// that was declared under this name and still exists under another: once it is dropped, this one is the declared one.
struct Declaration {
  bool declared;
  Oid rival;
};

Declaration ReadDeclaration(Oid relid, const char* qualified_name);

// The OIDs of all declared relations that exist.
List* DeclaredRelations();
