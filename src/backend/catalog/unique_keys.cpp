/*
 * unique_keys.cpp - see unique_keys.hpp.
 *
 * An index speaks for the rows that there are now. A snapshot older than the index, or than NOT NULL, may see rows that
 * had to go before it could be made: such an index says nothing.
 */
#include "backend/catalog/unique_keys.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_index.h"
#include "nodes/bitmapset.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace privacy_score {

namespace {

// Whether a row of a catalog was as it is when the active snapshot was taken.
bool IsOlder(const HeapTupleData* tuple) {
  const TransactionId made = HeapTupleHeaderGetXmin(tuple->t_data);
  return !TransactionIdIsCurrentTransactionId(made) && !XidInMVCCSnapshot(made, GetActiveSnapshot());
}

bool WasNotNull(Oid relation, AttrNumber attribute) {
  HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relation), Int16GetDatum(attribute));
  if (!HeapTupleIsValid(tuple)) return false;
  const bool was = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attnotnull && IsOlder(tuple);
  ReleaseSysCache(tuple);
  return was;
}

// The columns of the index when they are a key, else the empty set.
Bitmapset* KeyOfIndex(::Relation relation, ::Relation index) {
  const Form_pg_index form = index->rd_index;
  if (!form->indisunique || !form->indimmediate || !form->indisvalid || index->rd_rel->relam != BTREE_AM_OID ||
      !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, nullptr) || !IsOlder(index->rd_indextuple))
    return nullptr;
  Bitmapset* key = nullptr;
  for (int i = 0; i < form->indnkeyatts; ++i) {
    const AttrNumber attribute = form->indkey.values[i];
    if (attribute <= 0) return nullptr;
    // Unique by the equality that GROUP BY uses, not by one of somebody's own operator class or collation.
    const FormData_pg_attribute* column = TupleDescAttr(RelationGetDescr(relation), attribute - 1);
    const Oid equal = get_opfamily_member(index->rd_opfamily[i], index->rd_opcintype[i], index->rd_opcintype[i],
                                          BTEqualStrategyNumber);
    if (equal != lookup_type_cache(column->atttypid, TYPECACHE_EQ_OPR)->eq_opr ||
        index->rd_indcollation[i] != column->attcollation || !WasNotNull(RelationGetRelid(relation), attribute))
      return nullptr;
    key = bms_add_member(key, attribute);
  }
  return key;
}

}  // namespace

List* UniqueKeysOf(::Relation relation) {
  List* keys = NIL;
  const char kind = relation->rd_rel->relkind;
  if (kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW &&
      (kind != RELKIND_RELATION || relation->rd_rel->relhassubclass))
    return NIL;
  ListCell* cell;
  foreach (cell, RelationGetIndexList(relation)) {
    ::Relation index = index_open(lfirst_oid(cell), AccessShareLock);
    Bitmapset* key = KeyOfIndex(relation, index);
    index_close(index, AccessShareLock);
    if (key != nullptr) keys = lappend(keys, key);
  }
  return keys;
}

}  // namespace privacy_score
