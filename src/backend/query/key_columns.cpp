/*
 * key_columns.cpp - see key_columns.hpp.
 */
#include "backend/query/key_columns.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "nodes/bitmapset.h"
#include "nodes/readfuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
}

namespace privacy_score {

namespace {

List* ConstraintColumns(HeapTuple constraint, AttrNumber which) {
  bool null;
  const Datum value = SysCacheGetAttr(CONSTROID, constraint, which, &null);
  if (null) return NIL;
  ArrayType* array = DatumGetArrayTypeP(value);
  const auto* numbers = reinterpret_cast<const int16*>(ARR_DATA_PTR(array));
  List* columns = NIL;
  for (int i = 0; i < ARR_DIMS(array)[0]; ++i) columns = lappend_int(columns, numbers[i]);
  return columns;
}

}  // namespace

List* ColumnsOfIndex(Oid index, int* plain_count) {
  List* columns = NIL;
  HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
  if (!HeapTupleIsValid(tuple)) return NIL;
  const auto* form = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
  for (int i = 0; i < form->indnkeyatts; ++i)
    if (form->indkey.values[i] > 0) columns = list_append_unique_int(columns, form->indkey.values[i]);
  if (plain_count != nullptr) *plain_count = list_length(columns);
  bool null;
  const Datum expressions = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indexprs, &null);
  if (!null) {
    if (plain_count != nullptr) *plain_count = -1;
    Bitmapset* below = nullptr;
    pull_varattnos(static_cast<Node*>(stringToNode(TextDatumGetCString(expressions))), 1, &below);
    for (int bit = -1; (bit = bms_next_member(below, bit)) >= 0;)
      if (bit + FirstLowInvalidHeapAttributeNumber > 0)
        columns = list_append_unique_int(columns, bit + FirstLowInvalidHeapAttributeNumber);
  }
  ReleaseSysCache(tuple);
  return columns;
}

List* ColumnsOfConstraint(Oid constraint) {
  HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
  if (!HeapTupleIsValid(tuple)) return NIL;
  List* columns = ConstraintColumns(tuple, Anum_pg_constraint_conkey);
  ReleaseSysCache(tuple);
  return columns;
}

bool FindForeignKey(Oid constraint, ForeignKeyColumns* key) {
  HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
  if (!HeapTupleIsValid(tuple)) return false;
  const auto* form = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(tuple));
  const bool foreign = form->contype == CONSTRAINT_FOREIGN;
  if (foreign)
    *key = {form->confrelid, ConstraintColumns(tuple, Anum_pg_constraint_conkey),
            ConstraintColumns(tuple, Anum_pg_constraint_confkey)};
  ReleaseSysCache(tuple);
  return foreign;
}

}  // namespace privacy_score
