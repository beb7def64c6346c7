/*
 * tried_keys.cpp - see tried_keys.hpp.
 *
 * The values are read from the plan: the one row of INSERT ... VALUES, or the list of rows. What other plans insert is
 * not known before they run.
 */
#include "backend/watch/tried_keys.hpp"

#include "backend/query/abstracting.hpp"
#include "backend/query/key_columns.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/compat.hpp"
#include "backend/watch/live.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "parser/parsetree.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
}

namespace {

// A statement of more rows says only how many of them are there, unless it returns rows.
constexpr int kFewRows = 10;
constexpr auto kMostRows = static_cast<int>(privacy_score::kMostComparedValues);

// The rows that a node is about to insert.
struct InsertedRows {
  List* targets;  // of the table's columns, by resno
  List* values;   // of a list of rows; NIL: the targets are the one row
  int count;      // 0: nothing is known of them, or they are too many to be told apart
  ParamListInfo parameters;
  uint64 vector;
  bool failed;  // what was tried is told already
};

InsertedRows RowsOf(const ModifyTable* modify, ParamListInfo parameters, uint64 vector) {
  InsertedRows rows = {NIL, NIL, 0, parameters, vector, false};
  const Plan* source = outerPlan(&modify->plan);
  if (source == nullptr) return rows;
  rows.targets = source->targetlist;
  if (IsA(source, Result) && outerPlan(source) == nullptr) rows.count = 1;
  if (!IsA(source, ValuesScan)) return rows;
  rows.values = reinterpret_cast<const ValuesScan*>(source)->values_lists;
  const int count = list_length(rows.values);
  if (count <= kFewRows || modify->returningLists != NIL) rows.count = Min(count, kMostRows);
  return rows;
}

// What a row has in a column, null when that is not known.
Node* ValueIn(const InsertedRows& rows, int row, int attno) {
  ListCell* cell;
  foreach (cell, rows.targets) {
    const auto* target = lfirst_node(TargetEntry, cell);
    if (target->resno != attno) continue;
    Node* value = WithoutCasts(reinterpret_cast<Node*>(target->expr));
    if (!IsA(value, Var)) return value;
    const auto* var = reinterpret_cast<const Var*>(value);
    if (rows.values == NIL || var->varattno <= 0) return nullptr;
    return WithoutCasts(
        static_cast<Node*>(list_nth(static_cast<List*>(list_nth(rows.values, row)), var->varattno - 1)));
  }
  return nullptr;
}

// False for what is computed, and for NULL, which no key equals.
bool HashOfValue(const InsertedRows& rows, const Node* value, uint64* hash) {
  if (value == nullptr) return false;
  if (IsA(value, Const)) {
    *hash = HashOfConstant(reinterpret_cast<const Const*>(value), 0);
  } else {
    const auto* parameter = reinterpret_cast<const Param*>(value);
    if (!IsA(value, Param) || parameter->paramkind != PARAM_EXTERN ||
        !HashOfParameter(rows.parameters, parameter->paramid, hash))
      return false;
  }
  return *hash != 0;
}

// Counts one key. `columns`: those of the relation that is written to which have the values; NIL: nothing has.
void RecordKey(Oid relid, List* key_columns, List* columns, const InsertedRows& rows) {
  const int size = list_length(columns);
  TriedKey key = {relid, key_columns, false, 0, nullptr};
  uint64 vector = 0;
  auto* hashes = static_cast<uint64*>(
      MemoryContextAllocHuge(CurrentMemoryContext, sizeof(uint64) * static_cast<Size>(rows.count * size + 1)));
  for (int row = 0; row < rows.count && size > 0; ++row) {
    CHECK_FOR_INTERRUPTS();
    bool known = true;
    for (int i = 0; i < size && known; ++i)
      known = HashOfValue(rows, ValueIn(rows, row, list_nth_int(columns, i)), &hashes[key.value_count * size + i]);
    if (!known) continue;
    for (int i = 0; i < size; ++i) vector = privacy_score::FoldHash(vector, hashes[key.value_count * size + i]);
    ++key.value_count;
  }
  key.hashes = hashes;
  privacy_score::BoundConstants constants;
  const int64 id = AbstractKey(key, CMD_INSERT, key.value_count > 0 ? vector : rows.vector, &constants);
  if (rows.failed)
    RecordShown(id, constants);
  else
    RecordEvent(id, constants);
}

// Whether a row that has the key of an index is a conflict, when the statement names no key.
bool KeepsApart(Oid index) {
  HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
  if (!HeapTupleIsValid(tuple)) return false;
  const auto* form = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
  const bool keeps = form->indisunique || form->indisexclusion;
  ReleaseSysCache(tuple);
  return keeps;
}

// Counts keys of the indexes of a relation: those that are listed, of which nothing is known but that they may conflict
// when `any`. `changed` (may be null): only keys with one of these columns, offset as in range table entries.
void RecordIndexKeys(Oid relid, List* indexes, bool any, const Bitmapset* changed, const InsertedRows& rows) {
  ListCell* cell;
  foreach (cell, indexes) {
    if (any && !KeepsApart(lfirst_oid(cell))) continue;
    int plain_count;
    List* columns = ColumnsOfIndex(lfirst_oid(cell), &plain_count);
    bool concerned = changed == nullptr;
    ListCell* column;
    foreach (column, columns)
      concerned = concerned || bms_is_member(lfirst_int(column) - FirstLowInvalidHeapAttributeNumber, changed);
    if (concerned) RecordKey(relid, columns, plain_count > 0 ? columns : NIL, rows);
  }
}

List* IndexesOf(Oid relid) {
  Relation relation = relation_open(relid, NoLock);
  List* indexes = RelationGetIndexList(relation);
  relation_close(relation, NoLock);
  return indexes;
}

void RecordAwaitedOf(const PlannedStmt* plan, const ModifyTable* modify, int index, const InsertedRows& rows) {
  const RangeTblEntry* rte = rt_fetch(index, plan->rtable);
  if (rte->relid < FirstNormalObjectId || !KeysAreProtected(rte->relid)) return;
  Bitmapset* read;
  Bitmapset* inserted;
  Bitmapset* updated = nullptr;
  if (modify->operation == CMD_UPDATE) (void)PlannedColumns(plan, rte, &read, &inserted, &updated);
  RecordIndexKeys(rte->relid, IndexesOf(rte->relid), true, updated, rows);
}

void RecordAwaitedBy(const PlannedStmt* plan, const Plan* node, ParamListInfo parameters, uint64 vector) {
  if (node == nullptr || !IsA(node, ModifyTable)) return;
  const auto* modify = reinterpret_cast<const ModifyTable*>(node);
  if (modify->operation == CMD_DELETE) return;
  InsertedRows rows = {NIL, NIL, 0, parameters, vector, true};
  if (modify->operation == CMD_INSERT) {
    rows = RowsOf(modify, parameters, vector);
    rows.failed = true;
  }
  if (modify->rootRelation != 0) {
    RecordAwaitedOf(plan, modify, static_cast<int>(modify->rootRelation), rows);
    return;
  }
  ListCell* cell;
  foreach (cell, modify->resultRelations) RecordAwaitedOf(plan, modify, lfirst_int(cell), rows);
}

// Runs `work` in a memory context of its own.
template <typename Work>
void InScratch(Work work) {
  MemoryContext old = CurrentMemoryContext;
  MemoryContext scratch = AllocSetContextCreate(old, "privacy_score keys", ALLOCSET_DEFAULT_SIZES);
  MemoryContextSwitchTo(scratch);
  work();
  MemoryContextSwitchTo(old);
  MemoryContextDelete(scratch);
}

void RecordKeys(const PlannedStmt* plan, const ModifyTable* modify, ParamListInfo parameters, uint64 vector) {
  const Oid relid = rt_fetch(linitial_int(modify->resultRelations), plan->rtable)->relid;
  if (relid < FirstNormalObjectId) return;
  const bool is_protected = KeysAreProtected(relid);
  // The executor holds a lock. What the relation cache has is copied before anything else is looked up.
  Relation relation = relation_open(relid, NoLock);
  List* indexes =
      is_protected && modify->arbiterIndexes == NIL ? RelationGetIndexList(relation) : modify->arbiterIndexes;
  auto* keys = static_cast<List*>(copyObjectImpl(RelationGetFKeyList(relation)));
  relation_close(relation, NoLock);
  const InsertedRows rows = RowsOf(modify, parameters, vector);
  ListCell* cell;
  if (is_protected) RecordIndexKeys(relid, indexes, modify->arbiterIndexes == NIL, nullptr, rows);
  foreach (cell, keys) {
    const auto* key = static_cast<const ForeignKeyCacheInfo*>(lfirst(cell));
    // A key that refers to a partitioned table stands here for each partition, too.
    if (!RelationIsProtected(key->confrelid)) continue;
    List* referring = NIL;
    List* referred = NIL;
    for (int i = 0; i < key->nkeys; ++i) {
      referring = lappend_int(referring, key->conkey[i]);
      referred = lappend_int(referred, key->confkey[i]);
    }
    RecordKey(key->confrelid, referred, referring, rows);
  }
}

}  // namespace

void RecordTriedKeys(const PlannedStmt* plan, ParamListInfo parameters, uint64 vector) {
  InScratch([=] {
    List* nodes = list_make1(plan->planTree);
    ListCell* cell;
    foreach (cell, list_concat(nodes, plan->subplans))
      if (NamesOnConflict(static_cast<const Plan*>(lfirst(cell))))
        RecordKeys(plan, static_cast<const ModifyTable*>(lfirst(cell)), parameters, vector);
  });
}

void RecordAwaitedKeys(const PlannedStmt* plan, ParamListInfo parameters) {
  InScratch([=] {
    const uint64 vector = VectorOfExecution(ConstantsOfExecution(MarkOfPlan(plan), parameters));
    RecordAwaitedBy(plan, plan->planTree, parameters, vector);
    ListCell* cell;
    foreach (cell, plan->subplans) RecordAwaitedBy(plan, static_cast<const Plan*>(lfirst(cell)), parameters, vector);
  });
}

void RecordAwaitedKeys(Oid copied) {
  if (!OidIsValid(copied) || !KeysAreProtected(copied)) return;
  InScratch([=] { RecordIndexKeys(copied, IndexesOf(copied), true, nullptr, {NIL, NIL, 0, nullptr, 0, true}); });
}
