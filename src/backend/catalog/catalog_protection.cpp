/*
 * catalog_protection.cpp - see catalog_protection.hpp.
 */
#include "backend/catalog/catalog_protection.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "backend/catalog/relation_access.hpp"
#include "backend/state/own_scan.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_protection_changed);
PG_FUNCTION_INFO_V1(ps_copy_restored);
}

namespace {

// Columns of privacy_score.protected_relation.
constexpr AttrNumber kDeclaredRelation = 1;
constexpr AttrNumber kDeclaredName = 2;
constexpr AttrNumber kDeclaredSubject = 3;

// Columns of privacy_score.copied_column.
constexpr AttrNumber kCopiedRelation = 1;
constexpr AttrNumber kCopiedOid = 2;
constexpr AttrNumber kCopiedAttribute = 3;
constexpr AttrNumber kCopiedNumber = 4;
constexpr AttrNumber kCopiedOrigin = 5;
constexpr AttrNumber kCopiedOriginName = 6;
constexpr AttrNumber kCopiedOriginAttribute = 7;
constexpr AttrNumber kCopiedOriginNumber = 8;

Oid OidField(const OwnScan& scan, HeapTuple tuple, AttrNumber column) {
  bool null;
  const Datum value = heap_getattr(tuple, column, RelationGetDescr(scan.table), &null);
  return null ? InvalidOid : DatumGetObjectId(value);
}

bool RelationExists(Oid relid) { return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)); }

void Invalidate(Oid relid) {
  if (OidIsValid(relid) && RelationExists(relid)) CacheInvalidateRelcacheByRelid(relid);
}

// Tells all backends that what one row says of a relation is no longer so. The columns of the row that matter are
// `relation` and, where the table has it, `name`.
void InvalidateRow(HeapTuple row, TupleDesc columns) {
  bool null;
  for (int i = 0; i < columns->natts; ++i) {
    const char* column = NameStr(TupleDescAttr(columns, i)->attname);
    const Datum value = heap_getattr(row, i + 1, columns, &null);
    if (null) continue;
    if (strcmp(column, "relation") == 0) Invalidate(DatumGetObjectId(value));
    if (strcmp(column, "name") == 0) Invalidate(RelationOfCanonicalName(TextDatumGetCString(value)));
  }
}

// The names in the subject of a row, NIL for NULL.
List* SubjectField(const OwnScan& scan, HeapTuple tuple) {
  bool null;
  const Datum value = heap_getattr(tuple, kDeclaredSubject, RelationGetDescr(scan.table), &null);
  if (null) return NIL;
  Datum* names;
  bool* nulls;
  int count;
  deconstruct_array(DatumGetArrayTypeP(value), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &names, &nulls, &count);
  List* subject = NIL;
  for (int i = 0; i < count; ++i)
    if (!nulls[i]) subject = lappend(subject, pstrdup(NameStr(*DatumGetName(names[i]))));
  return subject;
}

// Hands the row of protected_relation that a key finds by an index to `take`, when there is one.
template <typename Take>
void FindDeclaration(const char* index, ScanKey key, Take take) {
  OwnScan scan;
  if (!OpenOwnScan(&scan, "protected_relation", index, key)) return;
  const HeapTuple tuple = systable_getnext(scan.scan);
  if (HeapTupleIsValid(tuple)) take(scan, tuple);
  CloseOwnScan(&scan);
}

template <typename Take>
void FindDeclared(Oid relid, Take take) {
  ScanKeyData key;
  ScanKeyInit(&key, kDeclaredRelation, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
  FindDeclaration("protected_relation_pkey", &key, take);
}

template <typename Take>
void FindDeclaredByName(const char* qualified_name, Take take) {
  ScanKeyData key;
  ScanKeyEntryInitialize(&key, 0, kDeclaredName, BTEqualStrategyNumber, InvalidOid, DEFAULT_COLLATION_OID, F_TEXTEQ,
                         CStringGetTextDatum(qualified_name));
  FindDeclaration("protected_relation_name_key", &key, take);
}

}  // namespace

