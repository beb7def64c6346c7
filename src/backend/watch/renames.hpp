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

namespace privacy_score {

// What is renamed, as it was before.
struct Renaming {
  bool schema;
  Oid relation;               // or that whose column is renamed; InvalidOid for anything else
  const char* relation_name;  // its, qualified
  const char* old_name;       // of the column or schema; null when the relation itself is renamed or moved
  const char* new_name;
};

// Looks at a utility statement before it runs.
Renaming RenamingOf(const Node* statement);

// After it has run: brings the names up to date, within the same transaction.
void FollowRenaming(const Renaming& renaming);

}  // namespace privacy_score
