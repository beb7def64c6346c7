/*
 * worker_flush.cpp - history from shared memory to tables.
 *
 * Sealing, writing and freeing follow the rules of shared_state.hpp: what is sealed does not change, is written in one
 * transaction for all sessions, and is freed after the commit. Parts are numbered, so writing one twice changes
 * nothing.
 */
#include "worker.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/builtins.h"
}

#include "alerts.hpp"
#include "settings.hpp"

namespace {

// A session with something to write, as it was when it was sealed.
struct FlushItem {
  dsa_pointer pointer;
  LiveSession copy;
  int64 row_id;
  int64 entries;  // of the part written
  int64 events;
  FlushItem* next;
};

// The sum that mode enforce goes by, as far as the session shows it; -1 while it rests on bounds or on no model in
// force.
double EnforcedOf(const LiveSession* session) {
  return session->model_version == 0 || session->summary.statement_estimated ? -1 : session->summary.statement_score;
}

// Whether the row of a session in the history says something else than the session does.
bool RowIsBehind(const LiveSession* session) {
  return session->refused != session->flushed_refused ||
         (session->row_id != 0 && EnforcedOf(session) != session->flushed_enforced);
}

// Seals what the session has gathered and copies its fields; false when there is nothing to write.
bool Seal(dsa_pointer pointer, FlushItem* item) {
  auto* session = SharedAt<LiveSession>(pointer);
  SpinLockAcquire(&session->mutex);
  PendingHistory* sealed = &session->sealed;
  const bool empty = !DsaPointerIsValid(sealed->chunks_first) && !DsaPointerIsValid(sealed->definitions) &&
                     !DsaPointerIsValid(sealed->alerts);
  if (empty) {
    *sealed = session->open;
    memset(&session->open, 0, sizeof session->open);
    session->sealed_rise = session->risen;
  }
  item->copy = *session;
  SpinLockRelease(&session->mutex);
  item->pointer = pointer;
  sealed = &item->copy.sealed;
  return DsaPointerIsValid(sealed->chunks_first) || DsaPointerIsValid(sealed->definitions) ||
         DsaPointerIsValid(sealed->alerts) || RowIsBehind(&item->copy);
}

void Execute(const char* sql, int nargs, Oid* types, Datum* values) {
  if (SPI_execute_with_args(sql, nargs, types, values, nullptr, false, 0) < 0) elog(ERROR, "could not write history");
}

void WriteDefinitions(const FlushItem* item) {
  Oid types[] = {INT8OID, TEXTARRAYOID, TIMESTAMPTZOID};
  for (dsa_pointer at = item->copy.sealed.definitions; DsaPointerIsValid(at);) {
    const auto* definition = SharedAt<Definition>(at);
    Datum values[] = {Int64GetDatum(definition->id), TokenArrayOf(definition), TimestampTzGetDatum(item->copy.last_at)};
    Execute(
        "INSERT INTO privacy_score.abstraction (id, tokens, first_seen, last_seen) VALUES ($1, $2, $3, $3) "
        "ON CONFLICT DO NOTHING",
        3, types, values);
    at = definition->next;
  }
}

// Gathers the sealed chunks into three arrays; returns the number of entries.
int64 GatherRuns(FlushItem* item, Datum* ids, Datum* runs, Datum* rows) {
  ArrayBuildState* id_array = nullptr;
  ArrayBuildState* run_array = nullptr;
  ArrayBuildState* row_array = nullptr;
  int64 entries = 0;
  for (dsa_pointer at = item->copy.sealed.chunks_first; DsaPointerIsValid(at);) {
    const auto* chunk = SharedAt<EventChunk>(at);
    for (int i = 0; i < chunk->used; ++i) {
      id_array = accumArrayResult(id_array, Int64GetDatum(chunk->entries[i].id), false, INT8OID, CurrentMemoryContext);
      run_array =
          accumArrayResult(run_array, Int64GetDatum(chunk->entries[i].run), false, INT8OID, CurrentMemoryContext);
      row_array =
          accumArrayResult(row_array, Int64GetDatum(chunk->entries[i].rows), false, INT8OID, CurrentMemoryContext);
      item->events += chunk->entries[i].run;
    }
    entries += chunk->used;
    at = chunk->next;
  }
  if (entries == 0) return 0;
  *ids = makeArrayResult(id_array, CurrentMemoryContext);
  *runs = makeArrayResult(run_array, CurrentMemoryContext);
  *rows = makeArrayResult(row_array, CurrentMemoryContext);
  return entries;
}

int64 WriteSessionRow(const FlushItem* item, int64 queries) {
  Oid types[] = {NAMEOID, TEXTOID, DATEOID, TIMESTAMPTZOID, TIMESTAMPTZOID, INT8OID,
                 INT8OID, BOOLOID, INT8OID, INT8OID,        INT8OID,        FLOAT8OID};
  NameData role = item->copy.role_name;
  Datum values[] = {NameGetDatum(&role),
                    CStringGetTextDatum(item->copy.session),
                    Int32GetDatum(item->copy.day),
                    TimestampTzGetDatum(item->copy.started),
                    TimestampTzGetDatum(item->copy.last_at),
                    Int64GetDatum(queries),
                    Int64GetDatum(item->copy.refused),
                    BoolGetDatum(item->copy.reach_known),
                    Int64GetDatum(item->copy.reach.values[0]),
                    Int64GetDatum(item->copy.reach.values[1]),
                    Int64GetDatum(item->copy.reach.values[2]),
                    Float8GetDatum(EnforcedOf(&item->copy))};
  Execute(
      "INSERT INTO privacy_score.session AS s (role, session, day, started, last_at, source, queries, refused, reach, "
      "subjects, subject_columns, enforced) VALUES ($1, $2, $3, $4, $5, 'live', $6, $7, CASE WHEN $8 THEN $9 END, "
      "CASE WHEN $8 THEN $10 END, CASE WHEN $8 THEN $11 END, CASE WHEN $12 >= 0 THEN $12 END) "
      "ON CONFLICT (role, session, started) "
      "DO UPDATE SET last_at = EXCLUDED.last_at, queries = EXCLUDED.queries, refused = EXCLUDED.refused, "
      "reach = EXCLUDED.reach, subjects = EXCLUDED.subjects, subject_columns = EXCLUDED.subject_columns, enforced = "
      "EXCLUDED.enforced "
      "RETURNING s.id",
      12, types, values);
  return FieldNumber(0, 0);
}

void WriteEvents(FlushItem* item) {
  Datum ids = Datum(0);
  Datum runs = Datum(0);
  Datum rows = Datum(0);
  item->entries = GatherRuns(item, &ids, &runs, &rows);
  item->row_id = item->copy.row_id;
  if (item->entries == 0 && !RowIsBehind(&item->copy)) return;
  item->row_id = WriteSessionRow(item, item->copy.flushed_queries + item->events);
  if (item->entries == 0) return;
  Oid types[] = {INT8OID, INT4OID, INT8ARRAYOID, INT8ARRAYOID, INT8ARRAYOID};
  Datum values[] = {Int64GetDatum(item->row_id), Int32GetDatum(item->copy.next_part), ids, runs, rows};
  Execute(
      "INSERT INTO privacy_score.session_part (session_id, part, ids, runs, rows) VALUES ($1, $2, $3, $4, $5) "
      "ON CONFLICT DO NOTHING",
      5, types, values);
  // A part that is there was committed before; its calls are counted.
  if (SPI_processed == 0) return;
  Oid call_types[] = {INT8ARRAYOID, INT8ARRAYOID, TIMESTAMPTZOID, INT8ARRAYOID};
  Datum calls[] = {ids, runs, TimestampTzGetDatum(item->copy.last_at), rows};
  Execute(
      "UPDATE privacy_score.abstraction a SET calls = a.calls + u.calls, rows = a.rows + u.rows, "
      "last_seen = GREATEST(a.last_seen, $3) "
      "FROM (SELECT x.id, pg_catalog.sum(x.run)::pg_catalog.int8 AS calls, "
      "pg_catalog.sum(x.returned)::pg_catalog.int8 AS rows FROM ROWS FROM (pg_catalog.unnest($1), "
      "pg_catalog.unnest($2), pg_catalog.unnest($4)) x(id, run, returned) GROUP BY x.id) u WHERE a.id = u.id",
      4, call_types, calls);
}

// Rows and notifications, the oldest first.
void WriteAlerts(const FlushItem* item) {
  List* alerts = NIL;
  for (dsa_pointer at = item->copy.sealed.alerts; DsaPointerIsValid(at); at = SharedAt<PendingAlert>(at)->next)
    alerts = lcons(SharedAt<PendingAlert>(at), alerts);
  ListCell* cell;
  foreach (cell, alerts) {
    const auto* alert = static_cast<const PendingAlert*>(lfirst(cell));
    const AlertRecord record = {alert->at,          NameStr(item->copy.role_name),
                                item->copy.session, alert->kind,
                                alert->score,       alert->limit,
                                alert->blocked,     pnstrdup(alert->detail, static_cast<Size>(alert->length))};
    WriteAlert(&record);
  }
}

}  // namespace

