/*
 * model_functions.cpp - protected relations and their columns as scoring models know them, read as subjects.hpp is.
 *
 * The views model_relation and model_attribute show these rows. What is here is open to everybody by
 * protected_relations and the server's catalogs.
 */
extern "C" {
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_seclabel.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/constraint_columns.hpp"
#include "backend/catalog/subjects.hpp"
#include "backend/server/compat.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_model_relations);
PG_FUNCTION_INFO_V1(ps_model_attributes);
}

namespace {

// Hands each column of a relation that is there to `take`. Without opening the relation, which may be locked.
template <typename Take>
void EachColumn(Oid relation, Take take) {
  ScanKeyData keys[2];
  ScanKeyInit(&keys[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
  ScanKeyInit(&keys[1], Anum_pg_attribute_attnum, BTGreaterStrategyNumber, F_INT2GT, Int16GetDatum(0));
  ::Relation catalog = table_open(AttributeRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, AttributeRelidNumIndexId, true, nullptr, lengthof(keys), keys);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
    const auto* column = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple));
    if (!column->attisdropped) take(*column);
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
}

bool HasNullable(Oid relation, Columns columns) {
  bool nullable = false;
  EachColumn(relation, [&](const FormData_pg_attribute& column) {
    nullable |= !column.attnotnull && PlaceAmong(column.attnum, columns) >= 0;
  });
  return nullable;
}

// Whether each row is a subject of its own: none is declared, or its columns tell rows apart.
bool HasSubjectPerRow(Oid relation, Columns subject) {
  bool unique = subject.count == 0;
  EachConstraint(relation, [&](HeapTuple tuple, TupleDesc catalog) {
    const char kind = KindOfConstraint(tuple);
    if (unique || (kind != CONSTRAINT_PRIMARY && kind != CONSTRAINT_UNIQUE)) return;
    const Columns key = ConstrainedColumns(tuple, Anum_pg_constraint_conkey, catalog);
    unique = AreWithin(key, subject) && (kind == CONSTRAINT_PRIMARY || !HasNullable(relation, key));
  });
  return unique;
}

// The columns of primary, unique and foreign keys.
Bitmapset* KeyColumns(Oid relation) {
  Bitmapset* columns = nullptr;
  EachConstraint(relation, [&](HeapTuple tuple, TupleDesc catalog) {
    const char kind = KindOfConstraint(tuple);
    if (kind != CONSTRAINT_PRIMARY && kind != CONSTRAINT_UNIQUE && kind != CONSTRAINT_FOREIGN) return;
    const Columns key = ConstrainedColumns(tuple, Anum_pg_constraint_conkey, catalog);
    for (int i = 0; i < key.count; ++i)
      if (key.numbers[i] > 0) columns = bms_add_member(columns, key.numbers[i]);
  });
  return columns;
}

// A list of what the extension's labels say of columns, as palloc'd ColumnLabelled.
struct ColumnLabelled {
  int number;
  const char* label;
};

List* LabelsOf(Oid relation) {
  List* labels = NIL;
  ScanKeyData keys[2];
  ScanKeyInit(&keys[0], Anum_pg_seclabel_objoid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
  ScanKeyInit(&keys[1], Anum_pg_seclabel_classoid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(RelationRelationId));
  ::Relation catalog = table_open(SecLabelRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, SecLabelObjectIndexId, true, nullptr, lengthof(keys), keys);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
    bool null;
    const TupleDesc desc = RelationGetDescr(catalog);
    const char* provider = TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_provider, desc, &null));
    if (strcmp(provider, "privacy_score") != 0) continue;
    auto* labelled = static_cast<ColumnLabelled*>(palloc(sizeof(ColumnLabelled)));
    labelled->number = reinterpret_cast<const FormData_pg_seclabel*>(GETSTRUCT(tuple))->objsubid;
    labelled->label = TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_label, desc, &null));
    labels = lappend(labels, labelled);
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return labels;
}

