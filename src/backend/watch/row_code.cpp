/*
 * row_code.cpp - see row_code.hpp.
 *
 * What is kept are the expressions, of most relations none: whose code they run is asked anew, as owners change. They
 * are read from the catalogs and not from the relation cache, which would have to open every partition of a table.
 */
#include "backend/watch/row_code.hpp"

#include <initializer_list>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/partition.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_partitioned_table.h"
#include "nodes/readfuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "backend/catalog/others_code.hpp"

namespace privacy_score {

namespace {

struct RowCode {
  Oid relid;
  List* expressions;  // that run code which the server has not brought
};

MemoryContext code_context = nullptr;
HTAB* codes = nullptr;
uint64 changes = 0;  // how often a relation has changed
bool all_stale = false;

void OnRowCodeChange(Datum /*argument*/, Oid relid) {
  ++changes;
  if (codes == nullptr) return;
  const auto* gone =
      OidIsValid(relid) ? static_cast<RowCode*>(hash_search(codes, &relid, HASH_REMOVE, nullptr)) : nullptr;
  // Expressions take memory, which is given back with all others.
  if (!OidIsValid(relid) || (gone != nullptr && gone->expressions != NIL)) all_stale = true;
}

void OpenCodes() {
  static bool registered = false;
  if (!registered) CacheRegisterRelcacheCallback(OnRowCodeChange, Datum(0));
  registered = true;
  if (codes != nullptr && !all_stale) return;
  codes = nullptr;
  if (code_context != nullptr) MemoryContextDelete(code_context);
  code_context = nullptr;
  code_context = AllocSetContextCreate(CacheMemoryContext, "privacy_score row code", ALLOCSET_SMALL_SIZES);
  all_stale = false;
  HASHCTL control;
  memset(&control, 0, sizeof control);
  control.keysize = sizeof(Oid);
  control.entrysize = sizeof(RowCode);
  control.hcxt = code_context;
  codes = hash_create("privacy_score row code", 32, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

List* AddStored(List* expressions, Datum stored, bool null) {
  if (null) return expressions;
  auto* node = static_cast<Node*>(stringToNode(TextDatumGetCString(stored)));
  return RunsAddedCode(node) ? lappend(expressions, node) : expressions;
}

// Adds the expressions in fields of the rows of a catalog that belong to a relation and are `wanted`.
template <typename Wanted>
List* AddFields(List* expressions, Oid catalog, Oid index, AttrNumber owner, Oid relation,
                std::initializer_list<AttrNumber> fields, Wanted wanted) {
  ::Relation table = table_open(catalog, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, owner, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
  SysScanDesc scan = systable_beginscan(table, index, true, nullptr, 1, &key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
    if (!wanted(tuple)) continue;
    for (const AttrNumber field : fields) {
      bool null;
      const Datum stored = heap_getattr(tuple, field, RelationGetDescr(table), &null);
      expressions = AddStored(expressions, stored, null);
    }
  }
  systable_endscan(scan);
  table_close(table, AccessShareLock);
  return expressions;
}

bool IsGenerated(HeapTuple tuple) {
  const auto* form = reinterpret_cast<Form_pg_attrdef>(GETSTRUCT(tuple));
  return get_attgenerated(form->adrelid, form->adnum) != '\0';
}

List* AddPartitionKey(List* expressions, Oid relation) {
  HeapTuple tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return expressions;
  bool null;
  const Datum stored = SysCacheGetAttr(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs, &null);
  expressions = AddStored(expressions, stored, null);
  ReleaseSysCache(tuple);
  return expressions;
}

// Reads the expressions of a relation, in the current memory context.
List* ReadRowCode(Oid relation) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return NIL;
  const FormData_pg_class form = *reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  const auto any = [](HeapTuple /*tuple*/) { return true; };
  List* expressions = NIL;
  if (form.relchecks > 0)
    expressions = AddFields(expressions, ConstraintRelationId, ConstraintRelidTypidNameIndexId,
                            Anum_pg_constraint_conrelid, relation, {Anum_pg_constraint_conbin}, any);
  if (form.relhasindex)
    expressions = AddFields(expressions, IndexRelationId, IndexIndrelidIndexId, Anum_pg_index_indrelid, relation,
                            {Anum_pg_index_indexprs, Anum_pg_index_indpred}, any);
  expressions = AddFields(expressions, AttrDefaultRelationId, AttrDefaultIndexId, Anum_pg_attrdef_adrelid, relation,
                          {Anum_pg_attrdef_adbin}, IsGenerated);
  expressions = AddPartitionKey(expressions, relation);
  const ListCell* cell;
  foreach (cell, form.relispartition ? get_partition_ancestors(relation) : NIL)
    expressions = AddPartitionKey(expressions, lfirst_oid(cell));
  return expressions;
}

// The expressions of a relation, which stay until the next call.
List* RowCodeOf(Oid relation) {
  OpenCodes();
  const auto* known = static_cast<RowCode*>(hash_search(codes, &relation, HASH_FIND, nullptr));
  if (known != nullptr) return known->expressions;
  const uint64 before = changes;
  List* expressions = ReadRowCode(relation);
  if (before != changes) return expressions;
  MemoryContext previous = MemoryContextSwitchTo(code_context);
  expressions = static_cast<List*>(copyObjectImpl(expressions));
  MemoryContextSwitchTo(previous);
  static_cast<RowCode*>(hash_search(codes, &relation, HASH_ENTER, nullptr))->expressions = expressions;
  return expressions;
}

}  // namespace

bool HasRowCode(Oid relation) { return RowCodeOf(relation) != NIL; }

bool RowCodeIsOthers(Oid relation, const RelationEntry* declared) {
  return RunsOthersCode(reinterpret_cast<Node*>(RowCodeOf(relation)), declared);
}

}  // namespace privacy_score
