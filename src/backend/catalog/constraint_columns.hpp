/*
 * constraint_columns.hpp - the columns of a relation's constraints, as pg_constraint has them.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_constraint.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
}

namespace privacy_score {

// Attribute numbers, in whatever order.
struct Columns {
  int count;
  AttrNumber* numbers;
};

// The place of a column, -1 when it is not among them.
inline int PlaceAmong(AttrNumber number, Columns columns) {
  for (int i = 0; i < columns.count; ++i)
    if (columns.numbers[i] == number) return i;
  return -1;
}

inline bool AreWithin(Columns some, Columns all) {
  for (int i = 0; i < some.count; ++i)
    if (PlaceAmong(some.numbers[i], all) < 0) return false;
  return true;
}

inline char KindOfConstraint(HeapTuple constraint) {
  return reinterpret_cast<Form_pg_constraint>(GETSTRUCT(constraint))->contype;
}

// One of the columns of a constraint's row that hold attribute numbers; none for NULL. A copy: short values are packed.
inline Columns ConstrainedColumns(HeapTuple constraint, AttrNumber column, TupleDesc catalog) {
  bool null;
  const Datum value = heap_getattr(constraint, column, catalog, &null);
  if (null) return {0, nullptr};
  ArrayType* array = DatumGetArrayTypePCopy(value);
  return {ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)), reinterpret_cast<AttrNumber*>(ARR_DATA_PTR(array))};
}

// Hands each constraint of a relation to `take`, with the description of the catalog.
template <typename Take>
void EachConstraint(Oid relation, Take take) {
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
  ::Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true, nullptr, 1, &key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) take(tuple, RelationGetDescr(catalog));
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
}

}  // namespace privacy_score
