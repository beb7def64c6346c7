/*
 * private_reading.cpp - see private_reading.hpp.
 */
#include "backend/private_sql/private_reading.hpp"

extern "C" {
#include "access/detoast.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
}

#include <unordered_map>

#include "backend/catalog/code_trust.hpp"
#include "backend/catalog/relation_lock.hpp"
#include "backend/dp/dp_scan.hpp"
#include "backend/dp/dp_settings.hpp"
#include "backend/private_sql/private_blind.hpp"
#include "backend/private_sql/private_joins.hpp"
#include "backend/private_sql/private_refusals.hpp"
#include "backend/private_sql/private_row_places.hpp"
#include "backend/private_sql/private_rows.hpp"
#include "backend/private_sql/private_values.hpp"
#include "backend/server/cancellable_call.hpp"
#include "backend/server/compat.hpp"
#include "core/private_sql/key_memo.hpp"

namespace privacy_score {

namespace {

constexpr int kRowsAtOnce = 256;
constexpr double kMoreRows = 1.1;      // than the planner expects
constexpr double kMostExpected = 1e7;  // that there is room for beforehand
constexpr Size kLongestKey = 10000;    // bytes

// Rows as they come in.
struct Collected {
  Collected(std::size_t values, bool hashes) : sums(values, hashes) {}
  PersonSums sums;
  std::unordered_map<std::string, std::uint32_t> groups;
  KeyMemo memo;
  std::string image;  // of the row at hand
  PersonRows rows;
};

struct Collector {
  DestReceiver receiver;  // first: the server calls by it
  const PrivateLevel* level;
  Collected* collected;
  Oid* types;           // of all columns, without domains
  int16* lengths;       // of all columns, as the server has them: -1 where values have lengths of their own
  bool* by_value;       // of all columns
  ValueGrid* grids;     // of the values
  PersonWord* persons;  // of the rows that core is given next, as what follows
  std::uint32_t* row_groups;
  std::int64_t* values;
  int rows;
  const int* places;  // of the columns in a row; null: they are the row
  int last_place;     // behind which none lies
  Datum* row;         // the columns of a row whose places are told, and what of them is NULL
  bool* row_nulls;
  bool hashes;     // persons are known by a hash
  bool is_public;  // the groups are there before the rows
  uint64 seeds[2];
  StringInfoData bytes;
  MemoryContext row_memory;
  uint64 rows_seen;
};

struct Reading {
  const PrivateLevel* level;
  ::Query* part;
  Oid owner;
  const char* time_zone;
  const char* date_style;
  Collector* collector;  // null: it is not read yet
};

PersonWord PersonOf(Collector* collector, const Datum* datums) {
  if (!collector->hashes) return {static_cast<std::uint64_t>(datums[0]), 0};
  resetStringInfo(&collector->bytes);
  for (int i = 0; i < collector->level->person_count; ++i)
    AppendKeyImage(&collector->bytes, collector->types[i], datums[i], false);
  const auto* bytes = reinterpret_cast<const unsigned char*>(collector->bytes.data);
  return {hash_bytes_extended(bytes, collector->bytes.len, collector->seeds[0]),
          hash_bytes_extended(bytes, collector->bytes.len, collector->seeds[1])};
}

constexpr std::uint32_t kNoGroup = KeyMemo::kUnknown - 1;

// Adds a group with the image at hand.
std::uint32_t NewGroup(Collector* collector, const Datum* keys, const bool* nulls) {
  std::uint32_t group = 0;
  const char* texts[MaxTupleAttributeNumber];
  const int count = collector->level->key_count;
  for (int i = 0; i < count; ++i)
    texts[i] = TextOfKey(collector->types[collector->level->person_count + i], keys[i], nulls[i]);
  CallCoreOrRaise([&] {
    Collected& collected = *collector->collected;
    std::string key;
    for (int i = 0; i < count; ++i) AppendRowField(&key, texts[i]);
    group = static_cast<std::uint32_t>(collected.rows.keys.size());
    collected.rows.keys.push_back(std::move(key));
    collected.rows.images.push_back(collected.image);
    collected.groups.emplace(collected.image, group);
  });
  return group;
}

// The group with these keys; `adds`: a new one where there is none, else kNoGroup.
std::uint32_t LookUpGroup(Collector* collector, const Datum* keys, const bool* nulls, bool adds) {
  resetStringInfo(&collector->bytes);
  for (int i = 0; i < collector->level->key_count; ++i)
    AppendKeyImage(&collector->bytes, collector->types[collector->level->person_count + i], keys[i], nulls[i]);
  std::uint32_t group = kNoGroup;
  CallCoreOrRaise([&] {
    Collected& collected = *collector->collected;
    collected.image.assign(collector->bytes.data, static_cast<std::size_t>(collector->bytes.len));
    const auto known = collected.groups.find(collected.image);
    if (known != collected.groups.end()) group = known->second;
  });
  return group == kNoGroup && adds ? NewGroup(collector, keys, nulls) : group;
}

// The words of bytes, of which the last is filled up; 0 when there is no room.
int KeyBytesAsWords(uint64* words, int room, const char* bytes, Size size) {
  const Size count = (size + sizeof *words - 1) / sizeof *words;
  if (count > static_cast<Size>(room)) return 0;
  if (count > 0) words[count - 1] = 0;
  memcpy(words, bytes, size);
  return static_cast<int>(count);
}

// Keys as they lie in memory, for the memo: a bit for each NULL, then the others. 0 when they are too long for it, or
// lie elsewhere.
int KeyWords(const Collector* collector, const Datum* keys, const bool* nulls, uint64* words) {
  const int most = static_cast<int>(KeyMemo::kMostWords);
  const int first = collector->level->person_count;
  if (collector->level->key_count >= most) return 0;
  words[0] = 0;
  int count = 1;
  for (int i = 0; i < collector->level->key_count; ++i) {
    if (nulls[i]) {
      words[0] |= UINT64CONST(1) << i;
      continue;
    }
    if (count >= most) return 0;
    if (collector->by_value[first + i]) {
      words[count++] = keys[i];
      continue;
    }
    const char* bytes = DatumGetPointer(keys[i]);
    Size size = static_cast<Size>(collector->lengths[first + i]);
    if (collector->lengths[first + i] < 0) {
      if (collector->lengths[first + i] != -1 || VARATT_IS_EXTERNAL(bytes) || VARATT_IS_COMPRESSED(bytes)) return 0;
      size = VARSIZE_ANY_EXHDR(bytes);
      bytes = VARDATA_ANY(bytes);
      words[count++] = size;
      if (size == 0) continue;
    }
    const int copied = KeyBytesAsWords(words + count, most - count, bytes, size);
    if (copied == 0) return 0;
    count += copied;
  }
  return count;
}

// Whether a key is longer than what makes groups: what handles it must not fail on a row.
bool HasLongKey(const Collector* collector, const Datum* datums, const bool* nulls) {
  const int first = collector->level->person_count;
  for (int i = first; i < first + collector->level->key_count; ++i)
    if (collector->lengths[i] == -1 && !nulls[i] && toast_raw_datum_size(datums[i]) > kLongestKey) return true;
  return false;
}

// The group of a row; kNoGroup: it is in none.
std::uint32_t GroupOf(Collector* collector, const Datum* datums, const bool* nulls) {
  const int first = collector->level->person_count;
  if (collector->level->key_count == 0) return 0;
  uint64 words[KeyMemo::kMostWords];
  const int count = KeyWords(collector, datums + first, nulls + first, words);
  std::uint32_t group = KeyMemo::kUnknown;
  if (count > 0) group = collector->collected->memo.Find(words, static_cast<std::size_t>(count));
  if (group != KeyMemo::kUnknown) return group;
  if (HasLongKey(collector, datums, nulls)) return kNoGroup;
  group = LookUpGroup(collector, datums + first, nulls + first, !collector->is_public);
  CallCoreOrRaise([&] { collector->collected->memo.Remember(words, static_cast<std::size_t>(count), group); });
  return group;
}

// Rows that are nobody's are not collected.
bool IsNobodys(const Collector* collector, const bool* nulls) {
  for (int i = 0; i < collector->level->person_count; ++i)
    if (nulls[i]) return true;
  return false;
}

// Gives the rows at hand to core.
void HandOver(Collector* collector) {
  CallCoreOrRaise([&] {
    collector->collected->sums.AddRows(collector->persons, collector->row_groups, collector->values,
                                       static_cast<std::size_t>(collector->rows));
  });
  collector->rows = 0;
}

// The columns of a row, `nulls` of them, where they have places in the row of a relation.
void TakeFromPlaces(const Collector* collector, TupleTableSlot* slot) {
  const PrivateLevel* level = collector->level;
  slot_getsomeattrs(slot, collector->last_place + 1);
  const int count = level->person_count + level->key_count + level->value_count;
  for (int i = 0; i < count; ++i) {
    collector->row[i] = slot->tts_values[collector->places[i]];
    collector->row_nulls[i] = slot->tts_isnull[collector->places[i]];
  }
}

bool CollectRow(TupleTableSlot* slot, DestReceiver* receiver) {
  auto* collector = reinterpret_cast<Collector*>(receiver);
  const PrivateLevel* level = collector->level;
  const Datum* datums = collector->row;
  const bool* nulls = collector->row_nulls;
  if (collector->places != nullptr) {
    TakeFromPlaces(collector, slot);
  } else {
    slot_getallattrs(slot);
    datums = slot->tts_values;
    nulls = slot->tts_isnull;
  }
  if (IsNobodys(collector, nulls)) return true;
  MemoryContext before = MemoryContextSwitchTo(collector->row_memory);
  const std::uint32_t group = GroupOf(collector, datums, nulls);
  if (group != kNoGroup) {
    collector->persons[collector->rows] = PersonOf(collector, datums);
    collector->row_groups[collector->rows] = group;
    const int first = level->person_count + level->key_count;
    std::int64_t* values = collector->values + collector->rows * level->value_count;
    for (int i = 0; i < level->value_count; ++i)
      values[i] = nulls[first + i] ? kNullSteps : StepsOfValue(&collector->grids[i], datums[first + i]);
    ++collector->rows;
  }
  if (collector->rows == kRowsAtOnce) HandOver(collector);
  MemoryContextSwitchTo(before);
  if (++collector->rows_seen % kRowsAtOnce == 0) MemoryContextReset(collector->row_memory);
  return true;
}

void BeginRows(DestReceiver*, int, TupleDesc) {}
void EndRows(DestReceiver*) {}

// A person whose columns are one value of at most eight bytes is known by it.
bool NeedsHash(const PrivateLevel* level, const Oid* types) {
  if (level->person_count != 1) return true;
  return !get_typbyval(types[0]) || types[0] == FLOAT4OID || types[0] == FLOAT8OID;
}

bool IsSummed(const PrivateLevel* level, int value) {
  for (int i = 0; i < level->measure_count; ++i)
    if (level->measures[i].value == value + 1 && (level->measures[i].aggregate == PrivateAggregate::kSum ||
                                                  level->measures[i].aggregate == PrivateAggregate::kAverage))
      return true;
  return false;
}

Collector* NewCollector(const PrivateLevel* level, const PublicGroups* groups) {
  auto* collector = static_cast<Collector*>(palloc0(sizeof(Collector)));
  collector->receiver = {CollectRow, BeginRows, EndRows, EndRows, DestNone};
  collector->level = level;
  const int count = list_length(level->part->targetList);
  collector->types = static_cast<Oid*>(palloc0(sizeof(Oid) * static_cast<Size>(count)));
  collector->lengths = static_cast<int16*>(palloc0(sizeof(int16) * static_cast<Size>(count)));
  collector->by_value = static_cast<bool*>(palloc0(sizeof(bool) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i) {
    collector->types[i] = getBaseType(exprType(reinterpret_cast<Node*>(TargetOf(level, i)->expr)));
    get_typlenbyval(collector->types[i], &collector->lengths[i], &collector->by_value[i]);
  }
  collector->grids = static_cast<ValueGrid*>(palloc0(sizeof(ValueGrid) * static_cast<Size>(level->value_count + 1)));
  for (int i = 0; i < level->value_count; ++i) collector->grids[i] = GridOfValue(level, i);
  collector->persons = static_cast<PersonWord*>(palloc(sizeof(PersonWord) * kRowsAtOnce));
  collector->row_groups = static_cast<std::uint32_t*>(palloc(sizeof(std::uint32_t) * kRowsAtOnce));
  collector->values =
      static_cast<std::int64_t*>(palloc(sizeof(std::int64_t) * static_cast<Size>(level->value_count) * kRowsAtOnce));
  collector->hashes = NeedsHash(level, collector->types);
  if (!pg_strong_random(collector->seeds, sizeof collector->seeds))
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
  initStringInfo(&collector->bytes);
  collector->row_memory =
      AllocSetContextCreate(CurrentMemoryContext, "privacy_score row of persons", ALLOCSET_SMALL_SIZES);
  CoreHolder<Collected>* holder = NewCoreHolder<Collected>(CurrentMemoryContext);
  CallCoreOrRaise(
      [&] { holder->Reset(new Collected(static_cast<std::size_t>(level->value_count), collector->hashes)); });
  collector->collected = holder->object;
  collector->is_public = groups != nullptr;
  for (int i = 0; groups != nullptr && i < groups->count; ++i)
    (void)LookUpGroup(collector, groups->values + static_cast<Size>(i) * static_cast<Size>(groups->columns),
                      groups->nulls + static_cast<Size>(i) * static_cast<Size>(groups->columns), true);
  return collector;
}

// A condition without the tests that there is a person, which CollectRow() makes for less; null: nothing is left.
Node* WithoutPersonTests(Node* condition, const PrivateLevel* level) {
  if (condition == nullptr) return nullptr;
  if (IsA(condition, NullTest) && castNode(NullTest, condition)->nulltesttype == IS_NOT_NULL) {
    for (int i = 0; i < level->person_count; ++i)
      if (equal(castNode(NullTest, condition)->arg, TargetOf(level, i)->expr)) return nullptr;
  }
  if (!is_andclause(condition)) return condition;
  List* kept = NIL;
  const ListCell* cell;
  foreach (cell, castNode(BoolExpr, condition)->args) {
    Node* own = WithoutPersonTests(static_cast<Node*>(lfirst(cell)), level);
    if (own != nullptr) kept = lappend(kept, own);
  }
  return kept == NIL ? nullptr : reinterpret_cast<Node*>(make_ands_explicit(kept));
}

// `places`: of the columns in the rows of the plan; null where they are the rows.
PlannedStmt* PlanPart(const Reading* reading, const int** places) {
  PlannedStmt* volatile plan = nullptr;
  ::Query* part = CopyTree(reading->part);
  part->jointree->quals = WithoutPersonTests(part->jointree->quals, reading->level);
  *places = AskForWholeRows(part);
  if (ReadsSeveral(part, reading->level->relations)) KeepEqualPersons(part);
  List* before = StreamRelations(reading->level->relations);
  PG_TRY();
  { plan = pg_plan_query(part, "", 0, nullptr); }
  PG_FINALLY();
  { (void)StreamRelations(before); }
  PG_END_TRY();
  RequireStreaming(plan, reading->level->relations);
  return plan;
}

constexpr GroupingSteps kSteps = {true, MAX_KILOBYTES};

Reading ReadingOf(const Question* question, const PrivateLevel* level, ::Query* part) {
  return {level,
          part,
          question->budget->owner,
          pstrdup(GetConfigOption("TimeZone", false, false)),
          pstrdup(GetConfigOption("DateStyle", false, false)),
          nullptr};
}

// Raises what planning the part raises, whatever its rows are.
void RequirePlan(const Reading* reading) {
  const bool before = PlanBlindly(true);
  MemoryContext context = CurrentMemoryContext;
  volatile bool unplanned = false;
  PG_TRY();
  {
    WithTrustedCode(reading->owner, [reading] {
      const int* places;
      (void)PlanPart(reading, &places);
    });
  }
  PG_CATCH();
  {
    (void)PlanBlindly(before);
    // That is what the planner says when all its ways to join were taken away.
    if (geterrcode() != ERRCODE_INTERNAL_ERROR) PG_RE_THROW();
    MemoryContextSwitchTo(context);
    FlushErrorState();
    unplanned = true;
  }
  PG_END_TRY();
  (void)PlanBlindly(before);
  if (unplanned)
    RefusePrivately(nullptr, "rows of persons cannot be joined with these others as they come",
                    "Join on equal columns, and leave LATERAL away.");
}

// Before the debit.
void PreparePart(void* argument) {
  const auto* reading = static_cast<Reading*>(argument);
  const ListCell* cell;
  foreach (cell, reading->level->relations) (void)LockForReading(lfirst_oid(cell));
  RequireTrustedCode(reading->part, reading->owner);
  // Times are read and written as who asks does. Rows of persons are never sorted.
  SetUnlessSo("TimeZone", reading->time_zone);
  SetUnlessSo("DateStyle", reading->date_style);
  SetUnlessSo("enable_mergejoin", "off");
  // Nor looked through once for each of others.
  if (ReadsSeveral(reading->part, reading->level->relations)) SetUnlessSo("enable_nestloop", "off");
  if (reading->collector == nullptr) RequirePlan(reading);
}

// The columns lie at these places of the rows that come; null: they are the rows.
void FindInRows(Collector* collector, const int* places) {
  collector->places = places;
  if (places == nullptr) return;
  const int count = list_length(collector->level->part->targetList);
  collector->row = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(count)));
  collector->row_nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i) collector->last_place = Max(collector->last_place, places[i]);
}

