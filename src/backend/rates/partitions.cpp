/*
 * partitions.cpp - see partitions.hpp.
 */
#include "backend/rates/partitions.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"
}

#include "backend/catalog/relation_lock.hpp"
#include "backend/catalog/unique_keys.hpp"
#include "backend/rates/partition_passes.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/live.hpp"
#include "core/entropy/entropy.hpp"

namespace privacy_score {

namespace {

constexpr int kHoldsKey = -1;

// A set, and where it was first asked for.
struct KnownSet {
  const Bitmapset* set;
  int number;
};

// Where the rows lie. Extensions that spread a table over servers leave a heap without pages.
RowPlace PlaceOfRows(::Relation relation) {
  const char kind = relation->rd_rel->relkind;
  if (kind == RELKIND_FOREIGN_TABLE) return RowPlace::kElsewhere;
  if (kind == RELKIND_PARTITIONED_TABLE || relation->rd_rel->relhassubclass)
    return AnyForeignMember(RelationGetRelid(relation)) ? RowPlace::kElsewhere : RowPlace::kSpread;
  if (relation->rd_rel->relam != HEAP_TABLE_AM_OID) return RowPlace::kSpread;
  if (RELATION_IS_OTHER_TEMP(relation) || RelationGetNumberOfBlocks(relation) == 0) return RowPlace::kNodes;
  return RowPlace::kHeap;
}

bool ContainsKey(const List* keys, const Bitmapset* set) {
  const ListCell* cell;
  foreach (cell, keys)
    if (bms_is_subset(static_cast<Bitmapset*>(lfirst(cell)), set)) return true;
  return false;
}

// Facts of a partition that tells all rows apart.
PartitionFacts OneClassARow(int64 rows) {
  PartitionFacts facts = {0, rows, rows, rows};
  CallCoreOrRaise([&] { facts.entropy = privacy_score::Entropy({{1, rows}}); });
  return facts;
}

// Fills in the facts where nobody else's code decides which rows there are.
void SettleAsOurs(Oid relation_id, const Bitmapset* const* sets, int count, const Bitmapset* asked,
                  PartitionFacts* facts) {
  ::Relation relation = relation_open(relation_id, NoLock);
  PartitionReading reading = {{relation_id, nullptr, NIL}, PlaceOfRows(relation), 0, sets, facts};
  if (relation->rd_rel->reltuples > 0) reading.expected = static_cast<uint64>(relation->rd_rel->reltuples);
  const List* keys = UniqueKeysOf(relation);
  relation_close(relation, NoLock);
  if (reading.place == RowPlace::kElsewhere) reading.source.members = MembersOf(relation_id);
  reading.source.asked = asked;

  // Each set once, and none that holds a key: of these only the number of rows is not known beforehand.
  HASHCTL control = {};
  control.keysize = sizeof(Bitmapset*);
  control.entrysize = sizeof(KnownSet);
  control.hash = bitmap_hash;
  control.match = bitmap_match;
  control.hcxt = CurrentMemoryContext;
  HTAB* known =
      hash_create("privacy_score sets", count, &control, HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
  auto* same = static_cast<int*>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int) * static_cast<Size>(count)));
  List* pending = NIL;
  for (int i = 0; i < count; ++i) {
    same[i] = kHoldsKey;
    if (ContainsKey(keys, sets[i])) continue;
    bool found;
    auto* set = static_cast<KnownSet*>(hash_search(known, &sets[i], HASH_ENTER, &found));
    if (!found) {
      set->number = i;
      pending = lappend_int(pending, i);
    }
    same[i] = set->number;
  }
  hash_destroy(known);
  CountPartitions(&reading, list_copy(pending));
  const int64 rows =
      pending != NIL ? facts[linitial_int(pending)].rows : GroupedPartition(&reading.source, nullptr).rows;
  for (int i = 0; i < count; ++i) facts[i] = same[i] == kHoldsKey ? OneClassARow(rows) : facts[same[i]];
  pfree(same);
}

}  // namespace

void PartitionsOf(Oid relation, const Bitmapset* const* sets, int count, PartitionFacts* facts) {
  JudgeRead(relation);
  if (count == 0) return;
  // What decides whose code runs must not change after it was looked at.
  const List* members = LockForReading(relation);
  Bitmapset* asked = nullptr;
  for (int i = 0; i < count; ++i) asked = bms_add_members(asked, sets[i]);
  RequireLiveColumns(relation, asked);
  BeginProgress("discrimination rates", relation, "");
  // Views and policies run code that is not ours: then each set is a statement of the caller like any other.
  if (get_rel_relkind(relation) == RELKIND_VIEW || check_enable_rls(relation, InvalidOid, true) == RLS_ENABLED) {
    for (int i = 0; i < count; ++i) {
      const RowSource source = {relation, sets[i], NIL};
      facts[i] = GroupedPartition(&source, sets[i]);
    }
    EndProgress();
    return;
  }
  const UncountedState uncounted = BeginUncounted(Uncounted::kReading, members);
  const int nest_level = NewGUCNestLevel();
  // Partitions group for themselves, in parallel workers and on foreign servers, where they can.
  SetWithin("enable_partitionwise_aggregate", "on");
  SettleAsOurs(relation, sets, count, asked, facts);
  AtEOXact_GUC(false, nest_level);
  EndUncounted(uncounted);
  EndProgress();
}

}  // namespace privacy_score
