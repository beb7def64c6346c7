/*
 * shown_by_errors.cpp - see shown_by_errors.hpp.
 *
 * The value is taken from the text of the error's DETAIL, which has it: texts that differ are values that differ.
 */
#include "shown_by_errors.hpp"

#include "abstracting.hpp"
#include "constants.hpp"
#include "live.hpp"
#include "protected_reads.hpp"
#include "scoring_errors.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace {

bool ChangesRows(const Plan* node) {
  if (node == nullptr || !IsA(node, ModifyTable)) return false;
  const auto* modify = reinterpret_cast<const ModifyTable*>(node);
  return modify->operation != CMD_INSERT || modify->onConflictAction == ONCONFLICT_UPDATE;
}

// Whether the row that fails may be one that was there.
bool ShowsRow(const PlannedStmt* plan) {
  if (ChangesRows(plan->planTree)) return true;
  ListCell* cell;
  foreach (cell, plan->subplans)
    if (ChangesRows(static_cast<Plan*>(lfirst(cell)))) return true;
  return false;
}

void RecordKey(Oid relation, List* columns, bool shown, const ErrorData* error, CmdType command) {
  if (!RelationIsProtected(relation)) return;
  const char* tried = error->detail != nullptr ? error->detail : error->message;
  const uint64 hash = HashOfDatum(TEXTOID, CStringGetTextDatum(tried));
  ConstantWordsView words = {nullptr, 0};
  const int64 id = AbstractKey(relation, columns, shown, command, hash, &words);
  privacy_score::BoundConstants constants;
  constants.words = words.words;
  constants.count = static_cast<size_t>(words.count);
  RecordShown(id, constants);
}

// The columns of the index of a unique or exclusion constraint.
List* ColumnsOfIndex(Oid relation, const char* name) {
  List* columns = NIL;
  const Oid oid = name == nullptr ? InvalidOid : get_relname_relid(name, get_rel_namespace(relation));
  HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(oid));
  if (!HeapTupleIsValid(tuple)) return NIL;
  const auto* index = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
  for (int i = 0; i < index->indnkeyatts; ++i)
    if (index->indkey.values[i] > 0) columns = lappend_int(columns, index->indkey.values[i]);
  ReleaseSysCache(tuple);
  return columns;
}

List* ColumnsOf(HeapTuple constraint, AttrNumber which) {
  bool null;
  const Datum value = SysCacheGetAttr(CONSTROID, constraint, which, &null);
  if (null) return NIL;
  ArrayType* array = DatumGetArrayTypeP(value);
  const auto* numbers = reinterpret_cast<const int16*>(ARR_DATA_PTR(array));
  List* columns = NIL;
  for (int i = 0; i < ARR_DIMS(array)[0]; ++i) columns = lappend_int(columns, numbers[i]);
  return columns;
}

// A foreign key tells of both relations that it connects.
void RecordForeignKey(Oid relation, const ErrorData* error, CmdType command) {
  if (error->constraint_name == nullptr) return;
  const Oid oid = get_relation_constraint_oid(relation, error->constraint_name, true);
  HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(oid));
  if (!HeapTupleIsValid(tuple)) return;
  const Oid referred = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(tuple))->confrelid;
  List* referring_columns = ColumnsOf(tuple, Anum_pg_constraint_conkey);
  List* referred_columns = ColumnsOf(tuple, Anum_pg_constraint_confkey);
  ReleaseSysCache(tuple);
  RecordKey(referred, referred_columns, false, error, command);
  if (referred != relation) RecordKey(relation, referring_columns, false, error, command);
}

void Record(const ErrorData* error, Oid relation, const PlannedStmt* plan) {
  ListCell* cell;
  switch (error->sqlerrcode) {
    case ERRCODE_NOT_NULL_VIOLATION:
    case ERRCODE_CHECK_VIOLATION:
      if (ShowsRow(plan) && RelationIsProtected(relation)) RecordShown(AbstractRows(relation, plan->commandType), {});
      break;
    case ERRCODE_WITH_CHECK_OPTION_VIOLATION:
      if (!ShowsRow(plan)) break;
      // The error names the view.
      foreach (cell, plan->resultRelations) {
        const Oid written = rt_fetch(lfirst_int(cell), plan->rtable)->relid;
        if (RelationIsProtected(written)) RecordShown(AbstractRows(written, plan->commandType), {});
      }
      break;
    case ERRCODE_UNIQUE_VIOLATION:
    case ERRCODE_EXCLUSION_VIOLATION:
      RecordKey(relation, ColumnsOfIndex(relation, error->constraint_name),
                error->sqlerrcode == ERRCODE_EXCLUSION_VIOLATION, error, plan->commandType);
      break;
    case ERRCODE_FOREIGN_KEY_VIOLATION:
    case ERRCODE_RESTRICT_VIOLATION:
      RecordForeignKey(relation, error, plan->commandType);
      break;
    default:
      break;
  }
}

}  // namespace

void RecordShownByError(const ErrorData* error, Oid relation, const PlannedStmt* plan) {
  if (IsInParallelMode()) return;
  MemoryContext context = CurrentMemoryContext;
  PG_TRY()
    ;
    { Record(error, relation, plan); }
    PG_CATCH();
    {
      MemoryContextSwitchTo(context);
      FlushErrorState();
      CountScoringError("what an error has shown could not be recorded");
    }
  PG_END_TRY();
}
