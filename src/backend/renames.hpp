/*
 * renames.hpp - names that our tables hold follow ALTER ... RENAME and SET SCHEMA.
 *
 * Declarations are found by OID and follow by themselves; but the declared subject, confirmed dependencies and rates
 * are kept by name. History and baselines keep the names under which statements were recorded: they say what was read.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

// What is renamed, as it was before.
struct Renaming {
  bool any;      // a relation or a schema, or a column of `relation`
  Oid relation;  // of the column; else InvalidOid
  const char* old_column;
  const char* new_column;
};

// Looks at a utility statement before it runs.
Renaming RenamingOf(const Node* statement);

// After it has run: brings the names up to date, within the same transaction.
void FollowRenaming(const Renaming& renaming);
