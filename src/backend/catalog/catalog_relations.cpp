/*
 * catalog_relations.cpp - see catalog_relations.hpp.
 *
 * Only system caches and catalog scans are used, never relation_open: no lock is taken on a relation, so looking at the
 * root of a partition cannot deadlock with DDL that locks root first.
 *
 * Invalidation. The callbacks only mark entries and count; nothing is freed there, because a message can arrive in the
 * middle of reading catalogs while a caller holds entries. An entry during whose making the count moved is born marked:
 * it serves this statement and is read anew for the next. A partition names only its parent, and the way up is walked
 * by entries, so a message about any relation on the way is enough. Renaming a schema touches no relation and so marks
 * all. An entry is made in a context below the caller's, so an error leaves nothing behind, and moves to the cache's
 * own context when it is complete.
 */
#include "backend/catalog/catalog_relations.hpp"

#include "backend/catalog/catalog_arena.hpp"
#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/stand_ins.hpp"
#include "backend/server/settings.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "core/base/names.hpp"

namespace privacy_score {

namespace ps = privacy_score;

namespace {

struct Slot {
  Oid relid;
  RelationEntry* relation;
};

constexpr int kMaxPartitionDepth = 1000;

HTAB* slots = nullptr;
MemoryContext cache_context = nullptr;
RelationEntry* retired = nullptr;
bool any_stale = false;
bool callbacks_registered = false;
uint64 generation = 0;
uint64 last_serial = 0;

void MarkAll() {
  ++generation;
  if (slots == nullptr) return;
  HASH_SEQ_STATUS scan;
  hash_seq_init(&scan, slots);
  while (auto* slot = static_cast<Slot*>(hash_seq_search(&scan)))
    if (slot->relation != nullptr) slot->relation->valid = false;
  any_stale = true;
}

// Relcache callback: one relation, or all when `relid` is InvalidOid.
void OnRelationChange(Datum, Oid relid) {
  if (!OidIsValid(relid)) {
    MarkAll();
    return;
  }
  ++generation;
  if (slots == nullptr) return;
  auto* slot = static_cast<Slot*>(hash_search(slots, &relid, HASH_FIND, nullptr));
  if (slot == nullptr || slot->relation == nullptr) return;
  slot->relation->valid = false;
  any_stale = true;
}

void OnSchemaChange(Datum, int, uint32) { MarkAll(); }

// Of functions, operators, types, casts and roles nothing is kept in entries.
void OnOtherChange(Datum, int, uint32) { ++generation; }

void RegisterCallbacks() {
  if (callbacks_registered) return;
  callbacks_registered = true;
  CacheRegisterRelcacheCallback(OnRelationChange, Datum(0));
  CacheRegisterSyscacheCallback(NAMESPACEOID, OnSchemaChange, Datum(0));
  for (const int cache : {PROCOID, OPEROID, AMOPOPID, TYPEOID, CASTSOURCETARGET, AUTHOID})
    CacheRegisterSyscacheCallback(cache, OnOtherChange, Datum(0));
}

void OpenCache() {
  if (slots != nullptr) return;
  RegisterCallbacks();
  if (cache_context == nullptr)
    cache_context = AllocSetContextCreate(CacheMemoryContext, "privacy_score relations", ALLOCSET_START_SMALL_SIZES);
  HASHCTL control;
  memset(&control, 0, sizeof control);
  control.keysize = sizeof(Oid);
  control.entrysize = sizeof(Slot);
  control.hcxt = cache_context;
  slots = hash_create("privacy_score relations", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

// The schema of a relation goes with its name: temporary ones share one name and cannot be told apart.
const char* QualifyName(Oid schema, const char* name) {
  return psprintf("%s.%s", CanonicalSchema(schema), QuoteName(name));
}

// Fills columns and the map of attribute numbers.
void ReadColumns(RelationEntry* relation, ps::Arena* arena) {
  relation->live = static_cast<int*>(palloc(sizeof(int) * Max(relation->natts, 1)));
  for (int i = 0; i < relation->natts; ++i) {
    relation->live[i] = -1;
    HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relation->relid), Int16GetDatum(i + 1));
    if (!HeapTupleIsValid(tuple)) continue;
    auto* attribute = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple));
    if (!attribute->attisdropped) {
      relation->live[i] = relation->self.columns.size;
      auto* column = arena->New<ps::Column>();
      column->name = arena->Copy(QuoteName(NameStr(attribute->attname)));
      relation->self.columns.Add(column);
    }
    ReleaseSysCache(tuple);
  }
}

