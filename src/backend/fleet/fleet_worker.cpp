/*
 * fleet_worker.cpp - see fleet_worker.hpp.
 */
#include "backend/fleet/fleet_worker.hpp"

extern "C" {
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
}

#include "backend/fleet/fleet_copies.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/worker/worker.hpp"

namespace privacy_score {

extern "C" {
PGDLLEXPORT void ps_hub_main(Datum);
PGDLLEXPORT void ps_collector_main(Datum member);
}

namespace {

// --- what both have
void AwaitWork(OwnWait wait, int milliseconds) {
  pgstat_report_activity(STATE_IDLE, nullptr);
  (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds, WaitEventOf(wait));
  ResetLatch(MyLatch);
  CHECK_FOR_INTERRUPTS();
  if (!ConfigReloadPending) return;
  ConfigReloadPending = false;
  ProcessConfigFile(PGC_SIGHUP);
}

// Runs `work` in a transaction of the worker; null when it was committed, or the extension is gone, else what went
// wrong, in the memory context of the caller. What ends the process is raised.
template <typename Work>
const char* InTransaction(Work work) {
  MemoryContext caller = CurrentMemoryContext;
  const char* volatile problem = nullptr;
  PG_TRY();
  {
    WorkTransaction transaction;
    if (BeginWorkUnlessGone(&transaction)) {
      work();
      EndWork(&transaction);
    }
  }
  PG_CATCH();
  {
    if (ProcDiePending) PG_RE_THROW();
    MemoryContextSwitchTo(caller);
    ErrorData* error = CopyErrorData();
    problem = error->detail == nullptr ? error->message : psprintf("%s: %s", error->message, error->detail);
    HOLD_INTERRUPTS();
    disable_all_timeouts(false);
    QueryCancelPending = false;
    FlushErrorState();
    AbortOutOfAnyTransaction();
    RESUME_INTERRUPTS();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(caller);
  return problem;
}

// --- the process that starts collectors
struct Collector {
  int32 member;  // 0: none
  BackgroundWorkerHandle* handle;
};
constexpr int kMostMembers = 256;
Collector collectors[kMostMembers];

void StartCollector(Collector* collector, int32 member) {
  BackgroundWorker worker;
  memset(&worker, 0, sizeof worker);
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
  worker.bgw_restart_time = BGW_NEVER_RESTART;
  worker.bgw_main_arg = Int32GetDatum(member);
  worker.bgw_notify_pid = MyProcPid;
  memcpy(worker.bgw_extra, &MyDatabaseId, sizeof MyDatabaseId);
  strlcpy(worker.bgw_library_name, "privacy_score", BGW_MAXLEN);
  strlcpy(worker.bgw_function_name, "ps_collector_main", BGW_MAXLEN);
  snprintf(worker.bgw_name, BGW_MAXLEN, "privacy_score collector for member %d", member);
  strlcpy(worker.bgw_type, "privacy_score collector", BGW_MAXLEN);
  static bool told = false;
  MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
  const bool started = RegisterDynamicBackgroundWorker(&worker, &collector->handle);
  MemoryContextSwitchTo(caller);
  if (started) collector->member = member;
  if (!started && !told)
    ereport(LOG, (errmsg("there is no process left to collect from member %d", member),
                  errhint("Raise max_worker_processes: a hub takes one, and one a member.")));
  told = !started;
}

bool IsMember(const List* members, int32 member) { return list_member_int(members, member); }

// Starts what is missing, and ends what collects from somebody who is no member any more.
void FollowMembers(const List* members) {
  for (Collector& collector : collectors) {
    if (collector.member == 0) continue;
    pid_t pid = 0;
    const bool ended = GetBackgroundWorkerPid(collector.handle, &pid) == BGWH_STOPPED;
    if (!ended && !IsMember(members, collector.member)) TerminateBackgroundWorker(collector.handle);
    if (!ended) continue;
    pfree(collector.handle);
    collector = {};
  }
  ListCell* cell;
  foreach (cell, members) {
    const int32 member = lfirst_int(cell);
    Collector* free = nullptr;
    bool runs = false;
    for (Collector& collector : collectors) {
      runs = runs || collector.member == member;
      if (collector.member == 0 && free == nullptr) free = &collector;
    }
    if (!runs && free != nullptr) StartCollector(free, member);
  }
}

// Whoever ends the hub's process ends them: the next one starts its own.
void EndCollectors(int, Datum) {
  for (const Collector& collector : collectors)
    if (collector.member != 0) TerminateBackgroundWorker(collector.handle);
}

// The members, in the current memory context; none where the extension is not in this database.
List* ReadMembers() {
  MemoryContext caller = CurrentMemoryContext;
  List* members = NIL;
  static const char* told = nullptr;
  const char* problem = InTransaction([&] {
    if (InternalValue("SELECT pg_catalog.to_regclass('privacy_score.fleet_member')") == nullptr) return;
    if (SPI_execute("SELECT m.id::pg_catalog.int8 FROM privacy_score.fleet_member m ORDER BY m.id", true, 0) < 0)
      return;
    MemoryContext inner = MemoryContextSwitchTo(caller);
    for (uint64 row = 0; row < SPI_processed; ++row)
      members = lappend_int(members, static_cast<int>(FieldNumber(row, 0)));
    MemoryContextSwitchTo(inner);
  });
  if (problem != nullptr && told == nullptr)
    ereport(LOG, (errmsg("could not read the members of the fleet: %s", problem)));
  told = problem == nullptr ? nullptr : "told";
  return members;
}

// --- a collector
constexpr int kDaysEvery = 5;                // cycles
constexpr int64 kAllEvery = USECS_PER_HOUR;  // every day and alert is looked at again
constexpr int kFailedOrdersEvery = 60;       // seconds

// Ends a statement of ours that takes too long, like statement_timeout.
template <typename Work>
void Within(int milliseconds, Work work) {
  enable_timeout_after(STATEMENT_TIMEOUT, milliseconds);
  work();
  disable_timeout(STATEMENT_TIMEOUT, false);
}

// Has the member do what it is ordered to, a transaction an order, until one fails, which is tried again later.
void SendOrders(const char* member) {
  for (;;) {
    const char* order = nullptr;
    MemoryContext caller = CurrentMemoryContext;
    const char* problem = InTransaction([&] {
      const char* args[] = {member, TextOfInteger(kFailedOrdersEvery)};
      const char* id = InternalValue(
          "SELECT o.id FROM privacy_score.fleet_order o WHERE o.member = $1::pg_catalog.int4 AND o.kind <> 'seen' AND "
          "(o.failed_at IS NULL "
          "OR o.failed_at < pg_catalog.now() - $2::pg_catalog.int4 * '1 second'::pg_catalog.interval) "
          "ORDER BY o.id LIMIT 1",
          2, args);
      if (id == nullptr) return;
      order = MemoryContextStrdup(caller, id);
      const char* one[] = {order};
      Within(ps_settings.fleet_timeout, [&] {
        (void)RunInternal(
            psprintf("INSERT INTO %s (kind, detail) SELECT o.kind, o.detail FROM privacy_score.fleet_order o "
                     "WHERE o.id = $1::pg_catalog.int8",
                     OrdersOf(member)),
            1, one);
      });
      (void)RunInternal("DELETE FROM privacy_score.fleet_order WHERE id = $1::pg_catalog.int8", 1, one);
    });
    if (order == nullptr) return;
    if (problem == nullptr) continue;
    (void)InTransaction([&] {
      const char* args[] = {order, problem};
      (void)RunInternal(
          "UPDATE privacy_score.fleet_order SET failed_at = pg_catalog.clock_timestamp(), error = $2 WHERE id = "
          "$1::pg_catalog.int8",
          2, args);
    });
    return;
  }
}

// Whether this is a member still. In a transaction.
bool StillMember(const char* member) {
  const char* args[] = {member};
  return InternalValue("SELECT m.id FROM privacy_score.fleet_member m WHERE m.id = $1::pg_catalog.int4 FOR KEY SHARE",
                       1, args) != nullptr;
}

void NoteState(const char* member, const char* problem) {
  const char* args[] = {member, problem};
  (void)RunInternal(
      "INSERT INTO privacy_score.fleet_state AS s (member, tried_at, seen_at, error) VALUES ($1::pg_catalog.int4, "
      "pg_catalog.clock_timestamp(), CASE WHEN $2 IS NULL THEN pg_catalog.clock_timestamp() END, $2) ON CONFLICT "
      "(member) DO UPDATE SET tried_at = excluded.tried_at, seen_at = COALESCE(excluded.seen_at, s.seen_at), error = "
      "excluded.error",
      2, args);
}

enum class Collected { kYes, kNo, kNoMember };

// Asks the member once. Foreign tables are made in a transaction of their own, so that they stay where the next one
// fails; they may have gone with a server that was dropped and made anew.
Collected RunCollection(const char* member, bool days, bool all) {
  static bool reached = true;
  static bool has_tables = false;
  bool is_member = false;
  const char* problem = has_tables ? nullptr : InTransaction([&] {
    if (StillMember(member)) MakeForeignTables(member);
  });
  if (problem == nullptr)
    problem = InTransaction([&] {
      is_member = StillMember(member);
      if (!is_member) return;
      HoldForeignTables(member);
      Within(all ? Min(ps_settings.fleet_timeout, INT_MAX / 10) * 10 : ps_settings.fleet_timeout,
             [&] { CollectCopies(member, days, all); });
      NoteState(member, nullptr);
    });
  has_tables = problem == nullptr;
  if (problem != nullptr)
    (void)InTransaction([&] {
      if (StillMember(member)) NoteState(member, problem);
    });
  if (reached != (problem == nullptr)) {
    if (problem == nullptr)
      ereport(LOG, (errmsg("member %s of the fleet answers again", member)));
    else
      ereport(LOG, (errmsg("could not collect from member %s of the fleet: %s", member, problem)));
  }
  reached = problem == nullptr;
  if (problem != nullptr) return Collected::kNo;
  return is_member ? Collected::kYes : Collected::kNoMember;
}

}  // namespace

void ps_hub_main(Datum) {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnection(ps_settings.fleet_database, nullptr, 0);
  SettleWorkerSettings();
  pgstat_report_appname("privacy_score hub");
  before_shmem_exit(EndCollectors, Datum(0));
  MemoryContext cycle = AllocSetContextCreate(TopMemoryContext, "privacy_score hub", ALLOCSET_DEFAULT_SIZES);
  for (;;) {
    MemoryContextSwitchTo(cycle);
    FollowMembers(ReadMembers());
    MemoryContextSwitchTo(TopMemoryContext);
    MemoryContextReset(cycle);
    AwaitWork(OwnWait::kFleetMain, ps_settings.fleet_interval);
  }
}

void ps_collector_main(Datum member_number) {
  Oid database;
  memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof database);
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
  SettleWorkerSettings();
  pgstat_report_appname("privacy_score collector");
  const char* member = TextOfInteger(DatumGetInt32(member_number));
  MemoryContext cycle = AllocSetContextCreate(TopMemoryContext, "privacy_score collector", ALLOCSET_DEFAULT_SIZES);
  TimestampTz had_all = 0;
  for (int64 number = 0;; ++number) {
    const TimestampTz now = GetCurrentTimestamp();
    const bool all = now - had_all > kAllEvery;
    MemoryContextSwitchTo(cycle);
    const Collected collected = RunCollection(member, number % kDaysEvery == 0, all);
    if (collected == Collected::kNoMember) proc_exit(0);
    if (all && collected == Collected::kYes) had_all = now;
    // Afterwards, since what a member is to do may take it long.
    if (collected == Collected::kYes) SendOrders(member);
    MemoryContextSwitchTo(TopMemoryContext);
    MemoryContextReset(cycle);
    AwaitWork(OwnWait::kCollectorMain, ps_settings.fleet_interval);
  }
}

void RegisterHub() {
  if (ps_settings.fleet_database == nullptr || ps_settings.fleet_database[0] == '\0') return;
  BackgroundWorker worker;
  memset(&worker, 0, sizeof worker);
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
  worker.bgw_restart_time = 10;
  strlcpy(worker.bgw_library_name, "privacy_score", BGW_MAXLEN);
  strlcpy(worker.bgw_function_name, "ps_hub_main", BGW_MAXLEN);
  strlcpy(worker.bgw_name, "privacy_score hub", BGW_MAXLEN);
  strlcpy(worker.bgw_type, "privacy_score hub", BGW_MAXLEN);
  RegisterBackgroundWorker(&worker);
}

}  // namespace privacy_score
