/*
 * catalog_lineage.cpp - see catalog_lineage.hpp.
 *
 * An entry keeps its origins by OID and attribute number, so that they are named as they are called now, and by the
 * names of the moment of copying for those that are gone. Nothing here asks whether a relation is protected while an
 * entry is being read: a view may lead back to where the question came from.
 */
#include "backend/catalog/catalog_lineage.hpp"

#include "backend/catalog/catalog_arena.hpp"
#include "backend/catalog/catalog_heirs.hpp"
#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/security_labels.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/label_names.hpp"
#include "core/statement/flow.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_rewrite.h"
#include "miscadmin.h"
#include "nodes/readfuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

#include <vector>

namespace privacy_score {

namespace ps = privacy_score;

DefinitionTranslator ps_translate_definition = nullptr;

namespace {

using Outputs = std::vector<std::vector<ps::BaseColumn>>;

bool SameOrigin(const CopiedOrigin& a, const CopiedOrigin& b) {
  return a.column == b.column && a.relid == b.relid && a.number == b.number &&
         (OidIsValid(a.relid) || (a.relation_name == b.relation_name && a.column_name == b.column_name));
}

List* AddCopiedOrigin(List* origins, const CopiedOrigin& origin) {
  ListCell* cell;
  foreach (cell, origins)
    if (SameOrigin(*static_cast<CopiedOrigin*>(lfirst(cell)), origin)) return origins;
  auto* copy = static_cast<CopiedOrigin*>(palloc(sizeof(CopiedOrigin)));
  *copy = origin;
  return lappend(origins, copy);
}

// The attribute number behind a column of a relation's entry.
AttrNumber NumberOfColumn(const RelationEntry* entry, int column) {
  for (int i = 0; i < entry->natts; ++i)
    if (entry->live[i] == column) return static_cast<AttrNumber>(i + 1);
  return InvalidAttrNumber;
}

// What core has found, as origins in the current context.
List* TakeOrigins(const Outputs& outputs, bool protected_only) {
  List* origins = NIL;
  BackendArena arena(CurrentMemoryContext);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const ps::BaseColumn& base : outputs[i]) {
      const RelationEntry* entry = OidIsValid(base.relation->id) ? FindRelation(base.relation->id) : nullptr;
      if (entry != nullptr && protected_only && !DeclaredEntry(entry)) continue;
      CopiedOrigin origin = {static_cast<int>(i),
                             false,
                             InvalidOid,
                             InvalidAttrNumber,
                             arena.Copy(base.relation->name),
                             arena.Copy(base.relation->columns.At(base.column)->name)};
      if (entry != nullptr) {
        origin.relid = entry->relid;
        origin.number = NumberOfColumn(entry, base.column);
      }
      origins = AddCopiedOrigin(origins, origin);
    }
  }
  return origins;
}

// The recorded origins of a copy.
List* RecordedOrigins(const RelationEntry* entry) {
  List* origins = NIL;
  ListCell* cell;
  foreach (cell, ReadCopiedColumns(entry->relid)) {
    const auto* copied = static_cast<CopiedColumn*>(lfirst(cell));
    if (copied->number <= 0 || copied->number > entry->natts || entry->live[copied->number - 1] < 0) continue;
    origins = AddCopiedOrigin(origins, {entry->live[copied->number - 1], false, copied->origin, copied->origin_number,
                                        copied->origin_name, QuoteName(copied->origin_attribute)});
  }
  return origins;
}

bool IsPublished(Oid relid, AttrNumber column) {
  const char* label = ColumnLabel(relid, column);
  return label != nullptr && strcmp(label, kPublicLabel) == 0;
}

void KeepViews(RelationEntry* entry, List* views) {
  const auto count = static_cast<size_t>(Max(list_length(views), 1));
  entry->views = static_cast<Oid*>(palloc(sizeof(Oid) * count));
  entry->view_serials = static_cast<uint64*>(palloc(sizeof(uint64) * count));
  ListCell* cell;
  foreach (cell, views) {
    const RelationEntry* view =
        get_rel_relkind(lfirst_oid(cell)) == RELKIND_VIEW ? FindRelation(lfirst_oid(cell)) : nullptr;
    if (view == nullptr) continue;
    entry->views[entry->view_count] = lfirst_oid(cell);
    entry->view_serials[entry->view_count++] = view->serial;
  }
}

// Whether an origin still counts. One that is gone cannot be asked and does.
bool StillCounts(const CopiedOrigin& origin) {
  if (origin.published) return false;
  const RelationEntry* entry = OidIsValid(origin.relid) ? FindRelation(origin.relid) : nullptr;
  return entry == nullptr || DeclaredEntry(entry) || HasHeirs(entry);
}

