/*
 * worker_standby_file.cpp - see worker_standby_file.hpp.
 */
#include "backend/worker/worker_standby_file.hpp"

extern "C" {
#include "access/xlog.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "miscadmin.h"
}

#include <unordered_set>

#include "backend/rates/kept_scores.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/alerts.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/standby_file.hpp"
#include "backend/worker/pending_alerts.hpp"
#include "backend/worker/worker.hpp"
#include "core/scoring/history_file.hpp"

namespace privacy_score {

namespace {

using Part = FiledPartSection;
using Alert = FiledAlertSection;

// Whether there may be files: at the start they may be those of another process.
bool files_may_be = true;

// An alert as the texts of a row of FiledAlertSection.
struct FiledAlert {
  const char* texts[Alert::kColumns];
  FiledAlert* next;
};

FiledAlert* MakeAlert(const AlertRecord& record, FiledAlert* next) {
  auto* alert = static_cast<FiledAlert*>(palloc0(sizeof(FiledAlert)));
  alert->texts[Alert::kAt] = TextOfInteger(record.at);
  alert->texts[Alert::kKind] = pstrdup(record.kind);
  alert->texts[Alert::kScore] = psprintf("%.17g", record.score);
  alert->texts[Alert::kLimit] = psprintf("%.17g", record.limit);
  alert->texts[Alert::kBlocked] = record.blocked ? "t" : "f";
  alert->texts[Alert::kSeverity] = AlertSeverity(&record);
  alert->texts[Alert::kDetail] = record.detail;
  if (record.context->known) {
    alert->texts[Alert::kClientAddr] = record.context->address[0] == '\0' ? nullptr : pstrdup(record.context->address);
    alert->texts[Alert::kApplicationName] = pstrdup(record.context->program);
  }
  alert->next = next;
  return alert;
}

// The alerts that a session has raised, the newest first.
FiledAlert* AlertsOf(const LiveSession* copy, const PendingHistory* sealed) {
  FiledAlert* alerts = nullptr;
  ForEachPendingAlert(copy, *sealed, [&alerts](const AlertRecord& record) { alerts = MakeAlert(record, alerts); });
  return alerts;
}

const char* TextUnlessEmpty(const char* text) { return text[0] == '\0' ? nullptr : text; }

// The figures of a session as the texts of a row of FiledPartSection; what it has run is added in core.
void FillFigures(const char** texts, const LiveSession* copy, int64 events) {
  const ConnectionContext& context = copy->context;
  texts[Part::kRole] = NameStr(copy->role_name);
  texts[Part::kEndUser] = TextUnlessEmpty(EndUserOf(copy));
  texts[Part::kDay] = TextOfInteger(copy->day);
  texts[Part::kSession] = copy->session;
  texts[Part::kStarted] = TextOfInteger(copy->started);
  texts[Part::kLastAt] = TextOfInteger(copy->last_at);
  texts[Part::kQueries] = TextOfInteger(copy->flushed_queries + events);
  texts[Part::kRefused] = TextOfInteger(copy->refused);
  if (copy->reach_known) {
    texts[Part::kReach] = TextOfInteger(copy->reach.values[0]);
    texts[Part::kSubjects] = TextOfInteger(copy->reach.values[1]);
    texts[Part::kSubjectColumns] = TextOfInteger(copy->reach.values[2]);
    texts[Part::kAddressed] = TextOfInteger(copy->reach.addressed);
    texts[Part::kPerson] = TextOfInteger(copy->reach.person);
  }
  if (EnforcedOf(copy) >= 0) texts[Part::kEnforced] = psprintf("%.17g", EnforcedOf(copy));
  if (context.known) {
    texts[Part::kClientAddr] = TextUnlessEmpty(context.address);
    texts[Part::kApplicationName] = context.program;
    texts[Part::kTls] = context.tls ? "t" : "f";
    texts[Part::kAuthMethod] = TextUnlessEmpty(AuthenticationName(context));
  }
  texts[Part::kMostRows] = TextOfInteger(copy->most_rows);
  texts[Part::kDiffer] = TextOfInteger(copy->differ);
  texts[Part::kPart] = TextOfInteger(copy->next_part);
}

FiledRow FiledRowOf(const char* const* texts, int columns) {
  FiledRow row;
  for (int i = 0; i < columns; ++i)
    row.push_back(texts[i] == nullptr ? std::nullopt : std::optional<std::string>(texts[i]));
  return row;
}

int64 EventsIn(const PendingHistory* sealed) {
  int64 events = sealed->uncounted;
  for (const EventChunk* chunk = sealed->chunks_first; chunk != nullptr; chunk = chunk->next)
    for (int i = 0; i < chunk->used; ++i) events += Max(chunk->entries[i].run, 0);
  return events;
}

// What a session has run. Within CallCore.
void AddRuns(FiledRow* row, const PendingHistory* sealed) {
  std::vector<std::int64_t> ids, runs, rows;
  const auto add = [&](int64 id, int64 run, int64 returned) {
    ids.push_back(id);
    runs.push_back(run);
    rows.push_back(returned);
  };
  for (const EventChunk* chunk = sealed->chunks_first; chunk != nullptr; chunk = chunk->next)
    for (int i = 0; i < chunk->used; ++i) add(chunk->entries[i].id, chunk->entries[i].run, chunk->entries[i].rows);
  if (sealed->uncounted > 0 || sealed->uncounted_rows > 0) add(UnparsedId(), sealed->uncounted, sealed->uncounted_rows);
  if (ids.empty()) return;
  (*row)[Part::kIds] = ArrayText(ids);
  (*row)[Part::kRuns] = ArrayText(runs);
  (*row)[Part::kRows] = ArrayText(rows);
}

// Which abstractions the file of a day has, as far as this process has written it.
struct Written {
  int32 day = INT32_MIN;
  std::unordered_set<std::int64_t> ids;
};
Written* written = nullptr;

// The tokens that the file lacks. Within CallCore.
std::vector<FiledRow> NewTokens(const LiveSession* session, const PendingHistory* sealed, int32 day) {
  if (written == nullptr) written = new Written;
  if (written->day != day) *written = Written{day, {}};
  std::vector<FiledRow> tokens;
  for (const NoteList* list : {&session->open.definitions, &sealed->definitions}) {
    NoteReader reader(*list);
    for (DefinitionHead head; reader.Next(&head);) {
      std::string text(static_cast<std::size_t>(head.length), '\0');
      reader.Read(text.data(), text.size());
      if (written->ids.insert(head.id).second) tokens.push_back({TextOf(head.id), ArrayText(SplitTokens(text))});
    }
  }
  if ((sealed->uncounted > 0 || sealed->uncounted_rows > 0) && written->ids.insert(UnparsedId()).second)
    tokens.push_back({TextOf(UnparsedId()), ArrayText(std::vector<std::string>{kUnparsed})});
  return tokens;
}

}  // namespace

bool FileSession(LiveSession* session, const LiveSession* copy, const PendingHistory* sealed) {
  const bool ran = sealed->chunks_first != nullptr || sealed->uncounted > 0 || sealed->uncounted_rows > 0;
  if (!ran && !sealed->HasAlerts() && copy->refused == session->flushed_refused) return true;
  const char* texts[Part::kColumns] = {};
  FillFigures(texts, copy, EventsIn(sealed));
  const FiledAlert* alerts = AlertsOf(copy, sealed);
  auto* record = NewCoreHolder<std::string>(CurrentMemoryContext);
  CoreError error;
  const bool made = CallCore(&error, [&] {
    FiledRow part = FiledRowOf(texts, Part::kColumns);
    AddRuns(&part, sealed);
    std::vector<FiledRow> raised;
    for (const FiledAlert* alert = alerts; alert != nullptr; alert = alert->next)
      raised.insert(raised.begin(), FiledRowOf(alert->texts, Alert::kColumns));
    record->Reset(new std::string(FileRecord(part, NewTokens(session, sealed, copy->day), raised)));
  });
  const bool done = made && AppendToStandbyFile(copy->extension, copy->day, *record->object);
  record->Reset(nullptr);
  if (!done) {
    CallCore(&error, [] {
      if (written != nullptr) *written = Written{};
    });
    return false;
  }
  files_may_be = true;
  session->flushed_refused = copy->refused;
  if (ran) ++session->next_part;
  return true;
}

void RemoveOldStandbyFiles(int32 today) {
  if (ps_settings.history_retention > 0) RemoveStandbyFiles(InvalidOid, today - ps_settings.history_retention, true);
}

namespace {

#define SQL_PARTS "privacy_score.standby_parts('-infinity', 'infinity') p"

// As the worker of a primary has them written (worker_flush.cpp).
const char* const kRecordAbstractions =
    "INSERT INTO privacy_score.abstraction (id, tokens, first_seen, last_seen) SELECT k.id, k.tokens, "
    "pg_catalog.now(), pg_catalog.now() FROM privacy_score.standby_tokens('-infinity', 'infinity') k ORDER BY k.id "
    "ON CONFLICT (id) DO UPDATE SET last_seen = EXCLUDED.last_seen";
const char* const kRecordSessions =
    "WITH p AS MATERIALIZED (SELECT * FROM " SQL_PARTS "), "
    "f AS MATERIALIZED (SELECT DISTINCT ON (p.session_key) " SQL_DAY("p.day") " AS that_day, " SQL_MOMENT("p.started")
    " AS began, " SQL_MOMENT("p.last_at") " AS ended, p.* FROM p), "
    "u AS (UPDATE privacy_score.session o SET last_at = f.ended, queries = GREATEST(o.queries, f.queries), "
    "refused = GREATEST(o.refused, f.refused) FROM f WHERE o.role = f.role AND o.session = f.session AND o.started = "
    "f.began RETURNING o.id, o.role, o.session, o.started), "
    "n AS (INSERT INTO privacy_score.session (id, role, session, day, started, last_at, source, queries, refused, "
    "reach, subjects, subject_columns, enforced, end_user, client_addr, application_name, tls, auth_method, addressed, "
    "person, most_rows, differ) SELECT privacy_score.new_session_id(f.that_day), f.role, f.session, f.that_day, "
    "f.began, f.ended, 'live', f.queries, f.refused, f.reach, f.subjects, f.subject_columns, f.enforced, f.end_user, "
    "f.client_addr, f.application_name, f.tls, f.auth_method, f.addressed, f.person, f.most_rows, f.differ FROM f "
    "WHERE NOT EXISTS (SELECT FROM u WHERE u.role = f.role AND u.session = f.session AND u.started = f.began) "
    "RETURNING id, role, session, started), "
    "s AS (SELECT * FROM u UNION ALL SELECT * FROM n) "
    "INSERT INTO privacy_score.session_part (session_id, part, ids, runs, rows) SELECT s.id, p.part, p.ids, p.runs, "
    "p.rows FROM p JOIN s ON s.role = p.role AND s.session = p.session AND s.started = " SQL_MOMENT("p.started")
    " ON CONFLICT DO NOTHING";
const char* const kRecordAlerts =
    "INSERT INTO privacy_score.alert (at, last_at, role, session, kind, score, alert_limit, blocked, severity, detail, "
    "cause, end_user, client_addr, application_name) SELECT a.at, a.at, a.role, a.session, a.kind, a.score, "
    "a.alert_limit, a.blocked, a.severity, a.detail, COALESCE(a.detail->>'cause', a.detail->>'ngram', ''), a.end_user, "
    "a.client_addr, a.application_name FROM (SELECT x.*, " SQL_MOMENT("x.alerted_at") " AS at FROM "
    "privacy_score.standby_alerts('-infinity', 'infinity') x) a WHERE NOT EXISTS (SELECT FROM privacy_score.alert o "
    "WHERE o.role = a.role AND o.session = a.session AND o.kind = a.kind AND o.at = a.at) ORDER BY a.at, a.id DESC";

// Scores of days that are over may be kept without what comes now.
void NoteDaysOfFiles() {
  LockKept();
  if (SPI_execute("SELECT DISTINCT p.role::text, p.day::pg_catalog.int8 FROM " SQL_PARTS
                  " WHERE p.day < privacy_score.today() - '2000-01-01'::pg_catalog.date",
                  true, 0) != SPI_OK_SELECT)
    elog(ERROR, "could not read what ran on the standby");
  const auto count = static_cast<int>(SPI_processed);
  auto* texts = static_cast<char**>(palloc(sizeof(char*) * static_cast<Size>(2 * count + 1)));
  for (int i = 0; i < 2 * count; ++i) texts[i] = FieldText(static_cast<uint64>(i / 2), i % 2);
  for (int i = 0; i < count; ++i) NoteChangedDay(texts[2 * i], texts[2 * i + 1]);
}

}  // namespace

void RecordStandbyFiles() {
  if (!files_may_be || RecoveryInProgress()) return;
  WorkTransaction work;
  BeginWork(&work);
  const Oid extension = get_extension_oid("privacy_score", true);
  const bool have = HaveStandbyFiles(extension);
  if (have) {
    NoteDaysOfFiles();
    for (const char* sql : {kRecordAbstractions, kRecordSessions, kRecordAlerts}) (void)RunInternal(sql);
  }
  EndWork(&work);
  files_may_be = false;
  if (!have) return;
  RemoveStandbyFiles(extension, INT32_MAX, false);
  ereport(LOG, (errmsg("privacy_score has recorded what ran while this server was a standby"), errhidestmt(true)));
}

}  // namespace privacy_score