// A key of these attributes; null when one of them is no column that is there.
ps::Key* KeyOfAttributes(const RelationEntry* relation, const int16* attributes, int size, ps::Arena* arena) {
  auto* columns = static_cast<int*>(arena->Allocate(sizeof(int) * static_cast<std::size_t>(size)));
  for (int i = 0; i < size; ++i) {
    if (attributes[i] <= 0 || attributes[i] > relation->natts || relation->live[attributes[i] - 1] < 0) return nullptr;
    columns[i] = relation->live[attributes[i] - 1];
  }
  auto* key = arena->New<ps::Key>();
  key->columns = columns;
  key->size = size;
  return key;
}

// Adds the key of one index when the index proves its columns unique for every row.
void ReadKey(RelationEntry* relation, HeapTuple tuple, ps::Arena* arena) {
  auto* index = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
  if (!index->indisunique || !index->indimmediate || !index->indisvalid || !index->indislive) return;
  if (!heap_attisnull(tuple, Anum_pg_index_indpred, nullptr)) return;
  if (!heap_attisnull(tuple, Anum_pg_index_indexprs, nullptr)) return;
  const int size = index->indnkeyatts;
  if (ps::Key* key = KeyOfAttributes(relation, index->indkey.values, size, arena)) relation->self.keys.Add(key);
}

void ReadKeys(RelationEntry* relation, ps::Arena* arena) {
  ::Relation catalog = table_open(IndexRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation->relid));
  SysScanDesc scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, nullptr, 1, &key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) ReadKey(relation, tuple, arena);
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
}

// Adds the columns of one constraint when it is a foreign key.
void ReadReference(RelationEntry* relation, HeapTuple tuple, TupleDesc catalog, ps::Arena* arena) {
  if (reinterpret_cast<Form_pg_constraint>(GETSTRUCT(tuple))->contype != CONSTRAINT_FOREIGN) return;
  bool is_null;
  const Datum numbers = heap_getattr(tuple, Anum_pg_constraint_conkey, catalog, &is_null);
  if (is_null) return;
  const ArrayType* array = DatumGetArrayTypeP(numbers);
  const int size = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
  const auto* attributes = reinterpret_cast<const int16*>(ARR_DATA_PTR(array));
  if (ps::Key* key = KeyOfAttributes(relation, attributes, size, arena)) relation->self.references.Add(key);
}

void ReadReferences(RelationEntry* relation, ps::Arena* arena) {
  ::Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation->relid));
  SysScanDesc scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true, nullptr, 1, &key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan)))
    ReadReference(relation, tuple, RelationGetDescr(catalog), arena);
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
}

void ReadParents(RelationEntry* relation, Oid table) {
  List* parents = OidIsValid(table) ? list_make1_oid(table) : NIL;
  ::Relation catalog = table_open(InheritsRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation->relid));
  SysScanDesc scan = systable_beginscan(catalog, InheritsRelidSeqnoIndexId, true, nullptr, 1, &key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan)))
    parents = lappend_oid(parents, reinterpret_cast<Form_pg_inherits>(GETSTRUCT(tuple))->inhparent);
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  relation->parents = static_cast<Oid*>(palloc(sizeof(Oid) * static_cast<size_t>(Max(list_length(parents), 1))));
  ListCell* cell;
  foreach (cell, parents) relation->parents[relation->parent_count++] = lfirst_oid(cell);
}