// The owner of a copy may say how it is to be read where that owner also owns what it was made from.
bool StandsForItself(const RelationEntry* entry) {
  return entry->origin_count == 0 ||
         (DeclaredEntry(entry) && (superuser_arg(entry->owner) || OwnsOrigins(entry->owner, entry)));
}

// The relation and column that an origin is now, with `heirs` the columns of these as its origins; one that is gone is
// made up from its name.
void Resolve(ps::Arena* arena, const CopiedOrigin& origin, bool own, bool heirs, const ps::Relation** relation,
             int* column) {
  const ResolvedRelation resolved = OidIsValid(origin.relid) ? ResolveRelation(origin.relid) : ResolvedRelation();
  *column = -1;
  if (resolved.self != nullptr && origin.number > 0 && origin.number <= resolved.self->natts)
    *column = resolved.columns[origin.number - 1];
  auto* made = arena->New<ps::Relation>();
  if (*column >= 0) {
    *made = RelationFor(resolved.root, GetUserId());
    made->own = own;
    if (heirs) AddHeirs(arena, made, resolved.self);
  } else {
    made->name = origin.relation_name;
    auto* name = arena->New<ps::Column>();
    name->name = origin.column_name;
    made->columns.Add(name);
    *column = 0;
  }
  *relation = made;
}

// Adds one origin of a column. One relation is one object, so that core sees which columns belong together.
void AddResolved(ps::Arena* arena, ps::ArenaList<ps::Origin>* list, const ps::Relation* relation, int column,
                 List** made) {
  ListCell* cell;
  foreach (cell, *made) {
    const auto* known = static_cast<const ps::Relation*>(lfirst(cell));
    if (OidIsValid(known->id) && known->id == relation->id) {
      relation = known;
      break;
    }
  }
  *made = lappend(*made, const_cast<ps::Relation*>(relation));
  auto* origin = arena->New<ps::Origin>();
  origin->relation = relation;
  origin->column = column;
  list->Add(origin);
}

}  // namespace

void ReadLineage(RelationEntry* entry) {
  if (entry->kind != RELKIND_RELATION && entry->kind != RELKIND_PARTITIONED_TABLE && entry->kind != RELKIND_MATVIEW)
    return;
  List* origins = RecordedOrigins(entry);
  if (entry->kind == RELKIND_MATVIEW) {
    List* views = NIL;
    ListCell* cell;
    foreach (cell, DefinitionOrigins(entry->relid, &views))
      origins = AddCopiedOrigin(origins, *static_cast<CopiedOrigin*>(lfirst(cell)));
    KeepViews(entry, views);
  }
  entry->origins =
      static_cast<CopiedOrigin*>(palloc(sizeof(CopiedOrigin) * static_cast<size_t>(Max(list_length(origins), 1))));
  ListCell* cell;
  foreach (cell, origins) {
    CopiedOrigin* origin = &entry->origins[entry->origin_count++];
    *origin = *static_cast<CopiedOrigin*>(lfirst(cell));
    origin->published = IsPublished(entry->relid, NumberOfColumn(entry, origin->column));
  }
}

bool LineageIsCurrent(const RelationEntry* entry) {
  for (int i = 0; i < entry->view_count; ++i) {
    const RelationEntry* view = FindRelation(entry->views[i]);
    if (view == nullptr || view->serial != entry->view_serials[i]) return false;
  }
  return true;
}

bool OwnsOrigins(Oid role, const RelationEntry* entry) {
  for (int i = 0; i < entry->origin_count; ++i) {
    const RelationEntry* origin = FindRelation(entry->origins[i].relid);
    if (origin == nullptr || origin->owner != role) return false;
  }
  return true;
}

bool CopiesProtected(const RelationEntry* entry) {
  if (entry == nullptr) return false;
  for (int i = 0; i < entry->origin_count; ++i)
    if (StillCounts(entry->origins[i])) return true;
  return false;
}

