/*
 * subjects.cpp - see subjects.hpp.
 */
#include "backend/catalog/subjects.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/constraint_columns.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_subject_attributes);
PG_FUNCTION_INFO_V1(ps_subject_path);
PG_FUNCTION_INFO_V1(ps_subject_home);
PG_FUNCTION_INFO_V1(ps_joint_home);
}

namespace {

// Foreign keys may go round in circles.
constexpr int kLongestPath = 32;

int CompareAttributes(const void* a, const void* b) {
  return *static_cast<const AttrNumber*>(a) - *static_cast<const AttrNumber*>(b);
}

Columns Sorted(Columns columns) {
  const Size size = sizeof(AttrNumber) * static_cast<Size>(columns.count);
  Columns sorted = {columns.count, static_cast<AttrNumber*>(palloc(size + 1))};
  if (columns.count > 0) {
    memcpy(sorted.numbers, columns.numbers, size);
    qsort(sorted.numbers, static_cast<size_t>(sorted.count), sizeof(AttrNumber), CompareAttributes);
  }
  return sorted;
}

// Declared, as far as the columns are still there, else the primary key, else none.
Columns SubjectColumns(Oid relation) {
  const List* declared = DeclaredSubject(relation);
  Columns found = {0,
                   static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * static_cast<Size>(list_length(declared) + 1)))};
  ListCell* cell;
  foreach (cell, declared) {
    const AttrNumber number = get_attnum(relation, static_cast<const char*>(lfirst(cell)));
    if (number != InvalidAttrNumber) found.numbers[found.count++] = number;
  }
  if (found.count == 0)
    EachConstraint(relation, [&](HeapTuple tuple, TupleDesc catalog) {
      if (KindOfConstraint(tuple) == CONSTRAINT_PRIMARY)
        found = ConstrainedColumns(tuple, Anum_pg_constraint_conkey, catalog);
    });
  return Sorted(found);
}

// Goes one foreign key further, the oldest of those over exactly these columns; false when there is none.
bool FollowKey(SubjectPath* path) {
  const Columns columns = {path->count, path->at_home};
  Oid oldest = InvalidOid;
  Oid home = InvalidOid;
  auto* referred = static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * static_cast<Size>(path->count)));
  EachConstraint(path->home, [&](HeapTuple tuple, TupleDesc catalog) {
    if (KindOfConstraint(tuple) != CONSTRAINT_FOREIGN) return;
    const auto* key = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(tuple));
    const Columns own = ConstrainedColumns(tuple, Anum_pg_constraint_conkey, catalog);
    if (key->confrelid == key->conrelid || (OidIsValid(oldest) && oldest < key->oid) || !AreWithin(own, columns) ||
        !AreWithin(columns, own))
      return;
    const Columns other = ConstrainedColumns(tuple, Anum_pg_constraint_confkey, catalog);
    for (int i = 0; i < columns.count; ++i) referred[i] = other.numbers[PlaceAmong(columns.numbers[i], own)];
    oldest = key->oid;
    home = key->confrelid;
  });
  if (!OidIsValid(home)) return false;
  path->home = home;
  path->at_home = referred;
  return true;
}

// Whether each row of a relation has other values in these columns.
bool HaveUniqueIndex(Oid relation, Columns columns) {
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
  ::Relation catalog = table_open(IndexRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, nullptr, 1, &key);
  bool found = false;
  HeapTuple tuple;
  while (!found && HeapTupleIsValid(tuple = systable_getnext(scan))) {
    auto* index = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
    found = index->indisunique && index->indimmediate && index->indisvalid &&
            heap_attisnull(tuple, Anum_pg_index_indpred, RelationGetDescr(catalog)) &&
            heap_attisnull(tuple, Anum_pg_index_indexprs, RelationGetDescr(catalog)) &&
            AreWithin({index->indnkeyatts, index->indkey.values}, columns);
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return found;
}

// What a column is, when it is there.
struct ColumnKind {
  Oid type;  // InvalidOid when there is no such column
  bool not_null;
};

ColumnKind KindOfColumn(Oid relation, AttrNumber number) {
  HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relation), Int16GetDatum(number));
  if (!HeapTupleIsValid(tuple)) return {InvalidOid, true};
  const auto* attribute = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple));
  const ColumnKind kind = {attribute->atttypid, attribute->attnotnull};
  ReleaseSysCache(tuple);
  return kind;
}