// Reads a relation from the catalogs into the current context; null when it does not exist.
RelationEntry* ReadCatalogRelation(Oid relid) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
  if (!HeapTupleIsValid(tuple)) return nullptr;
  BackendArena arena(CurrentMemoryContext);
  auto* relation = static_cast<RelationEntry*>(palloc0(sizeof(RelationEntry)));
  auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  relation->relid = relid;
  relation->valid = true;
  relation->serial = ++last_serial;
  relation->owner = form->relowner;
  relation->kind = form->relkind;
  relation->row_security = form->relrowsecurity;
  relation->has_children = form->relhassubclass;
  relation->natts = form->relnatts;
  relation->self = ps::Relation();
  relation->self.name = arena.Copy(QualifyName(form->relnamespace, NameStr(form->relname)));
  relation->self.catalog = IsCatalogSchema(form->relnamespace);
  relation->self.temporary = isAnyTempNamespace(form->relnamespace);
  const char* name = pstrdup(NameStr(form->relname));
  const Oid schema = form->relnamespace;
  relation->ours = form->relnamespace == get_namespace_oid("privacy_score", true);
  const bool partition = form->relispartition;
  const bool indexed = form->relhasindex;
  ReleaseSysCache(tuple);
  ReadColumns(relation, &arena);
  if (indexed) ReadKeys(relation, &arena);
  if (relid < FirstNormalObjectId) return relation;
  ReadReferences(relation, &arena);
  // A shard of a partition is of the partition's tree of tables, whose declarations hold, rather than of its own.
  const StandIn shard = FindStandIn(name, schema);
  relation->named_as_shard = shard.named && !OidIsValid(shard.table);
  relation->read_at = generation;
  ReadParents(relation, shard.table == relid ? InvalidOid : shard.table);
  if ((partition || OidIsValid(shard.table)) && relation->parent_count > 0) relation->parent = relation->parents[0];
  relation->declaration = ReadDeclaration(relid, pnstrdup(relation->self.name.data(), relation->self.name.size()));
  ReadLineage(relation);
  // What somebody has copied into a relation of that name is no shard.
  if (OidIsValid(shard.table) && relation->origin_count > 0)
    relation->parent = partition && relation->parent_count > 1 ? relation->parents[1] : InvalidOid;
  return relation;
}

// Matches the columns of a partition with those of its root by name.
const int* RootColumns(RelationEntry* self, const RelationEntry* root) {
  if (self->root_columns != nullptr && self->root_serial == root->serial) return self->root_columns;
  auto* map = static_cast<int*>(MemoryContextAlloc(self->context, sizeof(int) * Max(self->natts, 1)));
  for (int i = 0; i < self->natts; ++i) {
    map[i] = -1;
    const ps::Column* column = self->self.columns.At(self->live[i]);
    if (column == nullptr) continue;
    int index = 0;
    for (const ps::Column* candidate : root->self.columns) {
      if (candidate->name == column->name) map[i] = index;
      ++index;
    }
  }
  self->root_columns = map;
  self->root_serial = root->serial;
  return map;
}

RelationEntry* FindEntry(Oid relid) {
  OpenCache();
  auto* slot = static_cast<Slot*>(hash_search(slots, &relid, HASH_FIND, nullptr));
  if (slot != nullptr && slot->relation != nullptr && slot->relation->valid) {
    // The server tells of a new shard that something about its table has changed.
    const bool may_be_shard = slot->relation->named_as_shard && slot->relation->read_at != generation;
    if (!may_be_shard && LineageIsCurrent(slot->relation)) return slot->relation;
    slot->relation->valid = false;
    any_stale = true;
  }

  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "privacy_score relation", ALLOCSET_SMALL_SIZES);
  MemoryContext previous = MemoryContextSwitchTo(context);
  const uint64 before = generation;
  RelationEntry* relation = ReadCatalogRelation(relid);
  MemoryContextSwitchTo(previous);
  if (relation == nullptr) {
    MemoryContextDelete(context);
    return nullptr;
  }
  relation->context = context;
  bool found;
  slot = static_cast<Slot*>(hash_search(slots, &relid, HASH_ENTER, &found));
  if (!found) slot->relation = nullptr;
  if (slot->relation != nullptr) {
    slot->relation->next_retired = retired;
    retired = slot->relation;
    any_stale = true;
  }
  MemoryContextSetParent(context, cache_context);
  slot->relation = relation;
  if (generation != before) {
    relation->valid = false;
    any_stale = true;
  }
  return relation;
}

bool DeclaredItself(const RelationEntry* entry) {
  const Declaration& declaration = entry->declaration;
  return declaration.declared || (OidIsValid(declaration.rival) && FindEntry(declaration.rival) == nullptr);
}

}  // namespace

const RelationEntry* FindRelation(Oid relid) { return FindEntry(relid); }

