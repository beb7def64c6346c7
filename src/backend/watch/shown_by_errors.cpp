/*
 * shown_by_errors.cpp - see shown_by_errors.hpp.
 *
 * The value is taken from the text of the error's DETAIL, which has it: texts that differ are values that differ.
 */
#include "backend/watch/shown_by_errors.hpp"

#include "backend/query/abstracting.hpp"
#include "backend/query/constants.hpp"
#include "backend/query/key_columns.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/watch/live.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace privacy_score {

namespace {

bool ChangesRows(const Plan* node) {
  if (node == nullptr || !IsA(node, ModifyTable)) return false;
  const auto* modify = reinterpret_cast<const ModifyTable*>(node);
  return modify->operation != CMD_INSERT || modify->onConflictAction == ONCONFLICT_UPDATE;
}

// Whether the row that fails may be one that was there.
bool ShowsRow(const PlannedStmt* plan) {
  if (plan == nullptr) return false;
  if (ChangesRows(plan->planTree)) return true;
  ListCell* cell;
  foreach (cell, plan->subplans)
    if (ChangesRows(static_cast<Plan*>(lfirst(cell)))) return true;
  return false;
}

bool IsCopy(const ShowingError& shown) { return shown.utility != nullptr && IsA(shown.utility, CopyStmt); }

// Whether the statement checks rows that were there before it, of the relation that it handles.
bool ChecksRowsThere(const ShowingError& shown) {
  return shown.plan == nullptr && OidIsValid(shown.handled) && !IsCopy(shown);
}

// What a statement does that is not planned: COPY inserts, others read what they check or rewrite.
CmdType UnplannedCommand(const ShowingError& shown) {
  if (shown.plan != nullptr) return shown.plan->commandType;
  return IsCopy(shown) ? CMD_INSERT : CMD_SELECT;
}

void RecordShownRows(const ShowingError& shown, Oid relation) {
  if (RelationIsProtected(relation)) RecordUnrefusable(AbstractRows(relation, UnplannedCommand(shown)), {});
}

void RecordShownKey(const ShowingError& shown, Oid relation, List* columns, bool shows_key) {
  if (!KeysAreProtected(relation)) return;
  const char* tried = shown.error->detail != nullptr ? shown.error->detail : shown.error->message;
  const uint64 hash = HashOfDatum(TEXTOID, CStringGetTextDatum(tried));
  const int size = list_length(columns);
  auto* hashes = static_cast<uint64*>(palloc(sizeof(uint64) * static_cast<Size>(size + 1)));
  for (int i = 0; i < size; ++i) hashes[i] = hash;
  const TriedKey key = {relation, columns, shows_key, 1, hashes};
  privacy_score::BoundConstants constants;
  const int64 id = AbstractKey(key, UnplannedCommand(shown), privacy_score::FoldHash(0, hash), &constants);
  RecordUnrefusable(id, constants);
}

// A unique or exclusion constraint, or an index that is being built, which prints a key of rows that are there.
void RecordShownIndexKey(const ShowingError& shown) {
  const char* name = shown.error->constraint_name;
  const Oid index = name == nullptr ? InvalidOid : get_relname_relid(name, get_rel_namespace(shown.named));
  List* columns = ColumnsOfIndex(index);
  if (columns == NIL)
    RecordShownRows(shown, shown.named);
  else
    RecordShownKey(shown, shown.named, columns,
                   shown.error->sqlerrcode == ERRCODE_EXCLUSION_VIOLATION || ChecksRowsThere(shown));
}

// A foreign key tells of both relations that it connects.
void RecordForeignKey(const ShowingError& shown) {
  if (shown.error->constraint_name == nullptr) return;
  ForeignKeyColumns key;
  if (!FindForeignKey(get_relation_constraint_oid(shown.named, shown.error->constraint_name, true), &key)) return;
  RecordShownKey(shown, key.referred, key.referred_columns, false);
  if (key.referred != shown.named) RecordShownKey(shown, shown.named, key.referring_columns, ChecksRowsThere(shown));
}

// A condition that some row does not meet which is there: the columns that it is about are filtered by.
void RecordCondition(const ShowingError& shown) {
  const ErrorData* error = shown.error;
  List* columns = NIL;
  if (error->column_name != nullptr) {
    const AttrNumber column = get_attnum(shown.named, error->column_name);
    if (column > 0) columns = list_make1_int(column);
  } else if (error->constraint_name != nullptr) {
    columns = ColumnsOfConstraint(get_relation_constraint_oid(shown.named, error->constraint_name, true));
  }
  if (columns == NIL)
    RecordShownRows(shown, shown.named);
  else
    RecordShownKey(shown, shown.named, columns, false);
}

// Whether an error may come from a row: a value that is none of its type, or names nothing. Others say that the server
// did not take the statement, and has read nothing.
bool ComesFromRows(int code) {
  switch (code) {
    case ERRCODE_UNDEFINED_TABLE:
    case ERRCODE_UNDEFINED_FUNCTION:
    case ERRCODE_UNDEFINED_OBJECT:
    case ERRCODE_UNDEFINED_SCHEMA:
    case ERRCODE_AMBIGUOUS_FUNCTION:
    case ERRCODE_INVALID_NAME:
    case ERRCODE_SYNTAX_ERROR:
      return true;
    default:
      return ERRCODE_TO_CATEGORY(code) == ERRCODE_DATA_EXCEPTION ||
             ERRCODE_TO_CATEGORY(code) == ERRCODE_CARDINALITY_VIOLATION;
  }
}

// Values that were printed on the way: of a plan those of any column that it reads, else of any column of the relation
// that is handled. What COPY FROM prints the client has sent.
void RecordPrinted(const ShowingError& shown) {
  if (!shown.may_hold_values || IsCopy(shown)) return;
  if (shown.plan != nullptr) {
    if (PlanReadsProtected(shown.plan)) RecordUnrefusable(AbstractPlan(shown.plan), {});
  } else if (ComesFromRows(shown.error->sqlerrcode)) {
    RecordShownRows(shown, shown.handled);
  }
}

void RecordShownStatement(const ShowingError& shown) {
  ListCell* cell;
  switch (shown.error->sqlerrcode) {
    case ERRCODE_NOT_NULL_VIOLATION:
    case ERRCODE_CHECK_VIOLATION:
      if (ChecksRowsThere(shown) && shown.error->detail == nullptr)
        RecordCondition(shown);
      else if (ChecksRowsThere(shown) || ShowsRow(shown.plan))
        RecordShownRows(shown, shown.named);
      break;
    case ERRCODE_WITH_CHECK_OPTION_VIOLATION:
      if (!ShowsRow(shown.plan)) break;
      // The error names the view.
      foreach (cell, shown.plan->resultRelations)
        RecordShownRows(shown, rt_fetch(lfirst_int(cell), shown.plan->rtable)->relid);
      break;
    case ERRCODE_UNIQUE_VIOLATION:
    case ERRCODE_EXCLUSION_VIOLATION:
      RecordShownIndexKey(shown);
      break;
    case ERRCODE_FOREIGN_KEY_VIOLATION:
    case ERRCODE_RESTRICT_VIOLATION:
      RecordForeignKey(shown);
      break;
    default:
      RecordPrinted(shown);
      break;
  }
}

}  // namespace

Oid NamedRelation(const ErrorData* error) {
  if (error->schema_name == nullptr || error->table_name == nullptr) return InvalidOid;
  const Oid schema = get_namespace_oid(error->schema_name, true);
  return OidIsValid(schema) ? get_relname_relid(error->table_name, schema) : InvalidOid;
}

void RecordShownByError(const ShowingError& shown) {
  MemoryContext context = CurrentMemoryContext;
  PG_TRY();
  { RecordShownStatement(shown); }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    FlushErrorState();
    CountScoringError("what an error has shown could not be recorded");
  }
  PG_END_TRY();
}

}  // namespace privacy_score
