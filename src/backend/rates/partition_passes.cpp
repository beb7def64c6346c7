/*
 * partition_passes.cpp - see partition_passes.hpp.
 */
#include "backend/rates/partition_passes.hpp"

extern "C" {
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "portability/instr_time.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
}

#include "backend/rows/coded_pass.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/watching.hpp"
#include "core/entropy/class_histogram.hpp"
#include "core/entropy/entropy.hpp"
#include "core/entropy/subset_entropies.hpp"

namespace privacy_score {

namespace {

// Rows are grouped before they are read when the planner expects that to leave one of so many. Its guess for columns
// without statistics is a tenth, which says nothing.
constexpr double kGroupingPays = 20;

// Of so many rows on other servers, and more, it matters how many groups of them come here.
constexpr int64 kManyRows = 100000;

// Classes smaller than that have a counter each.
constexpr std::size_t kSmallClasses = 1024;

// How far core is, which cannot say so itself.
volatile int64_t counting_done, counting_total;

// What is left of a reading, and what is known of the columns when not all of it fits into memory at once.
struct Settling {
  const PartitionReading* reading;
  List* pending;          // numbers of sets whose facts are wanted
  List* failed;           // columns whose tuples do not fit together
  ColumnWeight* weights;  // by attribute number
};

// Columns of some sets as core numbers them: places among the columns that are read.
struct Places {
  int sets;
  const int* numbers;  // of the sets among those of the reading
  const int* ends;     // where the places of each end
  const int* places;
};

Places PlacesOf(const PartitionReading* reading, const List* which, const Bitmapset* columns) {
  Size members = 1;
  const ListCell* cell;
  foreach (cell, which) members += static_cast<Size>(bms_num_members(reading->sets[lfirst_int(cell)]));
  const Size most = static_cast<Size>(list_length(which) + 1);
  auto* numbers = static_cast<int*>(palloc(sizeof(int) * most));
  auto* ends = static_cast<int*>(palloc(sizeof(int) * most));
  auto* places = static_cast<int*>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(int) * members));
  int at = 0;
  int end = 0;
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
  RunPausing([&](auto) { return counting->object->Run(control); });
  for (int set = 0; set < wanted.sets; ++set) {
    const privacy_score::SubsetFacts& counted = counting->object->facts()[static_cast<std::size_t>(set)];
    facts[wanted.numbers[set]] = {counted.entropy, counted.rows, counted.classes, counted.uniques};
  }
}

// The partitions by sets of at most one column each, of which the values were counted.
void CountSingles(const Places& wanted, const ValueCounts* columns, int64 rows, PartitionFacts* facts) {
  for (int set = 0, at = 0; set < wanted.sets; at = wanted.ends[set++]) {
    const ValueCounts all_rows = {&rows, rows > 0 ? 1 : 0};
    const ValueCounts& counts = at == wanted.ends[set] ? all_rows : columns[wanted.places[at]];
    PartitionFacts* fact = &facts[wanted.numbers[set]];
    *fact = {0, rows, counts.values, 0};
    CallCoreOrRaise([&] {
      privacy_score::ClassHistogram sizes(kSmallClasses);
      for (int64 value = 0; value < counts.values; ++value) sizes.Add(counts.counts[value]);
      fact->uniques = sizes.counters()[1];
      fact->entropy = privacy_score::Entropy(sizes.Sizes());
    });
  }
}

// How many rows the planner expects of a statement.
double ExpectedRows(const char* sql) {
  const char* named = NameReading(sql);
  SPIPlanPtr plan = SPI_prepare_cursor(sql, 0, nullptr, CURSOR_OPT_PARALLEL_OK);
  CachedPlan* cached = plan == nullptr ? nullptr : SPI_plan_get_cached_plan(plan);
  if (cached == nullptr) elog(ERROR, "could not plan the reading of a relation");
  const double rows = linitial_node(PlannedStmt, cached->stmt_list)->planTree->plan_rows;
  ReleaseCachedPlan(cached, nullptr);
  SPI_freeplan(plan);
  NameReading(named);
  return rows;
}

// How the columns are read: rows, or groups where that pays.
PassInput InputOf(const PartitionReading* reading, const Bitmapset* columns) {
  PassInput input = {RowsSql(&reading->source, columns), bms_num_members(columns), false, reading->expected};
  if (reading->place == RowPlace::kHeap) return input;
  const char* groups = GroupsSql(&reading->source, columns);
  if (reading->place == RowPlace::kElsewhere || reading->place == RowPlace::kNodes ||
      kGroupingPays * ExpectedRows(groups) < ExpectedRows(input.sql)) {
    input.sql = groups;
    input.weighted = true;
  }
  return input;
}