void RunPart(void* argument) {
  const auto* reading = static_cast<Reading*>(argument);
  const int* places;
  PlannedStmt* plan = PlanPart(reading, &places);
  FindInRows(reading->collector, places);
  const double expected = plan->planTree->plan_rows * kMoreRows;
  CallCoreOrRaise([&] {
    reading->collector->collected->sums.Expect(static_cast<std::size_t>(Min(Max(expected, 0), kMostExpected)));
  });
  QueryDesc* query = CreateQueryDesc(plan, "", GetActiveSnapshot(), InvalidSnapshot, &reading->collector->receiver,
                                     nullptr, nullptr, 0);
  ExecutorStart(query, 0);
  RunToEnd(query);
  HandOver(reading->collector);
  ExecutorFinish(query);
  ExecutorEnd(query);
  FreeQueryDesc(query);
}

void TakeRecords(void* argument) {
  const auto* reading = static_cast<Reading*>(argument);
  Collected* collected = reading->collector->collected;
  const std::size_t groups = reading->level->key_count == 0 ? 1 : collected->rows.keys.size();
  RunCancellable([&] {
    collected->groups.clear();
    collected->memo.Clear();
    if (reading->level->key_count == 0) collected->rows.keys.assign(1, "");
    collected->rows.records = collected->sums.Finish(groups, StatementEnds);
  });
}

}  // namespace

ValueGrid GridOfValue(const PrivateLevel* level, int value) {
  const TargetEntry* target = TargetOf(level, level->person_count + level->key_count + value);
  return ColumnGrid(reinterpret_cast<const Node*>(target->expr), IsSummed(level, value));
}

void PreparePersons(const Question* question, const PrivateLevel* level, ::Query* part) {
  Reading reading = ReadingOf(question, level, part);
  const OwnerReading steps = {kSteps, PreparePart, RunPart, TakeRecords, &reading};
  PrepareAsOwner(question, &steps);
}

PersonRows* ReadPersons(Debit* debit, const PrivateLevel* level, ::Query* part, const PublicGroups* groups) {
  Reading reading = ReadingOf(debit->question, level, part);
  reading.collector = NewCollector(level, groups);
  const OwnerReading steps = {kSteps, PreparePart, RunPart, TakeRecords, &reading};
  return ReadAsOwner(debit, &steps) ? &reading.collector->collected->rows : nullptr;
}

}  // namespace privacy_score
