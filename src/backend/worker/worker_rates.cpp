/*
 * worker_rates.cpp - rates that scoring asks for and rates that are out of date, computed in rounds.
 *
 * All that a round computes of one relation comes from one pass over its rows. A round with a large relation is
 * computed by a process of its own, so that history goes on being written: the worker of the database starts it, writes
 * and follows the model while it runs, and then goes on as if it had computed the round itself. Large is what has many
 * rows or, with what is stored aside, many bytes. Where no process can be started, or nothing is large, the worker does
 * compute it itself, within a time that ends in any case: what takes longer, as values that are large only when they
 * are unpacked do, is left to the process from then on.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/timeout.h"
}

#include <string_view>

#include "backend/catalog/relation_access.hpp"
#include "backend/rates/rate_admission.hpp"
#include "backend/rates/shard_counters.hpp"
#include "backend/server/guarded.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/rate_requests.hpp"
#include "backend/worker/in_time.hpp"
#include "backend/worker/worker_baselines.hpp"

namespace privacy_score {

extern "C" {
PGDLLEXPORT void ps_rates_main(Datum database);
}

namespace {

// Of at most so many rows a rate takes well below a second.
constexpr const char* kLargeRows = "100000";
// The same of bytes, stored aside or not.
constexpr int64 kLargeBytes = 16 * 1024 * 1024;

// How long the worker computes rates of one relation on a standby, where nobody else can, in milliseconds; elsewhere
// for `rate_patience`.
constexpr int kPatienceOnStandby = 10000;

// Relations that took longer, in this process; the newest take the place of the oldest.
constexpr int kMostSlow = 256;
Oid slow_relations[kMostSlow];
int next_slow = 0;

bool IsKnownSlow(Oid relation) {
  for (const Oid slow : slow_relations)
    if (slow == relation) return true;
  return false;
}

// One round: the rates that it was given, and what became of them.
struct Round {
  DatabaseSlot* slot;
  WantedRate* wanted;
  int count;
  int patience;                                      // milliseconds a relation; 0: as long as it takes
  bool alone;                                        // nobody else computes what takes longer
  bool handed_on;                                    // some took longer and are left to somebody else
  int32 settled;                                     // of those asked for: need not be asked for again
  int32 stale_left;                                  // still out of date
  StringInfoData asked_relations, asked_attributes;  // all that were asked for, as literals of text[]
};

void AddToRound(Round* round, const char* relation, const char* attributes, bool is_stale) {
  constexpr int kFirst = 64;
  if (round->count == 0)
    round->wanted = static_cast<WantedRate*>(palloc(sizeof(WantedRate) * kFirst));
  else if (round->count >= kFirst && (round->count & (round->count - 1)) == 0)
    round->wanted = static_cast<WantedRate*>(
        repalloc_huge(round->wanted, sizeof(WantedRate) * 2 * static_cast<Size>(round->count)));
  round->wanted[round->count++] = {relation, attributes, is_stale};
}

// Takes the list of wanted rates out of shared memory.
void TakeAsked(Round* round) {
  for (StringInfo array : {&round->asked_relations, &round->asked_attributes}) {
    initStringInfo(array);
    appendStringInfoChar(array, '{');
  }
  TakenRates taken;
  LWLockAcquire(round->slot->lock, LW_EXCLUSIVE);
  TakeAskedRates(round->slot, &taken);
  LWLockRelease(round->slot->lock);
  UseTaken(taken, [round](const AskedRate& asked) {
    const char* relation = pstrdup(asked.relation);
    const char* attributes = pnstrdup(asked.attributes.data(), asked.attributes.size());
    AddToRound(round, relation, attributes, false);
    AppendArrayElement(&round->asked_relations, relation);
    AppendArrayElement(&round->asked_attributes, attributes);
    ++round->settled;
  });
  for (StringInfo array : {&round->asked_relations, &round->asked_attributes}) appendStringInfoChar(array, '}');
}

// Adds the stored rates that are out of date. Inside an internal scope.
void AddStale(Round* round) {
  if (SPI_execute("SELECT r.relation_name, pg_catalog.array_to_string(r.attributes, pg_catalog.chr(1)) "
                  "FROM privacy_score.rate_state r WHERE r.stale AND NOT r.gone",
                  true, 0) != SPI_OK_SELECT)
    elog(ERROR, "could not read the rates that are out of date");
  const SPITupleTable* table = SPI_tuptable;
  for (uint64 row = 0; row < table->numvals; ++row)
    AddToRound(round, SPI_getvalue(table->vals[row], table->tupdesc, 1),
               SPI_getvalue(table->vals[row], table->tupdesc, 2), true);
}

// Leaves out what is stored by now: the next model has it, or it waits for room. Inside an internal scope. On a standby
// what there is no room for is computed once more.
void LeaveOutStored(Round* round) {
  if (round->count == 0 || RecoveryInProgress()) return;
  const char* args[] = {round->asked_relations.data, round->asked_attributes.data};
  const char* stored = InternalValue(
      "SELECT pg_catalog.string_agg(CASE WHEN r.rate IS NULL THEN 'f' ELSE 't' END, '' ORDER BY a.n) FROM ROWS FROM ("
      "pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) WITH ORDINALITY a(relation, attributes, n) "
      "LEFT JOIN privacy_score.rate r ON r.relation_name = a.relation "
      "AND r.attributes = pg_catalog.string_to_array(a.attributes, pg_catalog.chr(1))",
      2, args);
  int left = 0;
  for (int i = 0; i < round->count; ++i)
    if (stored[i] == 'f') round->wanted[left++] = round->wanted[i];
  round->count = left;
}

// Leaves a rate for another round.
void LeaveRate(Round* round, const WantedRate* wanted) {
  if (wanted->is_stale) {
    ++round->stale_left;
    return;
  }
  PutBackRate(round->slot, wanted->relation, wanted->attributes);
  --round->settled;
}

uint64 WantedRateHash(const WantedRate* wanted) {
  const auto hash = [](const char* text, uint64 seed) {
    return hash_bytes_extended(reinterpret_cast<const unsigned char*>(text), static_cast<int>(strlen(text)), seed);
  };
  return hash(wanted->attributes, hash(wanted->relation, 0));
}

// Forgets that the rate failed: it is tried again.
void ForgetFault(DatabaseSlot* slot, const WantedRate* wanted) {
  if (!DsaPointerIsValid(slot->faults)) return;
  const uint64 hash = WantedRateHash(wanted);
  for (auto& fault : SharedAt<RateFaults>(slot->faults)->faults)
    if (fault.hash == hash) fault = {0, 0};
}

void RememberFault(DatabaseSlot* slot, const WantedRate* wanted) {
  if (!DsaPointerIsValid(slot->faults)) slot->faults = AllocateShared(sizeof(RateFaults));
  if (!DsaPointerIsValid(slot->faults)) return;
  auto* faults = SharedAt<RateFaults>(slot->faults);
  faults->faults[faults->next] = {WantedRateHash(wanted), GetCurrentTimestamp()};
  faults->next = (faults->next + 1) % RateFaults::kMost;
}

// One of a relation that is locked, or was changed meanwhile, is worth another try. What was stored of any other no
// longer holds.
void OnFault(void* context, const WantedRate* wanted, const ErrorData* error) {
  auto* round = static_cast<Round*>(context);
  if (WasDisturbed(error)) {
    LeaveRate(round, wanted);
    return;
  }
  pg_atomic_fetch_add_u64(&ps_shared->scoring_errors, 1);
  ereport(LOG,
          (errmsg("could not compute a discrimination rate of relation %s: %s", wanted->relation, error->message)));
  RememberFault(round->slot, wanted);
  if (!wanted->is_stale) return;
  const char* args[] = {wanted->relation, wanted->attributes};
  // Its owner's transaction may have the row locked.
  RunInternal(
      "DELETE FROM privacy_score.rate WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM privacy_score.rate r "
      "WHERE r.relation_name = $1 AND r.attributes = pg_catalog.string_to_array($2, pg_catalog.chr(1)) "
      "FOR UPDATE SKIP LOCKED))",
      2, args);
}

// What takes longer than there is time for: left to a process of its own, or if there is none a fault.
void OnTimeOver(Round* round, const WantedRate* wanted, int count) {
  const Oid relation = RelationOfCanonicalName(wanted[0].relation);
  if (!round->alone && OidIsValid(relation)) {
    slow_relations[next_slow] = relation;
    next_slow = (next_slow + 1) % kMostSlow;
    round->handed_on = true;
  } else {
    ereport(LOG, (errmsg("computing discrimination rates of relation %s takes too long", wanted[0].relation),
                  errhint("Where a background process can be started it computes them: raise max_worker_processes.")));
  }
  for (int i = 0; i < count; ++i)
    if (round->alone)
      RememberFault(round->slot, &wanted[i]);
    else
      LeaveRate(round, &wanted[i]);
}

// Computes what the round has of one relation, from `first` on; returns where the next relation begins.
int ComputeNext(Round* round, ComputedRates* computed, int first) {
  // One that has failed is not tried again for so long.
  const TimestampTz lately = GetCurrentTimestamp() - int64{ps_settings.rate_fault_pause} * 1000;
  WantedRate* wanted = round->wanted;
  int next = first;
  int left = first;  // those that are to be computed stand from `first` to here
  for (; next < round->count && strcmp(wanted[next].relation, wanted[first].relation) == 0; ++next) {
    if (!wanted[next].is_stale && HasFailed(round->slot, &wanted[next], lately)) continue;
    const WantedRate kept = wanted[next];
    wanted[next] = wanted[left];
    wanted[left++] = kept;
  }
  for (int i = first; i < left; ++i) ForgetFault(round->slot, &wanted[i]);
  const int count = left - first;
  if (count > 0 &&
      !InTime(round->patience, [=] { ComputeRatesApart(computed, wanted + first, count, OnFault, round); }))
    OnTimeOver(round, wanted + first, count);
  return next;
}

// The relations whose columns are asked for, and those that these are joined at, as the literal of a text[]; null when
// nothing is.
char* RelationsAskedFor(DatabaseSlot* slot) {
  StringInfoData names;
  initStringInfo(&names);
  appendStringInfoChar(&names, '{');
  const char* last = "";
  // It is the same in most of them.
  const auto add = [&](std::string_view relation) {
    if (relation == last) return;
    last = pnstrdup(relation.data(), relation.size());
    AppendArrayElement(&names, last);
  };
  LWLockAcquire(slot->lock, LW_SHARED);
  ForEachAskedRate(slot, [&](AskedRate asked) {
    add(asked.relation);
    while (!asked.attributes.empty()) add(privacy_score::RelationOfColumn(TakeAttribute(&asked.attributes)));
  });
  LWLockRelease(slot->lock);
  return names.len == 1 ? nullptr : psprintf("%s}", names.data);
}

// Whether a relation is large by its bytes, or has turned out to be slow. Of one that somebody holds locked nothing is
// computed now.
bool IsLarge(Oid relation) {
  if (IsKnownSlow(relation)) return true;
  if (!ConditionalLockRelationOid(relation, AccessShareLock)) return false;
  int64 blocks = 0;
  if (::Relation table = try_relation_open(relation, NoLock)) {
    blocks = RelationGetNumberOfBlocks(table);
    const Oid aside = table->rd_rel->reltoastrelid;
    if (OidIsValid(aside)) {
      ::Relation toast = relation_open(aside, AccessShareLock);
      blocks += RelationGetNumberOfBlocks(toast);
      relation_close(toast, AccessShareLock);
    }
    relation_close(table, NoLock);
  }
  UnlockRelationOid(relation, AccessShareLock);
  return blocks * BLCKSZ > kLargeBytes;
}

// Whether a round would read a relation that is large, by its bytes or by the server's statistics, whose rows are
// elsewhere, or of which the planner evaluates expressions: they may take any time.
bool AnyIsSlow(DatabaseSlot* slot) {
  const char* args[] = {RelationsAskedFor(slot), kLargeRows};
  if (args[0] == nullptr && slot->stale_count == 0) return false;
  WorkTransaction work;
  BeginWork(&work);
  char* rest = InternalValue(
      "SELECT CASE WHEN pg_catalog.bool_or(c.relkind NOT IN ('r', 'm') "
      "OR c.relhassubclass "
      "OR EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR "
      "i.indpred IS NOT NULL)) "
      "OR EXISTS (SELECT FROM pg_catalog.pg_statistic_ext s WHERE s.stxrelid = c.oid AND s.stxexprs IS NOT NULL) "
      "OR GREATEST(c.reltuples, pg_catalog.pg_stat_get_live_tuples(c.oid)) > "
      "$2::pg_catalog.int8) THEN '0' ELSE pg_catalog.string_agg(c.oid::text, ' ') END "
      "FROM pg_catalog.pg_class c WHERE c.oid IN (SELECT pg_catalog.to_regclass(n.name) FROM ("
      "SELECT pg_catalog.unnest($1::text[]) UNION SELECT pg_catalog.unnest(r.sources) "
      "FROM privacy_score.rate_state r WHERE r.stale) n(name))",
      2, args);
  bool slow = false;
  while (!slow && rest != nullptr && *rest != '\0') {
    const Oid relation = static_cast<Oid>(strtoul(rest, &rest, 10));
    slow = !OidIsValid(relation) || IsLarge(relation);
  }
  EndWork(&work);
  return slow;
}

// How many stored rates are out of date, and how many of those are of relations that no longer exist.
struct RateStates {
  int32 stale, gone;
};

RateStates CountRateStates() {
  const char* counts = KeptInternalValue(
      "SELECT pg_catalog.concat_ws(' ', pg_catalog.count(*) FILTER (WHERE r.stale), pg_catalog.count(*) "
      "FILTER (WHERE r.gone)) FROM privacy_score.rate_state r",
      0, nullptr);
  char* end = nullptr;
  const auto stale = static_cast<int32>(strtol(counts, &end, 10));
  return {stale, static_cast<int32>(strtol(end, nullptr, 10))};
}

// Copies the counters of shards, in a transaction of its own. A fault of what Citus runs is not the worker's, nor does
// it wait for a node that has taken the question and does not answer.
void CopyCountersApart() {
  WorkTransaction work;
  BeginWork(&work);
  const bool in_time = InTime(ps_settings.node_timeout, [] {
    if (const ErrorData* error = InSubtransaction([] { CopyShardCounters(); }))
      ereport(WARNING, (errmsg("could not count the rows of shards: %s", error->message)));
  });
  if (!in_time) ereport(WARNING, (errmsg("could not count the rows of shards: a node does not answer")));
  EndWork(&work);
}

}  // namespace

bool HasFailed(DatabaseSlot* slot, const WantedRate* wanted, TimestampTz since) {
  if (!DsaPointerIsValid(slot->faults)) return false;
  const auto* faults = SharedAt<RateFaults>(slot->faults);
  const uint64 hash = WantedRateHash(wanted);
  for (const auto& fault : faults->faults)
    if (fault.hash == hash && fault.at > since) return true;
  return false;
}

void PutBackRate(DatabaseSlot* slot, std::string_view relation, std::string_view attributes) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  AskForRate(slot, relation, attributes, nullptr);
  LWLockRelease(slot->lock);
}

int32 CountStaleRates(DatabaseSlot* slot) {
  static TimestampTz looked_at = 0;
  const TimestampTz now = GetCurrentTimestamp();
  if (RecoveryInProgress() || now - looked_at < int64{ps_settings.rate_check_interval} * 1000) return -1;
  looked_at = now;
  WorkTransaction work;
  BeginWork(&work);
  RateStates states = CountRateStates();
  if (states.gone > 0) {
    // Others may have a rate locked for as long as their transaction lasts.
    RunInternal(
        "DELETE FROM privacy_score.rate WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM privacy_score.rate r "
        "JOIN privacy_score.rate_state s USING (relation_name, attributes) WHERE s.gone FOR UPDATE OF r SKIP LOCKED))");
    states = CountRateStates();
  }
  const bool shards = HasShards();
  LookAtBaselines(slot);
  EndWork(&work);
  if (shards) CopyCountersApart();
  return states.stale;
}

namespace {

// What ComputeRound does, in this process, with so much patience for a relation.
bool ComputeMissingRates(DatabaseSlot* slot, int patience, bool alone) {
  Round round = {slot, nullptr, 0, patience, alone, false, 0, 0, {}, {}};
  TakeAsked(&round);
  const int32 stale_before = slot->stale_count;
  if (round.count == 0 && stale_before == 0) return false;
  const TimestampTz until = GetCurrentTimestamp() + USECS_PER_SEC;
  const TimestampTz period = slot->rates_period;
  ComputedRates in_transaction;
  ComputedRates* computed = UnstoredRates();
  if (computed == nullptr) InitComputedRates(computed = &in_transaction);
  const int known = computed->count;
  WorkTransaction work;
  BeginWork(&work);
  LeaveOutStored(&round);
  if (stale_before > 0) AddStale(&round);
  SortWanted(round.wanted, round.count);
  SetWithin("lock_timeout", "200ms");
  BeginProgress("worker", InvalidOid, "computing rates");
  ps_computing_rates = 1;
  for (int at = 0; at < round.count;) {
    CHECK_FOR_INTERRUPTS();
    SetProgress(static_cast<uint64>(at), static_cast<uint64>(round.count));
    // Relations that a round does not come to in its time are left for the next.
    if (GetCurrentTimestamp() < until)
      at = ComputeNext(&round, computed, at);
    else
      LeaveRate(&round, &round.wanted[at++]);
  }
  ps_computing_rates = 0;
  EndProgress();
  int64 waiting = 0;
  if (period != 0 && !RecoveryInProgress())
    waiting = GiveRoom(period, round.asked_relations.data, round.asked_attributes.data);
  EndWork(&work);
  pg_atomic_fetch_add_u64(&ps_shared->evictions, static_cast<uint64>(waiting));
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  slot->rates_wait |= waiting > 0 && slot->rates_period == period;
  if (computed->count > known) ++slot->rounds;
  slot->missing_count -= round.settled;
  slot->stale_count = round.stale_left;
  LWLockRelease(slot->lock);
  // What is left to a process of its own is its at once: this one may leave when nobody is there any more.
  return round.settled > 0 || round.stale_left < stale_before || round.handed_on;
}

}  // namespace

bool ComputeRound(DatabaseSlot* slot, void (*meanwhile)(DatabaseSlot*)) {
  if (RecoveryInProgress()) return ComputeMissingRates(slot, kPatienceOnStandby, true);
  if (!AnyIsSlow(slot)) return ComputeMissingRates(slot, ps_settings.rate_patience, false);
  slot->round_settled = -1;
  BackgroundWorkerHandle* handle = StartProcess("rates", "ps_rates_main");
  if (handle == nullptr) return ComputeMissingRates(slot, ps_settings.rate_patience, true);
  for (;;) {
    pid_t pid;
    const BgwHandleStatus status = GetBackgroundWorkerPid(handle, &pid);
    if (status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED) break;
    if (ShutdownRequestPending) {
      TerminateBackgroundWorker(handle);
      return false;
    }
    ResetLatch(MyLatch);
    PG_TRY();
    {
      CHECK_FOR_INTERRUPTS();
      meanwhile(slot);
    }
    PG_CATCH();
    {
      // Its round would go on beside the next one.
      TerminateBackgroundWorker(handle);
      PG_RE_THROW();
    }
    PG_END_TRY();
    WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ps_settings.flush_interval,
              WaitEventOf(OwnWait::kRates));
  }
  // What it had taken is asked for again.
  if (slot->round_settled < 0) ereport(ERROR, (errmsg("the process that computes rates has ended early")));
  return slot->round_settled > 0;
}

void ps_rates_main(Datum database) {
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  SettleWorkerSettings();
  DatabaseSlot* slot = SlotOfDatabase(false);
  if (slot == nullptr) proc_exit(0);
  MemoryContext round = AllocSetContextCreate(TopMemoryContext, "privacy_score round", ALLOCSET_DEFAULT_SIZES);
  MemoryContextSwitchTo(round);
  slot->round_settled = ComputeMissingRates(slot, 0, true) ? 1 : 0;
  proc_exit(0);
}

}  // namespace privacy_score
