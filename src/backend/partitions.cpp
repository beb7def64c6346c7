/*
 * partitions.cpp - see partitions.hpp.
 */
#include "partitions.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"
}

#include "coded_pass.hpp"
#include "core/entropy.hpp"
#include "core/subset_entropies.hpp"
#include "core_call.hpp"
#include "grouping_sql.hpp"
#include "internal.hpp"
#include "live.hpp"
#include "progress.hpp"
#include "unique_keys.hpp"
#include "watching.hpp"

namespace {

constexpr int kHoldsKey = -1;

// How far core is, which cannot say so itself.
volatile int64_t counting_done, counting_total;

// What PartitionsOf was asked, and how the relation is read.
struct Reading {
  RowSource source;
  bool grouped;     // the rows are grouped where they are, and only groups are read
  uint64 expected;  // rows that are read, 0 where that is not known
  const Bitmapset* const* sets;
  PartitionFacts* facts;
};

int64 FieldNumber(const SPITupleTable* table, uint64 row, int column) {
  bool null;
  return DatumGetInt64(SPI_getbinval(table->vals[row], table->tupdesc, column, &null));
}

// The partition by one set, grouped by the server.
PartitionFacts GroupedPartition(const RowSource* source, const Bitmapset* attributes) {
  SetProgressPhase("grouping by the server");
  if (SPI_execute(ClassSizesSql(source, attributes), true, 0) != SPI_OK_SELECT)
    elog(ERROR, "could not count the classes of a relation");
  const SPITupleTable* table = SPI_tuptable;
  const uint64 count = table->numvals;
  auto* sizes = static_cast<int64*>(palloc(sizeof(int64) * 2 * (count + 1)));
  for (uint64 row = 0; row < count; ++row)
    for (int column = 0; column < 2; ++column) sizes[2 * row + column] = FieldNumber(table, row, column + 1);
  SPI_freetuptable(SPI_tuptable);
  PartitionFacts facts = {};
  for (uint64 row = 0; row < count; ++row) {
    facts.rows += sizes[2 * row] * sizes[2 * row + 1];
    facts.classes += sizes[2 * row + 1];
    if (sizes[2 * row] == 1) facts.uniques += sizes[2 * row + 1];
  }
  CallCoreOrRaise([&] {
    privacy_score::ClassSizes classes;
    for (uint64 row = 0; row < count; ++row) classes.push_back({sizes[2 * row], sizes[2 * row + 1]});
    facts.entropy = privacy_score::Entropy(classes);
  });
  pfree(sizes);
  return facts;
}

// Columns of some sets as core numbers them: places among the columns that were read.
struct Places {
  int sets;
  const int* numbers;  // of the sets among those of PartitionsOf
  const int* ends;     // where the places of each end
  const int* places;
};

Places PlacesOf(const Reading* reading, const List* which, const Bitmapset* columns) {
  const Size most = static_cast<Size>(list_length(which) + 1);
  auto* numbers = static_cast<int*>(palloc(sizeof(int) * most));
  auto* ends = static_cast<int*>(palloc(sizeof(int) * most));
  auto* places = static_cast<int*>(MemoryContextAllocHuge(
      CurrentMemoryContext, sizeof(int) * most * static_cast<Size>(bms_num_members(columns) + 1)));
  int at = 0;
  int end = 0;
  const ListCell* cell;
  foreach (cell, which) {
    const Bitmapset* set = reading->sets[lfirst_int(cell)];
    int place = 0;
    for (int column = -1; (column = bms_next_member(columns, column)) >= 0; ++place)
      if (bms_is_member(column, set)) places[end++] = place;
    numbers[at] = lfirst_int(cell);
    ends[at++] = end;
  }
  return {at, numbers, ends, places};
}

// The partitions by some sets of rows that are in memory.
void CountCoded(MemoryContext context, const Places& wanted, privacy_score::CodedRows* rows, PartitionFacts* facts) {
  auto* counting = NewCoreHolder<privacy_score::SubsetEntropies>(context);
  CallCoreOrRaise([&] {
    std::vector<std::vector<std::size_t>> sets;
    for (int set = 0, at = 0; set < wanted.sets; ++set) {
      std::vector<std::size_t>& places = sets.emplace_back();
      for (; at < wanted.ends[set]; ++at) places.push_back(static_cast<std::size_t>(wanted.places[at]));
    }
    counting->Reset(new privacy_score::SubsetEntropies(*rows, std::move(sets)));
  });
  privacy_score::WorkControl control;
  control.done = &counting_done;
  control.total = &counting_total;
  control.interrupted = [] {
    SetProgress(static_cast<uint64>(counting_done), static_cast<uint64>(counting_total));
    return InterruptPending != 0;
  };
  SetProgressPhase("counting sets");
  for (bool complete = false; !complete;) {
    CHECK_FOR_INTERRUPTS();
    CallCoreOrRaise([&] { complete = counting->object->Run(control); });
  }
  for (int set = 0; set < wanted.sets; ++set) {
    const privacy_score::SubsetFacts& counted = counting->object->facts()[static_cast<std::size_t>(set)];
    facts[wanted.numbers[set]] = {counted.entropy, counted.rows, counted.classes, counted.uniques};
  }
}

// What is left of a reading, and what is known of the columns when not all of it fits into memory at once.
struct Settling {
  const Reading* reading;
  List* pending;          // numbers of sets whose facts are wanted
  List* failed;           // columns that do not fit together
  ColumnWeight* weights;  // by attribute number
};

// Reads the columns once and counts the given sets in memory. False when that does not fit.
bool CountInMemory(Settling* settling, const List* which, const Bitmapset* columns) {
  const Reading* reading = settling->reading;
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "privacy_score pass", ALLOCSET_DEFAULT_SIZES);
  MemoryContext outer = MemoryContextSwitchTo(context);
  const int count = bms_num_members(columns);
  auto* weights = static_cast<ColumnWeight*>(palloc(sizeof(ColumnWeight) * static_cast<Size>(count)));
  instr_time start, read, end;
  INSTR_TIME_SET_CURRENT(start);
  SetProgressPhase(reading->grouped ? "reading groups" : "reading rows");
  privacy_score::CodedRows* rows =
      ReadCoded(context, reading->grouped ? GroupsSql(&reading->source, columns) : RowsSql(&reading->source, columns),
                count, reading->grouped, reading->expected, weights);
  INSTR_TIME_SET_CURRENT(read);
  if (rows != nullptr) CountCoded(context, PlacesOf(reading, which, columns), rows, reading->facts);
  INSTR_TIME_SET_CURRENT(end);
  INSTR_TIME_SUBTRACT(end, read);
  INSTR_TIME_SUBTRACT(read, start);
  ereport(DEBUG1, (errmsg_internal("read %d columns in %.1f ms%s, counted %d sets in %.1f ms", count,
                                   INSTR_TIME_GET_MILLISEC(read), rows == nullptr ? ", too large for memory" : "",
                                   rows == nullptr ? 0 : list_length(which), INSTR_TIME_GET_MILLISEC(end))));
  for (int column = -1, place = 0; (column = bms_next_member(columns, column)) >= 0; ++place) {
    ColumnWeight* known = &settling->weights[column];
    known->values = Max(known->values, weights[place].values);
    known->fills |= weights[place].fills;
  }
  MemoryContextSwitchTo(outer);
  MemoryContextDelete(context);
  return rows != nullptr;
}

