/*
 * copy_recording.hpp - tables that a statement makes out of protected ones keep the class of their columns.
 *
 * CREATE TABLE AS, SELECT INTO (also of a prepared statement, and below EXPLAIN ANALYZE) and materialized views when
 * they are made or refreshed: where each column comes from is worked out before the statement runs, and recorded in its
 * transaction when it has made the relation. For statements of all roles, watched or not. So do tables that are made to
 * contain a copy as a partition or child, and names are kept up when columns are renamed.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/plannodes.h"
}

namespace privacy_score {

// One utility statement while it runs, on the stack of the utility hook.
struct CopyingStatement {
  CopyingStatement* outer;
  bool makes_relation;  // it may make a relation out of others
  bool refreshes;       // or fills one anew
  bool renames;
  bool joins_tables;  // it may make a table a partition or child of another
  List* computed;     // names of columns that it computes from others of the same table
  Oid relation;       // what is made, refreshed or altered, once it is there
  List* origins;      // CopiedOrigin
};

// Around each utility statement: before it, after it has succeeded, and in any case. The first two do not raise for a
// fault of ours unless the mode is enforce.
void BeginCopying(CopyingStatement* copying, const PlannedStmt* plan);
void FinishCopying(CopyingStatement* copying);
void LeaveCopying(const CopyingStatement* copying);

// Called from _PG_init when preloaded.
void InstallCopyingHook();

}  // namespace privacy_score
