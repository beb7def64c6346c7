/*
 * query_statement.hpp - the front end of the live path: what the server is about to do as a Statement of core.
 *
 * Trees are made in the current memory context; names and columns of relations point into the relation cache. A result
 * is therefore valid until the context goes or until the next call of any function here or of ForgetStaleRelations.
 * All may raise (catalog look-ups, stack depth, memory).
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
}

#include "core/statement/statement.hpp"

namespace privacy_score {

struct ValueRecipes;

// An analysed and rewritten query, as the planner hook receives it; it is only read. One of CMD_UTILITY gives a
// Statement without query. With `recipes` (value_recipes.hpp) the hash of each value is the number of its recipe.
privacy_score::Statement QueryStatement(::Query* query, ValueRecipes* recipes = nullptr);

// The query behind a view or materialized view, which nobody has rewritten; adds the views in it to `views`
// (DefinitionTranslator in catalog_lineage.hpp).
privacy_score::Query* TranslateDefinition(privacy_score::Arena* arena, ::Query* query, Oid relid, List** views);

// A statement that reads a relation alone, with the column list of CopyStmt (NIL: all columns). Unknown columns are
// left to the server.
privacy_score::Statement RowsStatement(privacy_score::Command command, Oid relid, List* columns);

// A key of a relation, and the values of it that are tried.
struct TriedKey {
  Oid relid;
  List* columns;         // attribute numbers
  bool shown;            // its values in rows that are there are shown, too
  int value_count;       // 0: it is not known what is tried
  const uint64* hashes;  // of the first value those of all columns, then of the next
};

// A statement that compares the columns of a key with each of the values; with `shown` it projects them, too.
privacy_score::Statement KeyStatement(privacy_score::Command command, const TriedKey& key);

// A statement that reads every column of every protected relation.
privacy_score::Statement EverythingStatement();

// An upper bound from a plan whose query was never seen: every column that the plan's range table marks as read is
// projected, every one marked as written is written.
privacy_score::Statement PlanStatement(const PlannedStmt* plan);

// The same of a plan that is explained: every column that is marked as read may have been filtered by.
privacy_score::Statement PlanEstimates(const PlannedStmt* plan);

}  // namespace privacy_score