void FreeSession(DatabaseSlot* slot, dsa_pointer pointer) {
  auto* session = SharedAt<LiveSession>(pointer);
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  if (DsaPointerIsValid(session->previous))
    SharedAt<LiveSession>(session->previous)->next = session->next;
  else
    slot->sessions = session->next;
  if (DsaPointerIsValid(session->next)) SharedAt<LiveSession>(session->next)->previous = session->previous;
  --slot->session_count;
  LWLockRelease(slot->lock);
  FreeShared(pointer, sizeof(LiveSession));
}

bool AwaitsCorrection(LiveSession* session) {
  constexpr int kMostWaits = 20;
  const bool counted = session->limits.daily < 0 || (session->counted_rise.score >= session->risen.score &&
                                                     session->counted_rise.enforced >= session->risen.enforced);
  // Other sessions of the role count on what is known of the day.
  if (!counted && session->day_score >= 0) return true;
  if (counted && !(session->limits.Any() && session->summary.estimated)) return false;
  // Flushes may follow each other fast while somebody waits for them.
  const TimestampTz now = GetCurrentTimestamp();
  if (session->waits == 0)
    session->waits_until = TimestampTzPlusMilliseconds(now, int64{kMostWaits} * ps_settings.flush_interval);
  return session->waits++ < kMostWaits || now < session->waits_until;
}

