/*
 * described_relations.cpp - see described_relations.hpp.
 */
#include "backend/query/described_relations.hpp"

#include "backend/catalog/catalog_arena.hpp"
#include "backend/catalog/catalog_heirs.hpp"
#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/catalog_source.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/wire.hpp"
#include "sqlparse/catalog_sections.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace privacy_score {

namespace ps = privacy_score;

namespace {

// The OIDs of all rows of pg_class that one key finds.
List* AddClasses(List* relations, Oid index, ScanKey key) {
  ::Relation catalog = table_open(RelationRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, index, OidIsValid(index), nullptr, 1, key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan)))
    relations = lappend_oid(relations, reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->oid);
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return relations;
}

// Indexes of a table that have statistics of their own.
List* AddExpressionIndexes(List* relations, Oid table) {
  ::Relation catalog = table_open(IndexRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
  SysScanDesc scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, nullptr, 1, &key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan)))
    if (!heap_attisnull(tuple, Anum_pg_index_indexprs, nullptr))
      relations = lappend_oid(relations, reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple))->indexrelid);
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return relations;
}

void AppendTextField(StringInfo rows, std::string_view text) {
  int length = 0;
  const char* utf8 = ToUtf8(text.data(), static_cast<int>(text.size()), &length);
  AppendField(rows, utf8, length);
}

// A column of a candidate as its statistics name it, and what it shows.
struct Shown {
  const char* schema;
  const char* table;
  Oid relation;
  AttrNumber number;
  const char* readable;
};

uint64 AppendShown(StringInfo rows, const Shown* shown, const ps::ArenaList<ps::Origin>* origins) {
  const char* column = get_attname(shown->relation, shown->number, true);
  if (column == nullptr) return 0;
  uint64 count = 0;
  for (const ps::Origin* origin : *origins) {
    AppendTextField(rows, shown->schema);
    AppendTextField(rows, shown->table);
    AppendTextField(rows, psprintf("%u", shown->relation));
    AppendTextField(rows, column);
    AppendTextField(rows, psprintf("%d", shown->number));
    AppendTextField(rows, shown->readable);
    AppendTextField(rows, origin->relation->name);
    AppendTextField(rows, origin->relation->columns.At(origin->column)->name);
    ++count;
  }
  return count;
}

// Appends what one candidate describes, and returns how many rows that are. An index shows all of its table's columns.
uint64 AppendCandidate(StringInfo rows, Oid relid, Oid role) {
  Shown shown = {nullptr, get_rel_name(relid), relid, 0, "t"};
  shown.schema = shown.table == nullptr ? nullptr : get_namespace_name(get_rel_namespace(relid));
  if (shown.schema == nullptr) return 0;
  const char kind = get_rel_relkind(relid);
  const bool is_index = kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX;
  const Oid table = is_index ? IndexGetRelation(relid, true) : relid;
  const ResolvedRelation resolved = OidIsValid(table) ? ResolveRelation(table) : ResolvedRelation();
  if (resolved.self == nullptr || !(is_index ? ProtectedEntry(resolved.self) : ProtectedTree(resolved.self))) return 0;
  BackendArena arena(CurrentMemoryContext);
  ps::Relation* relation = NewRelation(&arena, resolved.root);
  if (!is_index) AddHeirs(&arena, relation, resolved.self);
  const bool declared = DeclaredEntry(resolved.self);
  uint64 count = 0;
  for (int i = 0; i < resolved.self->natts; ++i) {
    if (resolved.self->live[i] < 0) continue;
    ps::ArenaList<ps::Origin> origins;
    AddDescribed(&arena, &origins, relation, resolved.columns[i], declared);
    const auto first = static_cast<AttrNumber>(is_index ? 1 : i + 1);
    const auto last = static_cast<AttrNumber>(is_index ? INDEX_MAX_KEYS : i + 1);
    for (shown.number = first; shown.number <= last; ++shown.number) {
      const bool readable =
          !OidIsValid(role) || RoleMaySelect(role, relid, is_index ? InvalidAttrNumber : shown.number);
      shown.readable = readable ? "t" : "f";
      count += AppendShown(rows, &shown, &origins);
    }
  }
  return count;
}

}  // namespace

List* RelationsNamed(List* names) {
  List* relations = NIL;
  ListCell* cell;
  foreach (cell, names) {
    NameData name;
    namestrcpy(&name, static_cast<char*>(lfirst(cell)));
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_class_relname, BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(&name));
    relations = AddClasses(relations, ClassNameNspIndexId, &key);
  }
  return relations;
}

List* DistinctRelations(List* relations) {
  list_sort(relations, list_oid_cmp);
  list_deduplicate_oid(relations);
  return relations;
}

List* AllCandidates() {
  List* relations = CopiedRelations();
  ListCell* cell;
  foreach (cell, DeclaredRelations())
    relations = list_concat(relations, find_all_inheritors(lfirst_oid(cell), NoLock, nullptr));
  relations = list_concat(relations, RelationsWithHeirs());
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_class_relkind, BTEqualStrategyNumber, F_CHAREQ, CharGetDatum(RELKIND_MATVIEW));
  relations = DistinctRelations(AddClasses(relations, InvalidOid, &key));
  List* tables = list_copy(relations);
  foreach (cell, tables) relations = AddExpressionIndexes(relations, lfirst_oid(cell));
  return relations;
}

void AddDescribed(ps::Arena* arena, ps::ArenaList<ps::Origin>* list, const ps::Relation* relation, int column,
                  bool declared) {
  if (column < 0) return;
  const ps::ArenaList<ps::Origin>* origins =
      relation->origins == nullptr ? nullptr : &relation->origins->columns[column];
  if (origins != nullptr && !origins->empty()) {
    for (const ps::Origin* from : *origins) {
      auto* origin = arena->New<ps::Origin>();
      origin->relation = from->relation;
      origin->column = from->column;
      list->Add(origin);
    }
  } else if (declared) {
    auto* origin = arena->New<ps::Origin>();
    origin->relation = relation;
    origin->column = column;
    list->Add(origin);
  }
}

void AppendDescribed(StringInfo wire, Oid role) {
  StringInfoData rows;
  initStringInfo(&rows);
  uint64 count = 0;
  ListCell* cell;
  foreach (cell, AllCandidates()) {
    CHECK_FOR_INTERRUPTS();
    count += AppendCandidate(&rows, lfirst_oid(cell), role);
  }
  AppendSectionHead(wire, DescribedSection::kColumns, count);
  appendBinaryStringInfo(wire, rows.data, rows.len);
  pfree(rows.data);
}

}  // namespace privacy_score