Declaration ReadDeclaration(Oid relid, const char* qualified_name) {
  Declaration result = {false, InvalidOid};
  FindDeclared(relid, [&](const OwnScan&, HeapTuple) { result.declared = true; });
  if (result.declared) return result;
  FindDeclaredByName(qualified_name, [&](const OwnScan& scan, HeapTuple tuple) {
    const Oid declared = OidField(scan, tuple, kDeclaredRelation);
    if (RelationExists(declared))
      result.rival = declared;
    else
      result.declared = true;
  });
  return result;
}

List* DeclaredSubject(Oid relid) {
  List* names = NIL;
  bool found = false;
  FindDeclared(relid, [&](const OwnScan& scan, HeapTuple tuple) {
    found = true;
    names = SubjectField(scan, tuple);
  });
  if (found || !RelationExists(relid)) return names;
  FindDeclaredByName(CanonicalRelationName(relid), [&](const OwnScan& scan, HeapTuple tuple) {
    if (!RelationExists(OidField(scan, tuple, kDeclaredRelation))) names = SubjectField(scan, tuple);
  });
  return names;
}

List* DeclaredRelations() {
  List* relations = NIL;
  OwnScan scan;
  if (!OpenOwnScan(&scan, "protected_relation", nullptr, nullptr)) return NIL;
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan.scan))) {
    Oid relid = OidField(scan, tuple, kDeclaredRelation);
    if (!RelationExists(relid)) {
      bool null;
      relid = RelationOfCanonicalName(
          TextDatumGetCString(heap_getattr(tuple, kDeclaredName, RelationGetDescr(scan.table), &null)));
    }
    if (OidIsValid(relid)) relations = list_append_unique_oid(relations, relid);
  }
  CloseOwnScan(&scan);
  return relations;
}

// The number of a column by its name in the origin of a restored record. An origin that was gone when that was dumped
// stands there as the bare OID, which may be any relation's now: one without such a column is not it.
static AttrNumber NumberInOrigin(Oid* origin, const char* attribute) {
  const AttrNumber number = OidIsValid(*origin) ? get_attnum(*origin, attribute) : InvalidAttrNumber;
  if (number == InvalidAttrNumber) *origin = InvalidOid;
  return number;
}

List* ReadCopiedColumns(Oid relid) {
  List* columns = NIL;
  OwnScan scan;
  ScanKeyData key;
  ScanKeyInit(&key, kCopiedRelation, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
  if (!OpenOwnScan(&scan, "copied_column", "copied_column_relation", &key)) return NIL;
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan.scan))) {
    const TupleDesc desc = RelationGetDescr(scan.table);
    bool null;
    const char* attribute = NameStr(*DatumGetName(heap_getattr(tuple, kCopiedAttribute, desc, &null)));
    const char* origin_attribute = NameStr(*DatumGetName(heap_getattr(tuple, kCopiedOriginAttribute, desc, &null)));
    auto* column = static_cast<CopiedColumn*>(palloc(sizeof(CopiedColumn)));
    column->number = DatumGetInt16(heap_getattr(tuple, kCopiedNumber, desc, &null));
    column->origin = OidField(scan, tuple, kCopiedOrigin);
    column->origin_number = DatumGetInt16(heap_getattr(tuple, kCopiedOriginNumber, desc, &null));
    column->origin_name = TextDatumGetCString(heap_getattr(tuple, kCopiedOriginName, desc, &null));
    column->origin_attribute = pstrdup(origin_attribute);
    if (!RelationExists(column->origin)) column->origin = InvalidOid;
    // A row that was dumped and restored: numbers were those of another table, names hold.
    if (OidField(scan, tuple, kCopiedOid) != relid) {
      column->number = get_attnum(relid, attribute);
      column->origin_number = NumberInOrigin(&column->origin, origin_attribute);
    }
    columns = lappend(columns, column);
  }
  CloseOwnScan(&scan);
  return columns;
}

