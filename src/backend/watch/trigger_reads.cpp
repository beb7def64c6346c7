/*
 * trigger_reads.cpp - see trigger_reads.hpp.
 *
 * What was found of a relation is kept until anything changes in the catalogs: also the owner of a function or who is a
 * superuser. Most relations hand nothing on, so a statement that writes costs one look-up in a hash table.
 */
#include "backend/watch/trigger_reads.hpp"

#include "backend/catalog/catalog_heirs.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/others_code.hpp"
#include "backend/query/abstracting.hpp"
#include "backend/server/compat.hpp"
#include "backend/watch/live.hpp"
#include "backend/watch/row_code.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/readfuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace privacy_score {

namespace {

constexpr int16 kAnyEvent = TRIGGER_TYPE_INSERT | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_UPDATE;

// A relation that hands rows on, of a partition its root, and the events (bits of tgtype) at which it does.
struct HandingTrigger {
  Oid relid;
  int16 events;
};

struct KnownKey {
  Oid relid;
  bool tree;  // with its partitions and children
};

struct KnownTriggers {
  KnownKey key;
  bool complete;
  List* handing;  // of HandingTrigger*
};

MemoryContext known_context = nullptr;
HTAB* known = nullptr;
uint64 known_generation = 0;

// Whether a trigger fires as sessions are replicas or not.
bool IsEnabled(const FormData_pg_trigger* trigger) {
  switch (trigger->tgenabled) {
    case TRIGGER_FIRES_ALWAYS:
      return true;
    case TRIGGER_FIRES_ON_ORIGIN:
      return SessionReplicationRole != SESSION_REPLICATION_ROLE_REPLICA;
    case TRIGGER_FIRES_ON_REPLICA:
      return SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
    default:
      return false;
  }
}

// The events for which the triggers of `relation` hand rows to code of which who has declared `declared` does not
// answer. `instead`: those of a view that run instead of the statement, else the others.
int16 EventsHanded(Oid relation, const RelationEntry* declared, bool instead) {
  int16 events = 0;
  ::Relation catalog = table_open(TriggerRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
  SysScanDesc scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, nullptr, 1, &key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
    const auto* trigger = reinterpret_cast<const FormData_pg_trigger*>(GETSTRUCT(tuple));
    const bool gets_rows = TRIGGER_FOR_ROW(trigger->tgtype) ||
                           !heap_attisnull(tuple, Anum_pg_trigger_tgoldtable, nullptr) ||
                           !heap_attisnull(tuple, Anum_pg_trigger_tgnewtable, nullptr);
    if (!gets_rows || TRIGGER_FOR_INSTEAD(trigger->tgtype) != instead || !IsEnabled(trigger)) continue;
    bool null;
    const Datum when = heap_getattr(tuple, Anum_pg_trigger_tgqual, RelationGetDescr(catalog), &null);
    if (IsOthersFunction(trigger->tgfoid, declared) ||
        (!null && RunsOthersCode(static_cast<Node*>(stringToNode(TextDatumGetCString(when))), declared)))
      events |= trigger->tgtype & kAnyEvent;
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return events;
}

bool HasTriggers(Oid relation) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return false;
  const bool has = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relhastriggers;
  ReleaseSysCache(tuple);
  return has;
}

// What hands rows on among a relation and, of a tree, what is below it.
List* FindHanding(const KnownKey& key) {
  List* handing = NIL;
  ListCell* cell;
  foreach (cell, key.tree ? find_all_inheritors(key.relid, NoLock, nullptr) : list_make1_oid(key.relid)) {
    const Oid relid = lfirst_oid(cell);
    const bool fires = HasTriggers(relid);
    const bool evaluates = HasRowCode(relid);
    const RelationEntry* entry = fires || evaluates ? FindRelation(relid) : nullptr;
    if (!ProtectedEntry(entry)) continue;
    int16 events = fires ? EventsHanded(relid, entry, false) : 0;
    if (evaluates && RowCodeIsOthers(relid, entry)) events |= TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE;
    if (events == 0) continue;
    auto* one = static_cast<HandingTrigger*>(MemoryContextAlloc(known_context, sizeof(HandingTrigger)));
    *one = {ResolveRelation(relid).root->relid, events};
    handing = lappend(handing, one);
  }
  return handing;
}

void OpenKnown() {
  if (known != nullptr && known_generation == CatalogGeneration()) return;
  known = nullptr;
  if (known_context != nullptr) MemoryContextDelete(known_context);
  known_context = nullptr;
  known_context = AllocSetContextCreate(CacheMemoryContext, "privacy_score triggers", ALLOCSET_SMALL_SIZES);
  known_generation = CatalogGeneration();
  HASHCTL control;
  memset(&control, 0, sizeof control);
  control.keysize = sizeof(KnownKey);
  control.entrysize = sizeof(KnownTriggers);
  control.hcxt = known_context;
  known = hash_create("privacy_score triggers", 32, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

List* HandingOf(Oid relid, bool tree) {
  OpenKnown();
  KnownKey key;
  memset(&key, 0, sizeof key);
  key.relid = relid;
  key.tree = tree;
  bool found;
  auto* entry = static_cast<KnownTriggers*>(hash_search(known, &key, HASH_ENTER, &found));
  if (found && entry->complete) return entry->handing;
  entry->complete = false;
  ForgetStaleRelations();
  List* handing = FindHanding(key);
  MemoryContext previous = MemoryContextSwitchTo(known_context);
  entry->handing = list_copy(handing);
  MemoryContextSwitchTo(previous);
  entry->complete = true;
  return entry->handing;
}

// The events of a statement on one relation by which rows that were there reach triggers. An UPDATE of a partitioned
// table may delete a row here and insert it there.
int16 EventsOf(const ModifyTable* modify, bool partitioned) {
  switch (modify->operation) {
    case CMD_INSERT:
      return modify->onConflictAction == ONCONFLICT_UPDATE ? TRIGGER_TYPE_UPDATE : 0;
    case CMD_DELETE:
      return TRIGGER_TYPE_DELETE;
    case CMD_UPDATE:
      return partitioned ? kAnyEvent : TRIGGER_TYPE_UPDATE;
    default:
      return partitioned ? kAnyEvent : TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE;
  }
}

// What running a plan hands on.
struct Handed {
  List* relations;  // OIDs
  bool by_view;     // what a view shows
};

// A trigger that runs instead of a statement on a view is handed the view's rows.
bool ViewHands(const PlannedStmt* plan, Oid view, int16 events) {
  if (!HasTriggers(view)) return false;
  ForgetStaleRelations();
  ListCell* cell;
  foreach (cell, plan->rtable) {
    const auto* rte = lfirst_node(RangeTblEntry, cell);
    if (rte->rtekind != RTE_RELATION) continue;
    const RelationEntry* entry = FindRelation(rte->relid);
    if (entry == nullptr || entry->kind == RELKIND_VIEW) continue;
    if (ProtectedEntry(entry) && (EventsHanded(view, entry, true) & events) != 0) return true;
    ListCell* inner;
    foreach (inner, HeirsOf(entry))
      if ((EventsHanded(view, static_cast<RelationEntry*>(lfirst(inner)), true) & events) != 0) return true;
  }
  return false;
}

void AddHanded(Handed* handed, const PlannedStmt* plan, int index, bool tree, const ModifyTable* modify) {
  const Oid relid = rt_fetch(index, plan->rtable)->relid;
  if (relid < FirstNormalObjectId) return;
  const char kind = get_rel_relkind(relid);
  const bool partitioned = kind == RELKIND_PARTITIONED_TABLE;
  const int16 events = EventsOf(modify, partitioned);
  if (events == 0) return;
  if (kind == RELKIND_VIEW) {
    handed->by_view = handed->by_view || ViewHands(plan, relid, events);
    return;
  }
  ListCell* cell;
  foreach (cell, HandingOf(relid, tree || partitioned)) {
    const auto* handing = static_cast<HandingTrigger*>(lfirst(cell));
    if ((handing->events & events) != 0) handed->relations = list_append_unique_oid(handed->relations, handing->relid);
  }
}

void AddHandedBy(Handed* handed, const PlannedStmt* plan, const Plan* node) {
  if (node == nullptr || !IsA(node, ModifyTable)) return;
  const auto* modify = reinterpret_cast<const ModifyTable*>(node);
  if (modify->rootRelation != 0) {
    AddHanded(handed, plan, static_cast<int>(modify->rootRelation), true, modify);
    return;
  }
  ListCell* cell;
  foreach (cell, modify->resultRelations) AddHanded(handed, plan, lfirst_int(cell), false, modify);
}

}  // namespace

void RecordTriggerReads(const PlannedStmt* plan, RoleClass role, bool judged, bool counts) {
  if (!judged && !counts) return;
  Handed handed = {NIL, false};
  AddHandedBy(&handed, plan, plan->planTree);
  ListCell* cell;
  foreach (cell, plan->subplans) AddHandedBy(&handed, plan, static_cast<Plan*>(lfirst(cell)));
  if (handed.relations == NIL && !handed.by_view) return;
  if (judged) RecordProtectedRead(role);
  if (!counts) return;
  if (handed.by_view) RecordEvent(AbstractPlan(plan));
  foreach (cell, handed.relations) RecordEvent(AbstractRows(lfirst_oid(cell), plan->commandType));
}

}  // namespace privacy_score
