/*
 * tried_keys.hpp - keys that INSERT with ON CONFLICT tries: it succeeds whether they are there or not, and says which
 * by how many rows it writes or returns.
 *
 * An event of its own before the statement's, so that the statement keeps its abstraction: a key of a protected
 * relation that is written to, or that a foreign key of the relation refers to, is filtered by. What is tried counts in
 * reach: docs/scoring.md says when the values do. Asked when the statement runs: keys may be younger than its plan. May
 * raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/params.h"
#include "nodes/plannodes.h"
}

namespace privacy_score {

inline bool NamesOnConflict(const Plan* node) {
  return node != nullptr && IsA(node, ModifyTable) &&
         reinterpret_cast<const ModifyTable*>(node)->onConflictAction != ONCONFLICT_NONE;
}

// Whether a plan names ON CONFLICT, also in a WITH query.
inline bool TriesKeys(const PlannedStmt* plan) {
  if (NamesOnConflict(plan->planTree)) return true;
  if (plan->hasModifyingCTE) {
    ListCell* cell;
    foreach (cell, plan->subplans)
      if (NamesOnConflict(static_cast<const Plan*>(lfirst(cell)))) return true;
  }
  return false;
}

// Counts the keys of protected relations that a plan writes and that was broken off, whatever it names; COPY FROM to a
// relation. What it has told is told: nothing is refused.
void RecordAwaitedKeys(const PlannedStmt* plan, ParamListInfo parameters);
void RecordAwaitedKeys(Oid copied);

// Which keys of a relation a statement may have waited for that nobody knows any more.
struct AwaitedKeys {
  bool deferred_only;  // those that are checked when the transaction ends
  bool referring;      // also those by which it refers to others
};

// The same of which only the name of the relation, or of the index, is known: of each protected relation of that name.
// `vector`: what tells one such wait from others.
void RecordAwaitedKeysNamed(const char* name, const AwaitedKeys& keys, uint64 vector);

// Counts the keys that running such a plan tries. `vector`: what tells this execution from others with other constants.
void RecordTriedKeys(const PlannedStmt* plan, ParamListInfo parameters, uint64 vector);

}  // namespace privacy_score
