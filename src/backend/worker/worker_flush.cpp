/*
 * worker_flush.cpp - history from shared memory to tables.
 *
 * Sealing, writing and freeing follow the rules of shared_state.hpp: what is sealed does not change, is written in one
 * transaction for all sessions, and is freed after the commit. Parts are numbered, so writing one twice changes
 * nothing.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/builtins.h"
}

#include "backend/rates/kept_scores.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/alerts.hpp"
#include "backend/state/history_months.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_attachment.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/worker/pending_alerts.hpp"
#include "backend/worker/worker_alarms.hpp"
#include "backend/worker/worker_principals.hpp"

namespace privacy_score {

namespace {

// A session with something to write, as it was when it was sealed.
struct FlushItem {
  LiveSession* session;
  LiveSession copy;
  int64 row_id;
  int64 entries;  // of the part written
  int64 events;
  DueAlert* due;
  bool calm;
  NGram follows;  // of a principal's session
  FlushItem* next;
};

// The month that was asked last within a flush whether it takes rows; -1: none.
int64 asked_month = -1;
bool month_takes = false;

// Whether the row of a session in the history says something else than the session does.
bool RowIsBehind(const LiveSession* session) {
  return session->refused != session->flushed_refused ||
         (session->row_id != 0 && session->differ != session->flushed_differ) ||
         (session->row_id != 0 && session->reach_grew) ||
         (session->row_id != 0 && EnforcedOf(session) != session->flushed_enforced);
}

// Whether what is kept of a principal's session so that it can go on is to be taken away.
bool EndsToBeKept(const LiveSession* session) { return IsShared(session) && session->closed && session->part->kept; }

// Seals what the session has gathered and copies its fields; false when there is nothing to write.
bool Seal(LiveSession* session, FlushItem* item) {
  const bool shared = IsShared(session);
  CopyStanding(session, &item->copy);
  SpinLockAcquire(&session->mutex);
  if (session->sealed.IsEmpty()) {
    // They will stand behind what is in this part.
    if (shared && session->open.uncounted > 0) session->part->tail_known = false;
    session->sealed = session->open;
    session->open = {};
    session->sealed_rise = session->risen;
  }
  CopyChanging(session, &item->copy);
  if (shared) item->follows = FollowedNext(session->part);
  SpinLockRelease(&session->mutex);
  item->session = session;
  return !item->copy.sealed.IsEmpty() || RowIsBehind(&item->copy) || EndsToBeKept(&item->copy);
}

void Execute(const char* sql, int nargs, Oid* types, Datum* values) {
  if (SPI_execute_with_args(sql, nargs, types, values, nullptr, false, 0) < 0) elog(ERROR, "could not write history");
}

// What refers to it may come with a later flush: last_seen keeps it until then (RemoveAbstractions).
void WriteDefinition(int64 id, Datum tokens, TimestampTz seen) {
  Oid types[] = {INT8OID, TEXTARRAYOID, TIMESTAMPTZOID};
  Datum values[] = {Int64GetDatum(id), tokens, TimestampTzGetDatum(seen)};
  Execute(
      "INSERT INTO privacy_score.abstraction AS a (id, tokens, first_seen, last_seen) VALUES ($1, $2, $3, $3) "
      "ON CONFLICT (id) DO UPDATE SET last_seen = EXCLUDED.last_seen "
      "WHERE a.last_seen < EXCLUDED.last_seen - pg_catalog.make_interval(hours => 12)",
      3, types, values);
}

void WriteDefinitions(const FlushItem* item) {
  const PendingHistory& sealed = item->copy.sealed;
  NoteReader reader(sealed.definitions);
  for (DefinitionHead head; reader.Next(&head);) {
    char* text = ReadNoteText(&reader, head.length);
    WriteDefinition(head.id, TokenArrayOf({text, static_cast<Size>(head.length)}), item->copy.last_at);
    pfree(text);
  }
  if (sealed.uncounted > 0 || sealed.uncounted_rows > 0)
    WriteDefinition(UnparsedId(), TokenArrayOf(kUnparsed), item->copy.last_at);
}

// The entries of a part, as they become arrays.
struct Runs {
  ArrayBuildState *ids, *runs, *rows;
  int64 entries;
  void Add(const EventRun& event) {
    const auto put = [](ArrayBuildState** array, int64 value) {
      *array = accumArrayResult(*array, Int64GetDatum(value), false, INT8OID, CurrentMemoryContext);
    };
    put(&ids, event.id);
    put(&runs, event.run);
    put(&rows, event.rows);
    ++entries;
  }
};

// Gathers the sealed chunks into three arrays; returns the number of entries.
int64 GatherRuns(FlushItem* item, Datum* ids, Datum* runs, Datum* rows) {
  Runs all = {};
  const PendingHistory& sealed = item->copy.sealed;
  for (const EventChunk* chunk = sealed.chunks_first; chunk != nullptr; chunk = chunk->next)
    for (int i = 0; i < chunk->used; ++i) {
      all.Add(chunk->entries[i]);
      item->events += Max(chunk->entries[i].run, 0);
    }
  if (sealed.uncounted > 0 || sealed.uncounted_rows > 0)
    all.Add({UnparsedId(), sealed.uncounted, sealed.uncounted_rows});
  item->events += sealed.uncounted;
  if (all.entries == 0) return 0;
  *ids = makeArrayResult(all.ids, CurrentMemoryContext);
  *runs = makeArrayResult(all.runs, CurrentMemoryContext);
  *rows = makeArrayResult(all.rows, CurrentMemoryContext);
  return all.entries;
}

// Whether the month of a session's row takes it: asked once a flush, of the last month again.
bool TakesRow(int64 row_id) {
  if (row_id >> kMonthBits != asked_month) {
    asked_month = row_id >> kMonthBits;
    month_takes = TakesSession(row_id);
  }
  return month_takes;
}

// The row of the session, 0 where none is known or its month takes nothing any more. One may be there that this worker
// has not heard of: it was committed when an earlier one ended.
int64 WrittenRow(const LiveSession& session) {
  if (session.row_id != 0) return TakesRow(session.row_id) ? session.row_id : 0;
  NameData role = session.role_name;
  Oid types[] = {NAMEOID, TEXTOID, TIMESTAMPTZOID, DATEOID};
  Datum values[] = {NameGetDatum(&role), CStringGetTextDatum(session.session), TimestampTzGetDatum(session.started),
                    Int32GetDatum(session.day)};
  Execute(
      "SELECT id FROM privacy_score.session WHERE role = $1 AND session = $2 AND started = $3 "
      "AND " SQL_ID_OF_DAY("id", "$4"),
      lengthof(values), types, values);
  const int64 written = SPI_processed > 0 ? FieldNumber(0, 0) : 0;
  return written != 0 && TakesRow(written) ? written : 0;
}

int64 WriteSessionRow(const FlushItem* item, int64 queries) {
  const ConnectionContext& context = item->copy.context;
  Oid types[] = {NAMEOID, TEXTOID, DATEOID, TIMESTAMPTZOID, TIMESTAMPTZOID, INT8OID, INT8OID, BOOLOID,
                 INT8OID, INT8OID, INT8OID, FLOAT8OID,      TEXTOID,        BOOLOID, TEXTOID, TEXTOID,
                 BOOLOID, TEXTOID, INT8OID, INT8OID,        INT8OID,        BOOLOID, INT8OID, INT8OID};
  const int64 written = WrittenRow(item->copy);
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
                    Float8GetDatum(EnforcedOf(&item->copy)),
                    CStringGetTextDatum(EndUserOf(&item->copy)),
                    BoolGetDatum(context.known),
                    CStringGetTextDatum(context.address),
                    CStringGetTextDatum(context.program),
                    BoolGetDatum(context.tls),
                    CStringGetTextDatum(AuthenticationName(context)),
                    Int64GetDatum(item->copy.reach.addressed),
                    Int64GetDatum(item->copy.reach.person),
                    Int64GetDatum(item->copy.most_rows),
                    BoolGetDatum(item->copy.reach_known && ps_settings.subject_key_period > 0),
                    Int64GetDatum(item->copy.differ),
                    Int64GetDatum(written)};
  if (written != 0)
    Execute(
        "UPDATE privacy_score.session SET last_at = $5, queries = $6, refused = $7, "
        "reach = CASE WHEN $8 THEN $9 ELSE reach END, subjects = CASE WHEN $8 THEN $10 ELSE subjects END, "
        "subject_columns = CASE WHEN $8 THEN $11 ELSE subject_columns END, enforced = CASE WHEN $12 >= 0 THEN $12 END, "
        "addressed = CASE WHEN $8 THEN $19 ELSE addressed END, person = CASE WHEN $8 THEN $20 ELSE person END, "
        "most_rows = $21, known = CASE WHEN $22 THEN GREATEST(known, 0) ELSE known END, differ = $23 "
        "WHERE id = $24 RETURNING id",
        lengthof(values), types, values);
  if (written != 0 && SPI_processed > 0) return written;
  Execute(
      "INSERT INTO privacy_score.session (id, role, session, day, started, last_at, source, queries, refused, reach, "
      "subjects, subject_columns, enforced, end_user, client_addr, application_name, tls, auth_method, addressed, "
      "person, most_rows, known, differ) VALUES (privacy_score.new_session_id($3), $1, $2, "
      "$3, $4, $5, 'live', $6, $7, CASE WHEN $8 THEN $9 END, CASE WHEN $8 THEN $10 END, CASE WHEN $8 THEN $11 END, "
      "CASE WHEN $12 >= 0 THEN $12 END, NULLIF($13, ''), NULLIF($15, '')::pg_catalog.inet, CASE WHEN $14 THEN $16 END, "
      "CASE WHEN $14 THEN $17 END, NULLIF($18, ''), CASE WHEN $8 THEN $19 END, CASE WHEN $8 THEN $20 END, $21, "
      "CASE WHEN $22 THEN 0 END, $23) RETURNING id",
      lengthof(values) - 1, types, values);
  return FieldNumber(0, 0);
}

void WriteEvents(FlushItem* item) {
  Datum ids = Datum(0);
  Datum runs = Datum(0);
  Datum rows = Datum(0);
  item->entries = GatherRuns(item, &ids, &runs, &rows);
  item->row_id = item->copy.row_id != 0 && TakesRow(item->copy.row_id) ? item->copy.row_id : 0;
  if (item->entries == 0 && !RowIsBehind(&item->copy)) return;
  item->row_id = WriteSessionRow(item, item->copy.flushed_queries + item->events);
  // As rows that are fetched past midnight.
  if (item->copy.day < DayOf(GetCurrentTimestamp()) || MayBeKept(item->copy.day)) {
    NoteChangedDay(NameStr(item->copy.role_name), TextOfInteger(item->copy.day));
    KeepAgain();
  }
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
      "pg_catalog.unnest($2), pg_catalog.unnest($4)) x(id, run, returned) WHERE x.run >= 0 GROUP BY x.id) u WHERE a.id "
      "= u.id",
      4, call_types, calls);
}

// How much the session's principal has come to know of one subject.
void WriteKnown(int64 row_id, int64 known) {
  if (row_id == 0 || known == 0) return;
  const char* args[] = {TextOfInteger(row_id), TextOfInteger(known)};
  RunInternal(
      "UPDATE privacy_score.session SET known = $2::pg_catalog.int8 WHERE id = $1::pg_catalog.int8 "
      "AND known < $2::pg_catalog.int8",
      lengthof(args), args);
}

// Takes in how far a session reaches that no model has told what is protected, by what it has told: it may have ended
// since.
void TakeReachOfTold(FlushItem* item, const ReachFigures& reach) {
  const int64 row_id = item->row_id;
  if (row_id == 0) return;
  LiveSession* session = item->session;
  SpinLockAcquire(&session->mutex);
  if (!session->reach_known) {
    session->reach = reach;
    session->reach_known = true;
  }
  SpinLockRelease(&session->mutex);
  item->copy.reach = reach;
  item->copy.reach_known = true;
  const char* args[] = {TextOfInteger(row_id),          TextOfInteger(reach.values[0]), TextOfInteger(reach.values[1]),
                        TextOfInteger(reach.values[2]), TextOfInteger(reach.addressed), TextOfInteger(reach.person)};
  RunInternal(
      "UPDATE privacy_score.session SET reach = GREATEST(reach, $2::pg_catalog.int8), "
      "subjects = GREATEST(subjects, $3::pg_catalog.int8), "
      "subject_columns = GREATEST(subject_columns, $4::pg_catalog.int4), "
      "addressed = GREATEST(addressed, $5::pg_catalog.int8), person = GREATEST(person, $6::pg_catalog.int8) "
      "WHERE id = $1::pg_catalog.int8",
      lengthof(args), args);
}

// Rows and notifications, the oldest first.
void WriteAlerts(const FlushItem* item) {
  ForEachPendingAlert(&item->copy, item->copy.sealed, [](const AlertRecord& record) { WriteAlert(&record); });
}

}  // namespace

void FreeSession(DatabaseSlot* slot, LiveSession* session) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  FreePart(session);
  UnlinkSession(slot, session);
  LWLockRelease(slot->lock);
  CloseHolding(session->holding, reinterpret_cast<SharedBlock*>(session));
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

LiveSession* FirstSession(DatabaseSlot* slot) {
  LWLockAcquire(slot->lock, LW_SHARED);
  LiveSession* first = slot->sessions;
  LWLockRelease(slot->lock);
  return first;
}

namespace {

// Takes the sealed lists off a session; returns whether it is closed and has nothing left to do. Readers of the lists
// hold the slot's lock.
bool Release(DatabaseSlot* slot, LiveSession* session, const FlushItem* written) {
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  // Before it is looked at what is open: who is still at it may add something.
  const bool left = !IsShared(session) || (session->closed && RefuseAttaching(session));
  SpinLockAcquire(&session->mutex);
  PendingHistory done = session->sealed;
  session->sealed = {};
  if (written != nullptr && written->entries > 0) {
    session->flushed_queries += written->events;
    ++session->next_part;
  }
  if (written != nullptr) {
    session->stored_rise = session->sealed_rise;
    session->flushed_refused = written->copy.refused;
    session->flushed_differ = written->copy.differ;
    if (written->row_id != 0) {
      session->row_id = written->row_id;
      session->flushed_enforced = EnforcedOf(&written->copy);
      session->reach_grew = session->reach.Sum() != written->copy.reach.Sum();
    }
  }
  const bool finished = left && session->closed && session->open.IsEmpty() &&
                        (written == nullptr || !(RowIsBehind(session) || EndsToBeKept(session)));
  SpinLockRelease(&session->mutex);
  FreeHistory(session, &done);
  LWLockRelease(slot->lock);
  return finished && (written == nullptr || !AwaitsCorrection(session));
}

// Throws away what one session has gathered, and the session when it is closed.
void Discard(DatabaseSlot* slot, LiveSession* session) {
  session->discarded = true;
  if (IsShared(session)) ClosePrincipal(session);
  for (int list = 0; list < 2; ++list) {
    FlushItem item;
    Seal(session, &item);
    if (Release(slot, session, nullptr) && list == 1) FreeSession(slot, session);
  }
}

// Leaves out, and has thrown away, what began for the tables of an extension that was dropped since: a statement that
// waited meanwhile is noted in a session whose definitions went with these. Inside a transaction of the worker.
FlushItem* OfThisExtension(FlushItem* items) {
  const Oid extension = get_extension_oid("privacy_score", false);
  FlushItem* left = nullptr;
  for (FlushItem *next, *item = items; item != nullptr; item = next) {
    next = item->next;
    if (item->session->extension != extension) {
      item->session->discarded = true;
      continue;
    }
    item->next = left;
    left = item;
  }
  return left;
}

// Writes what one session has gathered. What that takes of memory goes with a connection to SPI of its own, before the
// next session is written: hundreds may have much to write at once. Alerts that are due are palloc'd in `context`.
void WriteItem(DatabaseSlot* slot, FlushItem* item, MemoryContext context) {
  ConnectSpi();
  WriteEvents(item);
  WriteAlerts(item);
  KeepPrincipal(&item->copy, item->row_id, item->follows);
  ToldBySession told;
  item->due = TakeTold(slot, &item->copy, &item->copy.sealed, context, &told);
  WriteKnown(item->row_id, told.known);
  if (told.has_reach) TakeReachOfTold(item, told.reach);
  item->due = JudgeSession(&item->copy, item->row_id, item->due, context, &item->calm);
  SPI_finish();
}

}  // namespace

void FlushSessions(DatabaseSlot* slot) {
  static bool has_written = false;
  FlushItem* items = nullptr;
  bool any = false;
  for (LiveSession* session = FirstSession(slot); session != nullptr; session = session->next) {
    // What a discarded session has gathered since lacks definitions; it is cut with its next statement.
    if (session->unrecorded || session->discarded) continue;
    auto* item = static_cast<FlushItem*>(palloc0(sizeof(FlushItem)));
    any |= Seal(session, item);
    item->next = items;
    items = item;
  }
  if (any) {
    WorkTransaction work;
    BeginDays();
    BeginJudging();
    BeginWork(&work);
    asked_month = -1;
    items = OfThisExtension(items);
    for (FlushItem* item = items; item != nullptr; item = item->next) WriteDefinitions(item);
    for (FlushItem* item = items; item != nullptr; item = item->next) WriteItem(slot, item, work.outer);
    EndWork(&work);
    SettleDays();
    SettleJudging();
    has_written = true;
    for (const FlushItem* item = items; item != nullptr; item = item->next)
      if (IsShared(item->session) && item->row_id != 0) item->session->part->kept = !item->copy.closed;
  }
  for (FlushItem* item = items; item != nullptr; item = item->next) {
    if (item->calm && (item->copy.alarmed_by_novelty || item->copy.alarmed_by_extent)) CalmDown(item->session);
    RaiseDueAlerts(item->session, item->due);
  }
  for (FlushItem* item = items; item != nullptr; item = item->next)
    if (Release(slot, item->session, item)) {
      ForgetJudged(item->session->row_id);
      FreeSession(slot, item->session);
    }
  for (LiveSession *next, *session = FirstSession(slot); session != nullptr; session = next) {
    next = session->next;
    if (session->discarded) Discard(slot, session);
  }
  PutOutPrincipals(slot);
  if (has_written) KeepMonths();
}

void DiscardSessions(DatabaseSlot* slot) {
  for (LiveSession *next, *session = FirstSession(slot); session != nullptr; session = next) {
    next = session->next;
    Discard(slot, session);
  }
}

}  // namespace privacy_score