dsa_pointer FirstSession(DatabaseSlot* slot) {
  LWLockAcquire(slot->lock, LW_SHARED);
  const dsa_pointer first = slot->sessions;
  LWLockRelease(slot->lock);
  return first;
}

namespace {

// Takes the sealed lists off a session; returns whether it is closed and has nothing left to do. Readers of the lists
// hold the slot's lock.
bool Release(DatabaseSlot* slot, dsa_pointer pointer, const FlushItem* written) {
  auto* session = SharedAt<LiveSession>(pointer);
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  SpinLockAcquire(&session->mutex);
  PendingHistory done = session->sealed;
  memset(&session->sealed, 0, sizeof session->sealed);
  if (written != nullptr && written->entries > 0) {
    session->flushed_queries += written->events;
    ++session->next_part;
  }
  if (written != nullptr) {
    session->stored_rise = session->sealed_rise;
    session->flushed_refused = written->copy.refused;
    if (written->row_id != 0) {
      session->row_id = written->row_id;
      session->flushed_enforced = EnforcedOf(&written->copy);
    }
  }
  const PendingHistory* open = &session->open;
  const bool finished = session->closed && !DsaPointerIsValid(open->chunks_first) &&
                        !DsaPointerIsValid(open->definitions) && !DsaPointerIsValid(open->alerts) &&
                        (written == nullptr || !RowIsBehind(session));
  SpinLockRelease(&session->mutex);
  FreeHistory(&done);
  LWLockRelease(slot->lock);
  return finished && (written == nullptr || !AwaitsCorrection(session));
}

// Throws away what one session has gathered, and the session when it is closed.
void Discard(DatabaseSlot* slot, dsa_pointer pointer) {
  SharedAt<LiveSession>(pointer)->discarded = true;
  for (int list = 0; list < 2; ++list) {
    FlushItem item;
    Seal(pointer, &item);
    if (Release(slot, pointer, nullptr) && list == 1) FreeSession(slot, pointer);
  }
}

}  // namespace

void FlushSessions(DatabaseSlot* slot) {
  FlushItem* items = nullptr;
  bool any = false;
  for (dsa_pointer at = FirstSession(slot); DsaPointerIsValid(at); at = SharedAt<LiveSession>(at)->next) {
    const auto* session = SharedAt<LiveSession>(at);
    // What a discarded session has gathered since lacks definitions; it is cut with its next statement.
    if (session->unrecorded || session->discarded) continue;
    auto* item = static_cast<FlushItem*>(palloc0(sizeof(FlushItem)));
    any |= Seal(at, item);
    item->next = items;
    items = item;
  }
  if (any) {
    WorkTransaction work;
    BeginWork(&work);
    for (FlushItem* item = items; item != nullptr; item = item->next) WriteDefinitions(item);
    for (FlushItem* item = items; item != nullptr; item = item->next) {
      WriteEvents(item);
      WriteAlerts(item);
    }
    EndWork(&work);
  }
  for (FlushItem* item = items; item != nullptr; item = item->next)
    if (Release(slot, item->pointer, item)) FreeSession(slot, item->pointer);
  for (dsa_pointer next, at = FirstSession(slot); DsaPointerIsValid(at); at = next) {
    next = SharedAt<LiveSession>(at)->next;
    if (SharedAt<LiveSession>(at)->discarded) Discard(slot, at);
  }
}

void DiscardSessions(DatabaseSlot* slot) {
  for (dsa_pointer next, at = FirstSession(slot); DsaPointerIsValid(at); at = next) {
    next = SharedAt<LiveSession>(at)->next;
    Discard(slot, at);
  }
}

void ApplyRetention() {
  static TimestampTz applied_at = 0;
  const TimestampTz now = GetCurrentTimestamp();
  if (now - applied_at < USECS_PER_HOUR) return;
  applied_at = now;
  WorkTransaction work;
  BeginWork(&work);
  (void)InternalValue("SELECT privacy_score.tidy_copies()");
  const char* args[] = {psprintf("%d", ps_settings.history_retention)};
  if (ps_settings.history_retention > 0)
    RunInternal(
        "WITH old AS (DELETE FROM privacy_score.session WHERE day < privacy_score.today() - $1::pg_catalog.int4 "
        "RETURNING id) DELETE FROM privacy_score.session_part p USING old WHERE p.session_id = old.id",
        1, args);
  EndWork(&work);
}
