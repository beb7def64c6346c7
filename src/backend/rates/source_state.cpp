/*
 * source_state.cpp - see source_state.hpp.
 *
 * The worker asks it of each relation with rates every few seconds, so it takes no statement.
 */
#include "backend/rates/source_state.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "backend/catalog/relation_access.hpp"
#include "backend/rates/shard_counters.hpp"
#include "backend/state/own_scan.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_source_state);
}

namespace {

// The relation and all below it, each once, in the order of their OIDs.
List* TreeOf(Oid root) {
  List* tree = list_make1_oid(root);
  ::Relation inheritance = table_open(InheritsRelationId, AccessShareLock);
  for (int i = 0; i < list_length(tree); ++i) {
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(list_nth_oid(tree, i)));
    SysScanDesc scan = systable_beginscan(inheritance, InheritsParentIndexId, true, nullptr, 1, &key);
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple); tuple = systable_getnext(scan))
      tree = list_append_unique_oid(tree, reinterpret_cast<Form_pg_inherits>(GETSTRUCT(tuple))->inhrelid);
    systable_endscan(scan);
  }
  table_close(inheritance, AccessShareLock);
  list_sort(tree, list_oid_cmp);
  return tree;
}

int64 Counter(PGFunction counter, Oid relation) {
  return DatumGetInt64(DirectFunctionCall1(counter, ObjectIdGetDatum(relation)));
}

// Adds the counters that the worker has copied of a distributed relation; false when there are none.
bool AddShards(Oid relation, SourceState* state) {
  ScanKeyData key;
  ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
  OwnScan scan;
  if (!OpenOwnScan(&scan, "shard_counter", "shard_counter_pkey", &key)) return false;
  const HeapTuple tuple = systable_getnext(scan.scan);
  const bool found = HeapTupleIsValid(tuple);
  if (found) {
    bool null;
    state->rows += DatumGetInt64(heap_getattr(tuple, 2, RelationGetDescr(scan.table), &null));
    state->modifications += DatumGetInt64(heap_getattr(tuple, 3, RelationGetDescr(scan.table), &null));
  }
  CloseOwnScan(&scan);
  return found;
}

}  // namespace

SourceState StateOfSource(Oid relation) {
  SourceState state = {};
  const bool shards = HasShards();
  StringInfoData identities;
  initStringInfo(&identities);
  ListCell* cell;
  foreach (cell, TreeOf(relation)) {
    const Oid member = lfirst_oid(cell);
    const HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(member));
    if (!HeapTupleIsValid(tuple)) continue;
    const auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
    appendStringInfo(&identities, "%s%u:%u:%d", state.exists ? " " : "", member, form->relfilenode, form->relnatts);
    ReleaseSysCache(tuple);
    state.exists = true;
    if (shards && AddShards(member, &state)) continue;
    state.rows += Counter(pg_stat_get_live_tuples, member);
    for (const PGFunction counter :
         {pg_stat_get_tuples_inserted, pg_stat_get_tuples_updated, pg_stat_get_tuples_deleted})
      state.modifications += Counter(counter, member);
  }
  state.identity = DatumGetInt64(DirectFunctionCall2Coll(
      hashtextextended, C_COLLATION_OID, PointerGetDatum(cstring_to_text_with_len(identities.data, identities.len)),
      Int64GetDatum(0)));
  pfree(identities.data);
  return state;
}

// source_state(name)
Datum ps_source_state(PG_FUNCTION_ARGS) {
  TupleDesc columns;
  if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE) elog(ERROR, "a record is expected");
  const Oid relation = RelationOfCanonicalName(text_to_cstring(PG_GETARG_TEXT_PP(0)));
  const SourceState state = OidIsValid(relation) ? StateOfSource(relation) : SourceState{};
  Datum values[] = {Int64GetDatum(state.identity), Int64GetDatum(state.rows), Int64GetDatum(state.modifications)};
  bool nulls[] = {!state.exists, !state.exists, !state.exists};
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls)));
}

}  // namespace privacy_score
