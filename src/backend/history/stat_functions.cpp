/*
 * stat_functions.cpp - what the shared state shows, flush(), resets, alerts; who may read of whom, whether a role is
 * watched, today.
 */
#include "backend/state/flush_request.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/shared_state.hpp"
#include "backend/state/watching.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(ps_live_sessions);
PG_FUNCTION_INFO_V1(ps_shared_info);
PG_FUNCTION_INFO_V1(ps_flush);
PG_FUNCTION_INFO_V1(ps_reset_stats);
PG_FUNCTION_INFO_V1(ps_acknowledge_alert);
PG_FUNCTION_INFO_V1(ps_may_read);
PG_FUNCTION_INFO_V1(ps_today);
PG_FUNCTION_INFO_V1(ps_role_watching);
PG_FUNCTION_INFO_V1(ps_warn_unless_preloaded);
}

#include <algorithm>

#include "backend/server/compat.hpp"

namespace {

constexpr const char* kNotPreloaded = "the library is not preloaded";

// The slot of this database; raises without preload or when the table of databases is full.
DatabaseSlot* RequireSlot() {
  RequirePreload();
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr)
    ereport(
        ERROR,
        (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
         errmsg("privacy_score watches at most %d databases", kMaxDatabases),
         errhint("Dropped databases give their places back when a worker of privacy_score starts in another one.")));
  return slot;
}

// Tokens of an abstraction among definitions not yet written, as text[]; 0 when it is not there. The lists are only
// changed by their owner at the end and by the worker under the slot's lock, which the caller holds.
Datum PendingTokens(const PendingHistory* history, int64 id) {
  NoteReader reader(history->definitions);
  for (DefinitionHead head; reader.Next(&head);) {
    const auto length = static_cast<Size>(head.length);
    if (head.id == id) return TokenArrayOf({ReadNoteText(&reader, head.length), length});
    reader.Read(nullptr, length);
  }
  return Datum(0);
}

void PutSession(FunctionCallInfo fcinfo, LiveSession* copy) {
  const privacy_score::SessionSummary& summary = copy->summary;
  Datum tokens = PendingTokens(&copy->open, copy->last_id);
  if (tokens == 0) tokens = PendingTokens(&copy->sealed, copy->last_id);
  const ConnectionContext& context = copy->context;
  const char* method = AuthenticationName(context);
  Datum address = Datum(0);
  if (context.address[0] != '\0') address = DirectFunctionCall1(inet_in, CStringGetDatum(context.address));
  constexpr int kReachColumns = 16;  // the first of them
  constexpr int kColumns = kReachColumns + privacy_score::kReachFigureCount + 9;
  Datum values[kColumns] = {Int32GetDatum(copy->pid),
                            NameGetDatum(&copy->role_name),
                            CStringGetTextDatum(copy->session),
                            TimestampTzGetDatum(copy->started),
                            Int64GetDatum(summary.queries),
                            Int64GetDatum(summary.ngrams),
                            Int64GetDatum(summary.mismatched),
                            Float8GetDatum(summary.score),
                            Float8GetDatum(summary.max_score),
                            Float8GetDatum(summary.normalised),
                            BoolGetDatum(summary.estimated || summary.peer_estimated),
                            TimestampTzGetDatum(copy->last_at),
                            Int64GetDatum(copy->last_id),
                            tokens,
                            Float8GetDatum(summary.statement_score),
                            Int64GetDatum(copy->rows),
                            Int64GetDatum(copy->reach.values[0]),
                            Int64GetDatum(copy->reach.values[1]),
                            Int32GetDatum(static_cast<int32>(copy->reach.values[2])),
                            Float8GetDatum(summary.statement_score),  // enforced: of a session it is that
                            CStringGetTextDatum(EndUserOf(copy)),
                            address,
                            CStringGetTextDatum(context.program),
                            BoolGetDatum(context.tls),
                            CStringGetTextDatum(method),
                            Float8GetDatum(summary.peer_score),
                            Int64GetDatum(copy->reach.addressed),
                            Int64GetDatum(copy->reach.person)};
  bool nulls[kColumns] = {};
  nulls[0] = copy->pid == 0;
  nulls[13] = tokens == 0;
  nulls[kColumns - 8] = EndUserOf(copy)[0] == '\0';
  nulls[kColumns - 7] = context.address[0] == '\0';
  nulls[kColumns - 6] = nulls[kColumns - 5] = !context.known;
  nulls[kColumns - 4] = method[0] == '\0';
  nulls[kColumns - 3] = summary.peer_score < 0;
  nulls[kColumns - 2] = nulls[kColumns - 1] = !copy->reach_known;
  for (int figure = 0; figure < privacy_score::kReachFigureCount; ++figure)
    nulls[kReachColumns + figure] = !copy->reach_known;
  PutResultRow(fcinfo, values, nulls);
}

}  // namespace

// live_sessions(): copies each session under its mutex; the slot's lock keeps it from being freed meanwhile.
Datum ps_live_sessions(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  DatabaseSlot* slot = RequireSlot();
  LWLockAcquire(slot->lock, LW_SHARED);
  for (LiveSession *next, *session = slot->sessions; session != nullptr; session = next) {
    LiveSession copy;
    SpinLockAcquire(&session->mutex);
    copy = *session;
    SpinLockRelease(&session->mutex);
    if (!copy.closed && MayReadRole(copy.role)) PutSession(fcinfo, &copy);
    next = copy.next;
  }
  LWLockRelease(slot->lock);
  return Datum(0);
}