ps::Relation* NewRelation(ps::Arena* arena, const RelationEntry* entry, bool protected_only) {
  auto* relation = arena->New<ps::Relation>();
  *relation = RelationFor(entry, GetUserId());
  if (entry->origin_count == 0 || (protected_only && StandsForItself(entry))) return relation;
  const int count = entry->self.columns.size;
  auto* lists = static_cast<ps::ArenaList<ps::Origin>*>(
      arena->Allocate(sizeof(ps::ArenaList<ps::Origin>) * static_cast<size_t>(count)));
  for (int i = 0; i < count; ++i) lists[i] = ps::ArenaList<ps::Origin>();
  List* made = NIL;
  bool any = false;
  for (int i = 0; i < entry->origin_count; ++i) {
    const CopiedOrigin& from = entry->origins[i];
    if (protected_only ? !StillCounts(from) : from.published) continue;
    const ps::Relation* origin;
    int column;
    Resolve(arena, from, relation->own, protected_only, &origin, &column);
    if (origin->origins == nullptr)
      AddResolved(arena, &lists[from.column], origin, column, &made);
    else
      for (const ps::Origin* heir : origin->origins->columns[column])
        AddResolved(arena, &lists[from.column], heir->relation, heir->column, &made);
    any = true;
  }
  if (!any) return relation;
  auto* origins = arena->New<ps::Origins>();
  origins->columns = lists;
  relation->origins = origins;
  return relation;
}

List* OutputOrigins(const ps::Statement& statement) {
  CoreHolder<Outputs>* outputs = NewCoreHolder<Outputs>(CurrentMemoryContext);
  CallCoreOrRaise([&] { outputs->object = new Outputs(ps::FollowOutputs(statement)); });
  return TakeOrigins(*outputs->object, true);
}

::Query* StoredQuery(Oid relid) {
  HeapTuple tuple = SearchSysCache2(RULERELNAME, ObjectIdGetDatum(relid), CStringGetDatum("_RETURN"));
  if (!HeapTupleIsValid(tuple)) return nullptr;
  bool null;
  const Datum action = SysCacheGetAttr(RULERELNAME, tuple, Anum_pg_rewrite_ev_action, &null);
  auto* actions = null ? NIL : static_cast<List*>(stringToNode(TextDatumGetCString(action)));
  ReleaseSysCache(tuple);
  return actions == NIL ? nullptr : AsQuery(linitial(actions));
}

List* DefinitionOrigins(Oid relid, List** views) {
  *views = NIL;
  ::Query* query = StoredQuery(relid);
  if (query == nullptr) return NIL;
  MemoryContext result = CurrentMemoryContext;
  MemoryContext scratch = AllocSetContextCreate(result, "privacy_score definition", ALLOCSET_SMALL_SIZES);
  MemoryContextSwitchTo(scratch);
  BackendArena arena(scratch);
  List* met = NIL;
  ps::Statement statement;
  statement.query = ps_translate_definition(&arena, query, relid, &met);
  CoreHolder<Outputs>* outputs = NewCoreHolder<Outputs>(scratch);
  CallCoreOrRaise([&] { outputs->object = new Outputs(ps::FollowOutputs(statement)); });
  MemoryContextSwitchTo(result);
  List* origins = TakeOrigins(*outputs->object, false);
  *views = list_copy(met);
  MemoryContextDelete(scratch);
  return origins;
}

List* RefreshedOrigins(Oid relid) {
  ForgetStaleRelations();
  List* views;
  List* result = NIL;
  ListCell* cell;
  foreach (cell, DefinitionOrigins(relid, &views)) {
    auto* origin = static_cast<CopiedOrigin*>(lfirst(cell));
    const RelationEntry* entry = OidIsValid(origin->relid) ? FindRelation(origin->relid) : nullptr;
    if (entry == nullptr || DeclaredEntry(entry)) result = lappend(result, origin);
    ListCell* inner;
    foreach (inner, HeirsOf(entry)) {
      auto* heir = static_cast<CopiedOrigin*>(palloc(sizeof(CopiedOrigin)));
      *heir = *origin;
      heir->relid = static_cast<RelationEntry*>(lfirst(inner))->relid;
      heir->number = get_attnum(heir->relid, get_attname(entry->relid, origin->number, false));
      if (heir->number != InvalidAttrNumber) result = lappend(result, heir);
    }
  }
  return result;
}

void RequireOrigins(Oid relid, AttrNumber column) {
  ForgetStaleRelations();
  const RelationEntry* entry = FindRelation(relid);
  if (entry == nullptr || superuser()) return;
  for (int i = 0; i < entry->origin_count; ++i) {
    CopiedOrigin origin = entry->origins[i];
    origin.published = false;
    if (NumberOfColumn(entry, origin.column) != column || !StillCounts(origin)) continue;
    if (OidIsValid(origin.relid) && FindRelation(origin.relid) != nullptr && OwnsRelation(origin.relid, GetUserId()))
      continue;
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("permission denied to publish column \"%s\", a copy of protected data",
                           get_attname(relid, column, false)),
                    errhint("Only the owner of the relation that it was copied from can label it public.")));
  }
}

}  // namespace privacy_score