// Whether a value of the one type can be compared with one of the type at home as those at home are among themselves.
bool CanBeCompared(Oid own, Oid at_home) {
  if (own == at_home) return true;
  const Oid comparing = GetDefaultOpClass(at_home, BTREE_AM_OID);
  return OidIsValid(comparing) && get_opclass_input_type(comparing) == at_home &&
         OidIsValid(get_opfamily_member(get_opclass_family(comparing), at_home, own, BTEqualStrategyNumber));
}

// What a relation is, when it is there.
struct RelationKind {
  Oid owner;  // InvalidOid when there is no such relation
  bool is_whole;
};

RelationKind KindOfRelation(Oid relation) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return {InvalidOid, false};
  const auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  const RelationKind kind = {form->relowner, form->relkind == RELKIND_PARTITIONED_TABLE ||
                                                 (form->relkind == RELKIND_RELATION && !form->relhassubclass)};
  ReleaseSysCache(tuple);
  return kind;
}

Datum ArrayOfNumbers(int count, const AttrNumber* numbers) {
  auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(count + 1)));
  for (int i = 0; i < count; ++i) values[i] = Int16GetDatum(numbers[i]);
  return PointerGetDatum(construct_array(values, count, INT2OID, sizeof(int16), true, TYPALIGN_SHORT));
}

// The relation of a call, InvalidOid for NULL, which is none.
Oid SubjectArgument(FunctionCallInfo fcinfo) { return PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0); }

}  // namespace

SubjectPath SubjectPathOf(Oid relation) {
  const Columns own = SubjectColumns(relation);
  SubjectPath path = {relation, own.count, own.numbers, own.numbers};
  for (int steps = 0; steps < kLongestPath && path.count > 0; ++steps)
    if (!FollowKey(&path)) break;
  return path;
}

Bitmapset* SubjectOf(Oid relation) {
  const Columns columns = SubjectColumns(relation);
  Bitmapset* subject = nullptr;
  for (int i = 0; i < columns.count; ++i) subject = bms_add_member(subject, columns.numbers[i]);
  return subject;
}

char* SubjectHome(const SubjectPath& path) {
  const Columns sorted = Sorted({path.count, path.at_home});
  StringInfoData text;
  initStringInfo(&text);
  appendStringInfo(&text, "%u:", path.home);
  for (int i = 0; i < sorted.count; ++i) appendStringInfo(&text, i == 0 ? "%d" : ",%d", sorted.numbers[i]);
  return text.data;
}

Oid JointHome(Oid relation, const SubjectPath& path) {
  if (path.count == 0) return InvalidOid;
  const RelationKind home = KindOfRelation(path.home);
  if (!home.is_whole || KindOfRelation(relation).owner != home.owner) return InvalidOid;
  for (int i = 0; i < path.count; ++i) {
    const ColumnKind own = KindOfColumn(relation, path.own[i]);
    const ColumnKind at_home = KindOfColumn(path.home, path.at_home[i]);
    if (!at_home.not_null || !CanBeCompared(own.type, at_home.type)) return InvalidOid;
  }
  return HaveUniqueIndex(path.home, {path.count, path.at_home}) ? path.home : InvalidOid;
}

// subject_attributes(relation)
Datum ps_subject_attributes(PG_FUNCTION_ARGS) {
  const Columns columns = SubjectColumns(SubjectArgument(fcinfo));
  return ArrayOfNumbers(columns.count, columns.numbers);
}

// subject_path(relation)
Datum ps_subject_path(PG_FUNCTION_ARGS) {
  TupleDesc desc;
  if (get_call_result_type(fcinfo, nullptr, &desc) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "subject_path() does not return a row");
  const SubjectPath path = SubjectPathOf(SubjectArgument(fcinfo));
  Datum values[] = {ObjectIdGetDatum(path.home), ArrayOfNumbers(path.count, path.at_home)};
  bool nulls[] = {!OidIsValid(path.home), false};
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

// subject_home(relation)
Datum ps_subject_home(PG_FUNCTION_ARGS) {
  PG_RETURN_TEXT_P(cstring_to_text(SubjectHome(SubjectPathOf(PG_GETARG_OID(0)))));
}

// joint_home(relation)
Datum ps_joint_home(PG_FUNCTION_ARGS) {
  const Oid home = JointHome(PG_GETARG_OID(0));
  if (!OidIsValid(home)) PG_RETURN_NULL();
  PG_RETURN_OID(home);
}

}  // namespace privacy_score