// Whether the columns are known not to fit into memory.
bool KnownNotToFit(const Settling* settling, const Bitmapset* columns) {
  for (int column = -1; (column = bms_next_member(columns, column)) >= 0;)
    if (settling->weights[column].fills) return true;
  const ListCell* cell;
  foreach (cell, settling->failed)
    if (bms_is_subset(static_cast<Bitmapset*>(lfirst(cell)), columns)) return true;
  return false;
}

// Settles all sets within the columns in one pass; false when they do not fit, or are better grouped elsewhere.
bool SettleWithin(Settling* settling, Bitmapset* columns) {
  List* within = NIL;
  List* others = NIL;
  const ListCell* cell;
  foreach (cell, settling->pending) {
    const int set = lfirst_int(cell);
    List** list = bms_is_subset(settling->reading->sets[set], columns) ? &within : &others;
    *list = lappend_int(*list, set);
  }
  // Of one set that is grouped where the rows are only the sizes of its groups need come here.
  if (bms_is_empty(columns) || (settling->reading->grouped && list_length(within) == 1) ||
      KnownNotToFit(settling, columns))
    return false;
  if (!CountInMemory(settling, within, columns)) {
    settling->failed = lappend(settling->failed, columns);
    return false;
  }
  settling->pending = others;
  return true;
}

