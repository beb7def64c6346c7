/*
 * tried_keys.cpp - see tried_keys.hpp.
 *
 * The values are read from the plan: the one row of INSERT ... VALUES, or the list of rows. What other plans insert is
 * not known before they run.
 */
#include "backend/watch/tried_keys.hpp"
#include "backend/catalog/catalog_scan.hpp"

#include "backend/query/abstracting.hpp"
#include "backend/query/key_columns.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/compat.hpp"
#include "backend/watch/live.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
}

namespace privacy_score {

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
    RecordUnrefusable(id, constants);
  else
    RecordEvent(id, constants);
}

// The columns of a relation that has the names of those of one of its partitions; NIL when one is missing.
List* ColumnsOfRoot(Oid root, Oid partition, List* columns) {
  if (root == partition) return columns;
  List* mapped = NIL;
  ListCell* cell;
  foreach (cell, columns) {
    const char* name = get_attname(partition, static_cast<AttrNumber>(lfirst_int(cell)), true);
    const AttrNumber column = name == nullptr ? InvalidAttrNumber : get_attnum(root, name);
    if (column == InvalidAttrNumber) return NIL;
    mapped = list_append_unique_int(mapped, column);
  }
  return mapped;
}

// Which of the keys of a relation are meant.
struct KeyChoice {
  bool deferred_only;        // those that may be checked later than the statement
  const Bitmapset* changed;  // not null: those with one of these columns, offset as in range table entries
};

bool IsMeant(List* columns, const KeyChoice& choice) {
  bool meant = choice.changed == nullptr;
  ListCell* cell;
  foreach (cell, columns)
    meant = meant || bms_is_member(lfirst_int(cell) - FirstLowInvalidHeapAttributeNumber, choice.changed);
  return meant;
}

// Counts the key of one index of a relation, or of one of its partitions: once for all that have the same columns.
void RecordIndexKey(Oid root, Oid partition, Oid index, const KeyChoice& choice, const InsertedRows& rows,
                    List** counted) {
  int plain_count;
  List* columns = ColumnsOfRoot(root, partition, ColumnsOfIndex(index, &plain_count));
  if (columns == NIL || !IsMeant(columns, choice) || list_member(*counted, columns)) return;
  *counted = lappend(*counted, columns);
  RecordKey(root, columns, plain_count > 0 ? columns : NIL, rows);
}

// Counts the keys of a relation that keep rows apart. Partitions may have keys of their own. Indexes are looked up in
// the catalog, since no lock is there for opening a partition, and who waits for one would stop others.
void RecordKeysOf(Oid relid, const KeyChoice& choice, const InsertedRows& rows) {
  List* counted = NIL;
  ListCell* cell;
  List* members = get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE ? find_all_inheritors(relid, NoLock, nullptr)
                                                                      : list_make1_oid(relid);
  ::Relation catalog = table_open(IndexRelationId, AccessShareLock);
  foreach (cell, members) {
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(lfirst_oid(cell)));
    SysScanDesc scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, nullptr, 1, &key);
    HeapTuple tuple;
    List* indexes = NIL;
    while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
      const auto* index = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
      if ((index->indisunique || index->indisexclusion) && !(choice.deferred_only && index->indimmediate))
        indexes = lappend_oid(indexes, index->indexrelid);
    }
    systable_endscan(scan);
    list_sort(indexes, list_oid_cmp);
    ListCell* index;
    foreach (index, indexes) RecordIndexKey(relid, lfirst_oid(cell), lfirst_oid(index), choice, rows, &counted);
  }
  table_close(catalog, AccessShareLock);
}

// Counts the columns by which a relation refers to others.
void RecordReferringKeys(Oid relid, const InsertedRows& rows) {
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
  List* constraints = GatherOids<FormData_pg_constraint>(ConstraintRelationId, ConstraintRelidTypidNameIndexId, &key,
                                                         [](const FormData_pg_constraint* row) { return row->oid; });
  ListCell* cell;
  foreach (cell, constraints) {
    ForeignKeyColumns foreign;
    if (FindForeignKey(lfirst_oid(cell), &foreign)) RecordKey(relid, foreign.referring_columns, NIL, rows);
  }
}

// All relations of that name.
List* AllRelationsNamed(const char* name) {
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_class_relname, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum(name));
  return GatherOids<FormData_pg_class>(RelationRelationId, ClassNameNspIndexId, &key,
                                       [](const FormData_pg_class* row) { return row->oid; });
}

void RecordAwaitedOf(const PlannedStmt* plan, const ModifyTable* modify, int index, const InsertedRows& rows) {
  const RangeTblEntry* rte = rt_fetch(index, plan->rtable);
  if (rte->relid < FirstNormalObjectId || !KeysAreProtected(rte->relid)) return;
  Bitmapset* read;
  Bitmapset* inserted;
  Bitmapset* updated = nullptr;
  if (modify->operation == CMD_UPDATE) (void)PlannedColumns(plan, rte, &read, &inserted, &updated);
  RecordKeysOf(rte->relid, {false, updated}, rows);
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
  ::Relation relation = relation_open(relid, NoLock);
  auto* keys = static_cast<List*>(copyObjectImpl(RelationGetFKeyList(relation)));
  relation_close(relation, NoLock);
  const InsertedRows rows = RowsOf(modify, parameters, vector);
  ListCell* cell;
  if (is_protected && modify->arbiterIndexes == NIL) RecordKeysOf(relid, {false, nullptr}, rows);
  List* counted = NIL;
  foreach (cell, is_protected ? modify->arbiterIndexes : NIL)
    RecordIndexKey(relid, relid, lfirst_oid(cell), {false, nullptr}, rows, &counted);
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
  InScratch([=] { RecordKeysOf(copied, {false, nullptr}, {NIL, NIL, 0, nullptr, 0, true}); });
}

void RecordAwaitedKeysNamed(const char* name, const AwaitedKeys& keys, uint64 vector) {
  InScratch([=, &keys] {
    const InsertedRows rows = {NIL, NIL, 0, nullptr, vector, true};
    ListCell* cell;
    List* counted = NIL;
    foreach (cell, AllRelationsNamed(name)) {
      const Oid named = lfirst_oid(cell);
      const Oid table = get_rel_relkind(named) == RELKIND_INDEX ? IndexGetRelation(named, true) : named;
      if (!OidIsValid(table) || !KeysAreProtected(table)) continue;
      if (table != named)
        RecordIndexKey(table, table, named, {false, nullptr}, rows, &counted);
      else
        RecordKeysOf(table, {keys.deferred_only, nullptr}, rows);
      if (keys.referring) RecordReferringKeys(table, rows);
    }
  });
}

}  // namespace privacy_score