ResolvedRelation ResolveRelation(Oid relid) {
  RelationEntry* self = FindEntry(relid);
  if (self == nullptr) return {nullptr, nullptr, nullptr};
  const RelationEntry* root = self;
  const RelationEntry* declared = DeclaredItself(self) ? self : nullptr;
  for (int depth = 0; OidIsValid(root->parent) && depth < kMaxPartitionDepth; ++depth) {
    const RelationEntry* parent = FindEntry(root->parent);
    if (parent == nullptr) break;
    root = parent;
    if (DeclaredItself(root)) declared = root;
  }
  if (declared != nullptr) root = declared;
  return {self, root, root == self ? self->live : RootColumns(self, root)};
}

bool DeclaredEntry(const RelationEntry* entry) {
  if (entry == nullptr) return false;
  check_stack_depth();
  if (DeclaredItself(entry)) return true;
  for (int i = 0; i < entry->parent_count; ++i)
    if (DeclaredEntry(FindEntry(entry->parents[i]))) return true;
  return false;
}

bool ProtectedEntry(const RelationEntry* entry) {
  if (entry == nullptr) return false;
  if (DeclaredEntry(entry) || CopiesProtected(entry)) return true;
  for (int i = 0; i < entry->parent_count; ++i)
    if (CopiesProtected(FindEntry(entry->parents[i]))) return true;
  return false;
}

void ForgetStaleRelations() {
  if (!any_stale) return;
  any_stale = false;
  while (retired != nullptr) {
    RelationEntry* next = retired->next_retired;
    MemoryContextDelete(retired->context);
    retired = next;
  }
  HASH_SEQ_STATUS scan;
  hash_seq_init(&scan, slots);
  while (auto* slot = static_cast<Slot*>(hash_seq_search(&scan))) {
    if (slot->relation != nullptr && slot->relation->valid) continue;
    if (slot->relation != nullptr) MemoryContextDelete(slot->relation->context);
    hash_search(slots, &slot->relid, HASH_REMOVE, nullptr);
  }
}

uint64 CatalogGeneration() {
  RegisterCallbacks();
  return generation;
}

namespace {

// What `write` writes while names are quoted only where they must be.
template <typename Write>
const char* WithFewestQuotes(Write write) {
  if (!quote_all_identifiers) return write();
  const char* volatile written = nullptr;
  quote_all_identifiers = false;
  PG_TRY();
  { written = write(); }
  PG_FINALLY();
  { quote_all_identifiers = true; }
  PG_END_TRY();
  return written;
}

}  // namespace

const char* QuoteName(const char* name) {
  if (privacy_score::IsBareName(name)) return name;
  StringInfoData quoted;
  initStringInfo(&quoted);
  appendStringInfoChar(&quoted, '"');
  for (const char* at = name; *at != '\0'; ++at) {
    if (*at == '"') appendStringInfoChar(&quoted, '"');
    appendStringInfoChar(&quoted, *at);
  }
  appendStringInfoChar(&quoted, '"');
  return quoted.data;
}

const char* CanonicalType(Oid type) {
  return WithFewestQuotes([=]() -> const char* { return format_type_be_qualified(type); });
}

const char* CanonicalSchema(Oid schema) {
  if (isAnyTempNamespace(schema)) return "pg_temp";
  const char* name = get_namespace_name(schema);
  return name == nullptr ? "" : QuoteName(name);
}

const char* CanonicalFunction(Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return "";
  auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  const char* name = form->pronamespace == PG_CATALOG_NAMESPACE
                         ? pstrdup(QuoteName(NameStr(form->proname)))
                         : QualifyName(form->pronamespace, NameStr(form->proname));
  ReleaseSysCache(tuple);
  return name;
}

privacy_score::Relation RelationFor(const RelationEntry* entry, Oid role) {
  privacy_score::Relation relation = entry->self;
  relation.own = entry->owner == role;
  relation.id = entry->relid;
  relation.catalog = entry->ours || (entry->self.catalog && ps_settings.ignore_catalogs);
  return relation;
}

bool IsCatalogSchema(Oid schema) {
  if (schema == PG_CATALOG_NAMESPACE || schema == PG_TOAST_NAMESPACE) return true;
  const char* name = get_namespace_name(schema);
  if (name == nullptr) return false;
  return strcmp(name, "information_schema") == 0 || strcmp(name, "privacy_score") == 0 ||
         strncmp(name, "pg_toast", strlen("pg_toast")) == 0;
}

}  // namespace privacy_score