// Reads the columns once and counts the given sets in memory. False when that does not fit.
bool CountInMemory(Settling* settling, const List* which, const Bitmapset* columns) {
  const PartitionReading* reading = settling->reading;
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "privacy_score pass", ALLOCSET_DEFAULT_SIZES);
  MemoryContext outer = MemoryContextSwitchTo(context);
  const PassInput input = InputOf(reading, columns);
  const Size width = static_cast<Size>(input.columns);
  auto* weights = static_cast<ColumnWeight*>(palloc(sizeof(ColumnWeight) * width));
  const Places places = PlacesOf(reading, which, columns);
  bool singles = true;
  for (int set = 0, at = 0; set < places.sets; at = places.ends[set++]) singles &= places.ends[set] - at <= 1;
  instr_time start, read, end;
  INSTR_TIME_SET_CURRENT(start);
  SetProgressPhase(input.weighted ? "reading groups" : "reading rows");
  bool fits;
  if (singles) {
    int64 rows;
    auto* counts = static_cast<ValueCounts*>(palloc(sizeof(ValueCounts) * width));
    fits = ReadValueCounts(context, input, weights, counts, &rows);
    INSTR_TIME_SET_CURRENT(read);
    if (fits) CountSingles(places, counts, rows, reading->facts);
  } else {
    privacy_score::CodedRows* rows = ReadCoded(context, input, weights);
    fits = rows != nullptr;
    INSTR_TIME_SET_CURRENT(read);
    if (fits) CountCoded(context, places, rows, reading->facts);
  }
  INSTR_TIME_SET_CURRENT(end);
  INSTR_TIME_SUBTRACT(end, read);
  INSTR_TIME_SUBTRACT(read, start);
  ereport(DEBUG1, (errmsg_internal("read %d columns in %.1f ms%s, counted %d sets in %.1f ms", input.columns,
                                   INSTR_TIME_GET_MILLISEC(read), fits ? "" : ", too large for memory",
                                   fits ? places.sets : 0, INSTR_TIME_GET_MILLISEC(end))));
  for (int column = -1, place = 0; (column = bms_next_member(columns, column)) >= 0; ++place) {
    ColumnWeight* known = &settling->weights[column];
    known->values = Max(known->values, weights[place].values);
    known->fills |= weights[place].fills;
  }
  MemoryContextSwitchTo(outer);
  MemoryContextDelete(context);
  return fits;
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

// Settles all sets within the columns in one pass; false when they do not fit, or are better grouped by the server.
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
  if (bms_is_empty(columns) || (settling->reading->place != RowPlace::kHeap && list_length(within) == 1) ||
      KnownNotToFit(settling, columns))
    return false;
  if (!CountInMemory(settling, within, columns)) {
    settling->failed = lappend(settling->failed, columns);
    return false;
  }
  settling->pending = others;
  return true;
}

// Settles the sets of one column each in one pass of their own, which takes no memory for tuples. A column that fills
// the memory by itself is left.
void SettleSingles(Settling* settling) {
  for (;;) {
    List* singles = NIL;
    List* others = NIL;
    Bitmapset* columns = nullptr;
    const ListCell* cell;
    foreach (cell, settling->pending) {
      const int number = lfirst_int(cell);
      const Bitmapset* set = settling->reading->sets[number];
      int column;
      const bool taken = bms_get_singleton_member(set, &column) && !settling->weights[column].fills;
      if (taken) columns = bms_add_members(columns, set);
      List** list = taken ? &singles : &others;
      *list = lappend_int(*list, number);
    }
    if (list_length(singles) < 2) return;
    if (CountInMemory(settling, singles, columns)) {
      settling->pending = others;
      return;
    }
    bool any_fills = false;
    for (int column = -1; (column = bms_next_member(columns, column)) >= 0;)
      any_fills |= settling->weights[column].fills;
    if (!any_fills) return;
  }
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

}  // namespace

PartitionFacts GroupedPartition(const RowSource* source, const Bitmapset* columns) {
  SetProgressPhase("grouping by the server");
  if (SPI_execute(ClassSizesSql(source, columns), true, 0) != SPI_OK_SELECT)
    elog(ERROR, "could not count the classes of a relation");
  const uint64 count = SPI_processed;
  auto* sizes = static_cast<int64*>(palloc(sizeof(int64) * 2 * (count + 1)));
  for (uint64 row = 0; row < count; ++row)
    for (int column = 0; column < 2; ++column) sizes[2 * row + column] = FieldNumber(row, column);
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

// Whether each set is better grouped by itself where the rows are: the rows are many, the sets few, and one pass would
// fetch nearly all rows, as far as that can be known. What comes of a set are its classes, or, where a node has all
// rows of each, only the sizes of these.
static bool AreBetterApart(const Settling* settling, const Bitmapset* all) {
  const PartitionReading* reading = settling->reading;
  const int sets = list_length(settling->pending);
  if (sets < 2 || sets > 2 * bms_num_members(all) + 1) return false;
  if (reading->place == RowPlace::kNodes) return GroupedPartition(&reading->source, nullptr).rows >= kManyRows;
  if (reading->place != RowPlace::kElsewhere) return false;
  const double rows = ExpectedRows(RowsSql(&reading->source, all));
  return rows >= kManyRows && kGroupingPays * ExpectedRows(GroupsSql(&reading->source, all)) > rows;
}

// All sets in one pass, if they fit into memory together. Else single columns in one and each further pass takes one
// set and light columns beside it, with all sets within these; a set that does not fit alone is grouped by the server,
// which may spill.
void CountPartitions(const PartitionReading* reading, List* pending) {
  if (pending == NIL) return;
  Settling settling = {reading, pending, NIL, nullptr};
  settling.weights = static_cast<ColumnWeight*>(palloc0(sizeof(ColumnWeight) * (MaxAttrNumber + 1)));
  Bitmapset* all = nullptr;
  const ListCell* cell;
  foreach (cell, pending) all = bms_add_members(all, reading->sets[lfirst_int(cell)]);
  if (AreBetterApart(&settling, all)) {
    foreach (cell, pending)
      reading->facts[lfirst_int(cell)] = GroupedPartition(&reading->source, reading->sets[lfirst_int(cell)]);
    return;
  }
  if (SettleWithin(&settling, all)) return;
  SettleSingles(&settling);
  while (settling.pending != NIL) {
    const int first = linitial_int(settling.pending);
    Bitmapset* set = bms_copy(reading->sets[first]);
    Bitmapset* columns = Grown(&settling, set, all);
    if (SettleWithin(&settling, columns) || SettleWithin(&settling, set)) continue;
    reading->facts[first] = GroupedPartition(&reading->source, set);
    settling.pending = list_delete_first(settling.pending);
  }
}

}  // namespace privacy_score
