/*
 * catalog_heirs.cpp - see catalog_heirs.hpp.
 *
 * The relations above declared ones are found by climbing from these, and kept until anything changes in the catalogs:
 * few tables have parents, so a change costs a look at each declaration, when the next statement on a table with
 * children is translated. What is kept is a list of pairs in a context of its own.
 */
#include "backend/catalog/catalog_heirs.hpp"

#include "backend/catalog/catalog_arena.hpp"
#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/catalog_relations.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/memutils.h"
}

namespace privacy_score {

namespace ps = privacy_score;

namespace {

struct Pair {
  Oid ancestor;
  Oid heir;
};

MemoryContext pairs_context = nullptr;
List* pairs = NIL;
uint64 pairs_generation = 0;

// Adds the relations above one to `ancestors`, each once.
List* AddAncestors(List* ancestors, const RelationEntry* entry) {
  check_stack_depth();
  if (entry == nullptr) return ancestors;
  for (int i = 0; i < entry->parent_count; ++i) {
    if (list_member_oid(ancestors, entry->parents[i])) continue;
    ancestors = lappend_oid(ancestors, entry->parents[i]);
    ancestors = AddAncestors(ancestors, FindRelation(entry->parents[i]));
  }
  return ancestors;
}

void ReadPairs() {
  const uint64 generation = CatalogGeneration();
  if (pairs_context != nullptr && generation == pairs_generation) return;
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "privacy_score heirs", ALLOCSET_SMALL_SIZES);
  List* found = NIL;
  ListCell* cell;
  foreach (cell, DeclaredRelations()) {
    ListCell* inner;
    foreach (inner, AddAncestors(NIL, FindRelation(lfirst_oid(cell)))) {
      MemoryContext previous = MemoryContextSwitchTo(context);
      auto* pair = static_cast<Pair*>(palloc(sizeof(Pair)));
      *pair = {lfirst_oid(inner), lfirst_oid(cell)};
      found = lappend(found, pair);
      MemoryContextSwitchTo(previous);
    }
  }
  MemoryContextSetParent(context, CacheMemoryContext);
  if (pairs_context != nullptr) MemoryContextDelete(pairs_context);
  pairs_context = context;
  pairs = found;
  // What changed meanwhile makes the next look read again.
  pairs_generation = generation;
}

// The index of the column of that name; -1 when there is none.
int ColumnNamed(const ps::Relation* relation, std::string_view name) {
  int index = 0;
  for (const ps::Column* column : relation->columns) {
    if (column->name == name) return index;
    ++index;
  }
  return -1;
}

void AddOrigin(ps::Arena* arena, ps::ArenaList<ps::Origin>* list, const ps::Relation* relation, int column) {
  auto* origin = arena->New<ps::Origin>();
  origin->relation = relation;
  origin->column = column;
  list->Add(origin);
}

// The same column of one heir, or what it is a copy of.
void AddHeirColumn(ps::Arena* arena, ps::ArenaList<ps::Origin>* list, const ps::Relation* heir, int column) {
  if (heir->origins == nullptr || heir->origins->columns[column].empty()) {
    AddOrigin(arena, list, heir, column);
    return;
  }
  for (const ps::Origin* origin : heir->origins->columns[column])
    AddOrigin(arena, list, origin->relation, origin->column);
}

}  // namespace

bool ReadsChildren(const RangeTblEntry* rte, const RelationEntry* entry) {
  return rte->inh || rte->rtekind == RTE_NAMEDTUPLESTORE || entry->kind == RELKIND_PARTITIONED_TABLE;
}

List* HeirsOf(const RelationEntry* entry) {
  List* heirs = NIL;
  if (entry == nullptr || !entry->has_children || DeclaredEntry(entry)) return NIL;
  ReadPairs();
  ListCell* cell;
  foreach (cell, pairs) {
    const auto* pair = static_cast<Pair*>(lfirst(cell));
    if (pair->ancestor != entry->relid) continue;
    const RelationEntry* heir = FindRelation(pair->heir);
    if (DeclaredEntry(heir)) heirs = lappend(heirs, const_cast<RelationEntry*>(heir));
  }
  return heirs;
}

bool HasHeirs(const RelationEntry* entry) { return HeirsOf(entry) != NIL; }

bool ProtectedTree(const RelationEntry* entry) { return ProtectedEntry(entry) || HasHeirs(entry); }

void AddHeirs(ps::Arena* arena, ps::Relation* relation, const RelationEntry* entry) {
  List* heirs = HeirsOf(entry);
  if (heirs == NIL) return;
  const int count = relation->columns.size;
  auto* own = arena->New<ps::Relation>();
  *own = *relation;
  own->origins = nullptr;
  auto* lists = static_cast<ps::ArenaList<ps::Origin>*>(
      arena->Allocate(sizeof(ps::ArenaList<ps::Origin>) * static_cast<size_t>(Max(count, 1))));
  for (int i = 0; i < count; ++i) {
    lists[i] = relation->origins == nullptr ? ps::ArenaList<ps::Origin>() : relation->origins->columns[i];
    if (lists[i].empty()) AddOrigin(arena, &lists[i], own, i);
  }
  List* named = NIL;
  ListCell* cell;
  foreach (cell, heirs) {
    const RelationEntry* root = ResolveRelation(static_cast<RelationEntry*>(lfirst(cell))->relid).root;
    if (list_member_oid(named, root->relid)) continue;
    named = lappend_oid(named, root->relid);
    const ps::Relation* heir = NewRelation(arena, root);
    int index = 0;
    for (const ps::Column* column : relation->columns) {
      const int place = ColumnNamed(heir, column->name);
      if (place >= 0) AddHeirColumn(arena, &lists[index], heir, place);
      ++index;
    }
  }
  auto* origins = arena->New<ps::Origins>();
  origins->columns = lists;
  relation->origins = origins;
}

List* RelationsWithHeirs() {
  List* relations = NIL;
  ReadPairs();
  ListCell* cell;
  foreach (cell, pairs) relations = list_append_unique_oid(relations, static_cast<Pair*>(lfirst(cell))->ancestor);
  return relations;
}

}  // namespace privacy_score