bool RecordsCopies() { return OidIsValid(OwnRelation("copied_column")); }

List* CopiedRelations() {
  List* relations = NIL;
  OwnScan scan;
  if (!OpenOwnScan(&scan, "copied_column", nullptr, nullptr)) return NIL;
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan.scan))) {
    // What was recorded of a dropped copy is only removed when the next one is made.
    const Oid relid = OidField(scan, tuple, kCopiedRelation);
    if (RelationExists(relid)) relations = list_append_unique_oid(relations, relid);
  }
  CloseOwnScan(&scan);
  return relations;
}

// protection_changed(): row trigger of our tables that say something of a relation.
Datum ps_protection_changed(PG_FUNCTION_ARGS) {
  if (!CALLED_AS_TRIGGER(fcinfo)) elog(ERROR, "protection_changed() is a trigger");
  const auto* trigger = reinterpret_cast<TriggerData*>(fcinfo->context);
  const TupleDesc columns = RelationGetDescr(trigger->tg_relation);
  InvalidateRow(trigger->tg_trigtuple, columns);
  if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event)) InvalidateRow(trigger->tg_newtuple, columns);
  return PointerGetDatum(nullptr);
}

// copy_restored(): row trigger before a record of a copy is inserted. One that comes out of a dump gets the numbers of
// this server while names still agree; its OIDs may be those of this server by chance. What an internal scope inserts
// is of this server, and its names may be the older ones.
Datum ps_copy_restored(PG_FUNCTION_ARGS) {
  if (!CALLED_AS_TRIGGER(fcinfo)) elog(ERROR, "copy_restored() is a trigger");
  const auto* trigger = reinterpret_cast<TriggerData*>(fcinfo->context);
  HeapTuple row = trigger->tg_trigtuple;
  const TupleDesc desc = RelationGetDescr(trigger->tg_relation);
  bool nulls[4];
  const Oid relation = DatumGetObjectId(heap_getattr(row, kCopiedRelation, desc, &nulls[0]));
  const Oid recorded = DatumGetObjectId(heap_getattr(row, kCopiedOid, desc, &nulls[1]));
  const Datum attribute = heap_getattr(row, kCopiedAttribute, desc, &nulls[2]);
  const Datum origin_attribute = heap_getattr(row, kCopiedOriginAttribute, desc, &nulls[3]);
  if (nulls[0] || nulls[1] || nulls[2] || nulls[3]) return PointerGetDatum(row);
  if (relation == recorded && InLocalUserIdChange()) return PointerGetDatum(row);
  const AttrNumber number = get_attnum(relation, NameStr(*DatumGetName(attribute)));
  if (number == InvalidAttrNumber) {
    int column[] = {kCopiedOid};
    Datum nobody[] = {ObjectIdGetDatum(InvalidOid)};
    bool null[] = {false};
    return PointerGetDatum(heap_modify_tuple_by_cols(row, desc, 1, column, nobody, null));
  }
  Oid origin = DatumGetObjectId(heap_getattr(row, kCopiedOrigin, desc, &nulls[0]));
  const AttrNumber origin_number = NumberInOrigin(&origin, NameStr(*DatumGetName(origin_attribute)));
  int columns[] = {kCopiedOid, kCopiedNumber, kCopiedOrigin, kCopiedOriginNumber};
  Datum values[] = {ObjectIdGetDatum(relation), Int16GetDatum(number), ObjectIdGetDatum(origin),
                    Int16GetDatum(origin_number)};
  bool replaced_nulls[] = {false, false, false, false};
  return PointerGetDatum(heap_modify_tuple_by_cols(row, desc, lengthof(columns), columns, values, replaced_nulls));
}

}  // namespace privacy_score