// shared_info()
Datum ps_shared_info(PG_FUNCTION_ARGS) {
  constexpr int kColumns = 14;
  InitMaterializedSRF(fcinfo, 0);
  if (ps_shared == nullptr) {
    Datum values[kColumns] = {};
    bool nulls[kColumns];
    std::fill_n(nulls, kColumns, true);
    PutResultRow(fcinfo, values, nulls);
    return Datum(0);
  }
  const DatabaseSlot* slot = RequireSlot();
  const BlockPool& blocks = ps_shared->blocks;
  const auto bytes = [](int32 count) { return Int64GetDatum(static_cast<int64>(count) * kBlockSize); };
  LWLockAcquire(blocks.lock, LW_SHARED);
  const int32 pool_used = blocks.size - blocks.left;
  LWLockRelease(blocks.lock);
  Datum values[kColumns] = {Int64GetDatum(pg_atomic_read_u64(&ps_shared->memory_used)),
                            Int64GetDatum(ps_shared->size),
                            Int64GetDatum(pg_atomic_read_u64(&ps_shared->evictions)),
                            Int64GetDatum(EventsCounted()),
                            Int64GetDatum(pg_atomic_read_u64(&ps_shared->dropped)),
                            Int64GetDatum(pg_atomic_read_u64(&ps_shared->scoring_errors)),
                            Int64GetDatum(slot->missing_count + slot->stale_count),
                            Int32GetDatum(slot->worker_pid),
                            TimestampTzGetDatum(slot->last_flush),
                            TimestampTzGetDatum(ps_shared->stats_reset),
                            Int64GetDatum(pg_atomic_read_u64(&ps_shared->flush_errors)),
                            bytes(blocks.share),
                            bytes(pool_used),
                            bytes(blocks.size)};
  bool nulls[kColumns] = {};
  nulls[7] = slot->worker_pid == 0;
  nulls[8] = slot->last_flush == 0;
  PutResultRow(fcinfo, values, nulls);
  return Datum(0);
}

// flush(): asks the worker, starting one if need be, and waits for it.
Datum ps_flush(PG_FUNCTION_ARGS) {
  RequirePrimary("flush");
  AwaitFlush(RequireSlot());
  PG_RETURN_VOID();
}

// reset_stats()
Datum ps_reset_stats(PG_FUNCTION_ARGS) {
  RequirePrimary("reset_stats");
  RequirePreload();
  pg_atomic_write_u64(&ps_shared->evictions, 0);
  ResetEventsCounted();
  pg_atomic_write_u64(&ps_shared->dropped, 0);
  pg_atomic_write_u64(&ps_shared->scoring_errors, 0);
  pg_atomic_write_u64(&ps_shared->flush_errors, 0);
  ps_shared->stats_reset = GetCurrentTimestamp();
  InternalScope scope;
  EnterInternal(&scope);
  LockAbstractions();
  RunInternal("UPDATE privacy_score.abstraction SET calls = 0, rows = 0");
  LeaveInternal(&scope);
  PG_RETURN_TIMESTAMPTZ(ps_shared->stats_reset);
}

// acknowledge_alert(id)
Datum ps_acknowledge_alert(PG_FUNCTION_ARGS) {
  RequirePrimary("acknowledge_alert");
  const char* args[] = {TextOfInteger(PG_GETARG_INT64(0)), GetUserNameFromId(GetUserId(), false)};
  InternalScope scope;
  EnterInternal(&scope);
  const uint64 found = RunInternal(
      "UPDATE privacy_score.alert SET acknowledged_at = COALESCE(acknowledged_at, pg_catalog.now()), "
      "acknowledged_by = COALESCE(acknowledged_by, $2::pg_catalog.name) WHERE id = $1::pg_catalog.int8",
      2, args);
  LeaveInternal(&scope);
  if (found == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("alert %s does not exist", args[0]),
                    errhint("privacy_score.alerts lists the alerts.")));
  PG_RETURN_VOID();
}

// may_read(role): the role itself, and those who may read all statistics. A role that was dropped has only the latter.
Datum ps_may_read(PG_FUNCTION_ARGS) {
  const Oid role = get_role_oid(NameStr(*PG_GETARG_NAME(0)), true);
  PG_RETURN_BOOL(MayReadRole(role));
}

// today()
Datum ps_today(PG_FUNCTION_ARGS) { PG_RETURN_DATEADT(DayOf(GetCurrentTimestamp())); }

// warn_unless_preloaded()
Datum ps_warn_unless_preloaded(PG_FUNCTION_ARGS) {
  WarnUnlessPreloaded();
  PG_RETURN_VOID();
}

// role_watching(role): whether the role is watched, and why.
Datum ps_role_watching(PG_FUNCTION_ARGS) {
  const char* name = NameStr(*PG_GETARG_NAME(0));
  const Oid role = ReadableRole(name);
  if (!OidIsValid(role))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role \"%s\" does not exist", name),
                    errhint("pg_roles lists the roles of this server; names are written as they stand there.")));
  const char* reason;
  bool watched = Counts(ClassOfRole(role, &reason));
  if (ps_shared == nullptr) {
    watched = false;
    reason = kNotPreloaded;
  }
  InitMaterializedSRF(fcinfo, 0);
  Datum values[2] = {BoolGetDatum(watched), CStringGetTextDatum(reason)};
  bool nulls[2] = {};
  PutResultRow(fcinfo, values, nulls);
  return Datum(0);
}