const char* LabelAmong(const List* labels, int number) {
  ListCell* cell;
  foreach (cell, labels)
    if (static_cast<ColumnLabelled*>(lfirst(cell))->number == number)
      return static_cast<ColumnLabelled*>(lfirst(cell))->label;
  return nullptr;
}

// The name as the view canonical_relation has it: temporary tables of two sessions are two.
const char* NameInModel(Oid relation) {
  const char* name = get_rel_name(relation);
  const char* schema = get_namespace_name(get_rel_namespace(relation));
  return name == nullptr || schema == nullptr ? nullptr : psprintf("%s.%s", QuoteName(schema), QuoteName(name));
}

Datum TextOrNull(const char* text, bool* null) {
  *null = text == nullptr;
  return text == nullptr ? Datum(0) : CStringGetTextDatum(text);
}

// A row for each column of a relation: it, its name, number and name of the column, label, whether it identifies, and
// its place among the columns of the subject where that is at home.
void PutModelColumns(ReturnSetInfo* info, Oid relation, const char* name) {
  const SubjectPath path = SubjectPathOf(relation);
  const Bitmapset* keys = KeyColumns(relation);
  const List* labels = LabelsOf(relation);
  EachColumn(relation, [&](const FormData_pg_attribute& column) {
    const int place = PlaceAmong(column.attnum, {path.count, path.own});
    int position = 0;
    for (int k = 0; place >= 0 && k < path.count; ++k) position += path.at_home[k] < path.at_home[place];
    const char* label = LabelAmong(labels, column.attnum);
    const bool identifies = label == nullptr ? bms_is_member(column.attnum, keys) : strcmp(label, "identifier") == 0;
    NameData attribute = column.attname;
    bool nulls[7] = {};
    nulls[6] = place < 0;
    Datum values[] = {ObjectIdGetDatum(relation), CStringGetTextDatum(name),    Int16GetDatum(column.attnum),
                      NameGetDatum(&attribute),   TextOrNull(label, &nulls[4]), BoolGetDatum(place >= 0 || identifies),
                      Int32GetDatum(position)};
    tuplestore_putvalues(info->setResult, info->setDesc, values, nulls);
  });
}

// A row for a relation: it, its name, where its subject is at home, whether each row is a subject of its own, and where
// its rows can be joined with those of others.
void PutModelRelation(ReturnSetInfo* info, Oid relation, const char* name) {
  const SubjectPath path = SubjectPathOf(relation);
  const Oid home = JointHome(relation, path);
  bool nulls[5] = {};
  Datum values[] = {ObjectIdGetDatum(relation), CStringGetTextDatum(name), CStringGetTextDatum(SubjectHome(path)),
                    BoolGetDatum(HasSubjectPerRow(relation, {path.count, path.own})),
                    TextOrNull(OidIsValid(home) ? NameInModel(home) : nullptr, &nulls[4])};
  tuplestore_putvalues(info->setResult, info->setDesc, values, nulls);
}

// Rows for each protected relation that exists, each in memory of its own.
template <typename Put>
void PutEachProtected(FunctionCallInfo fcinfo, Put put) {
  InitMaterializedSRF(fcinfo, 0);
  auto* info = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "protected relation", ALLOCSET_SMALL_SIZES);
  ListCell* cell;
  foreach (cell, DeclaredRelations()) {
    CHECK_FOR_INTERRUPTS();
    MemoryContext outer = MemoryContextSwitchTo(each);
    const char* name = NameInModel(lfirst_oid(cell));
    if (name != nullptr) put(info, lfirst_oid(cell), name);
    MemoryContextSwitchTo(outer);
    MemoryContextReset(each);
  }
  MemoryContextDelete(each);
}

}  // namespace

// model_relations()
Datum ps_model_relations(PG_FUNCTION_ARGS) {
  PutEachProtected(fcinfo, PutModelRelation);
  return Datum(0);
}

// model_attributes()
Datum ps_model_attributes(PG_FUNCTION_ARGS) {
  PutEachProtected(fcinfo, PutModelColumns);
  return Datum(0);
}

}  // namespace privacy_score