// The set and the lightest of the other columns, as long as all their combinations would fit into memory.
Bitmapset* Grown(const Settling* settling, const Bitmapset* set, const Bitmapset* all) {
  // Far above what a tuple takes, counting included.
  auto room = static_cast<double>(PassMemory() / (64 + 8 * static_cast<Size>(bms_num_members(all))));
  const auto values = [=](int column) { return static_cast<double>(Max(1, settling->weights[column].values)); };
  for (int column = -1; (column = bms_next_member(set, column)) >= 0;) room /= values(column);
  Bitmapset* grown = bms_copy(set);
  for (;;) {
    int lightest = -1;
    for (int column = -1; (column = bms_next_member(all, column)) >= 0;)
      if (!bms_is_member(column, grown) && (lightest < 0 || values(column) < values(lightest))) lightest = column;
    if (lightest < 0 || values(lightest) > room) return grown;
    room /= values(lightest);
    grown = bms_add_member(grown, lightest);
  }
}

// Fills in the facts of the sets `pending`, no two of which are equal: all in one pass, if they fit into memory
// together. Else each pass takes one set and light columns beside it, with all sets within these; a set that does not
// fit alone is grouped by the server, which may spill.
void Settle(const Reading* reading, List* pending) {
  Settling settling = {reading, pending, NIL, nullptr};
  settling.weights = static_cast<ColumnWeight*>(palloc0(sizeof(ColumnWeight) * (MaxAttrNumber + 1)));
  Bitmapset* all = nullptr;
  const ListCell* cell;
  foreach (cell, pending) all = bms_add_members(all, reading->sets[lfirst_int(cell)]);
  if (pending != NIL) SettleWithin(&settling, all);
  while (settling.pending != NIL) {
    const int first = linitial_int(settling.pending);
    Bitmapset* set = bms_copy(reading->sets[first]);
    Bitmapset* columns = Grown(&settling, set, all);
    if (SettleWithin(&settling, columns) || SettleWithin(&settling, set)) continue;
    reading->facts[first] = GroupedPartition(&reading->source, set);
    settling.pending = list_delete_first(settling.pending);
  }
}

// Whether the rows of the relation lie here in a heap, and nowhere else. Extensions that spread a table over servers
// leave a heap without pages.
bool IsPlainHeap(Relation relation) {
  const char kind = relation->rd_rel->relkind;
  return (kind == RELKIND_MATVIEW || (kind == RELKIND_RELATION && !relation->rd_rel->relhassubclass)) &&
         relation->rd_rel->relam == HEAP_TABLE_AM_OID && !RELATION_IS_OTHER_TEMP(relation) &&
         RelationGetNumberOfBlocks(relation) > 0;
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
void SettleAsOurs(Oid relation_id, const Bitmapset* const* sets, int count, PartitionFacts* facts) {
  Relation relation = try_relation_open(relation_id, AccessShareLock);
  if (relation == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation_id)));
  Reading reading = {{relation_id, nullptr, NIL}, !IsPlainHeap(relation), 0, sets, facts};
  if (!reading.grouped && relation->rd_rel->reltuples > 0)
    reading.expected = static_cast<uint64>(relation->rd_rel->reltuples);
  const List* keys = UniqueKeysOf(relation);
  relation_close(relation, NoLock);
  if (reading.grouped) reading.source.members = MembersOf(relation_id);
  Bitmapset* asked = nullptr;
  for (int i = 0; i < count; ++i) asked = bms_add_members(asked, sets[i]);
  reading.source.asked = asked;

  // Each set once, and none that holds a key: of these only the number of rows is not known beforehand.
  auto* same = static_cast<int*>(palloc(sizeof(int) * static_cast<Size>(count + 1)));
  List* pending = NIL;
  for (int i = 0; i < count; ++i) {
    same[i] = ContainsKey(keys, sets[i]) ? kHoldsKey : 0;
    while (same[i] >= 0 && !bms_equal(sets[same[i]], sets[i])) ++same[i];
    if (same[i] == i) pending = lappend_int(pending, i);
  }
  Settle(&reading, list_copy(pending));
  const int64 rows =
      pending != NIL ? facts[linitial_int(pending)].rows : GroupedPartition(&reading.source, nullptr).rows;
  for (int i = 0; i < count; ++i) facts[i] = same[i] == kHoldsKey ? OneClassARow(rows) : facts[same[i]];
  pfree(same);
}

}  // namespace

void PartitionsOf(Oid relation, const Bitmapset* const* sets, int count, PartitionFacts* facts) {
  JudgeRead(relation);
  if (count == 0) return;
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
  const bool uncounted = BeginUncounted();
  const int nest_level = NewGUCNestLevel();
  // Partitions group for themselves, in parallel workers and on foreign servers, where they can.
  set_config_option("enable_partitionwise_aggregate", "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                    false);
  SettleAsOurs(relation, sets, count, facts);
  AtEOXact_GUC(false, nest_level);
  EndUncounted(uncounted);
  EndProgress();
}
