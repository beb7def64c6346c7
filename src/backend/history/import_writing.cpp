/*
 * import_writing.cpp - see import_writing.hpp.
 */
#include "backend/history/import_writing.hpp"

#include "backend/rates/kept_scores.hpp"
#include "backend/rates/model_wire.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/history_months.hpp"
#include "backend/state/import_lock.hpp"
#include "backend/state/internal.hpp"

extern "C" {
#include "executor/spi.h"
#include "miscadmin.h"
}

#include <algorithm>
#include <array>
#include <string>

#include "core/base/rows.hpp"

namespace privacy_score {

namespace {

// Sessions, or abstractions, are written so many at a time, and no more than so many bytes of text.
constexpr std::size_t kMostRows = 2000;
constexpr std::size_t kMostBytes = 8U << 20U;

// Rows as an array for each column.
template <std::size_t kColumns>
struct Columns {
  std::array<std::vector<std::string>, kColumns> columns;
  std::size_t bytes = 0;

  void Add(std::array<std::string, kColumns> row) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      bytes += row[i].size();
      columns[i].push_back(std::move(row[i]));
    }
  }
  std::size_t size() const { return columns[0].size(); }
  bool is_full() const { return size() >= kMostRows || bytes >= kMostBytes; }
};

// The arrays in text form, for a statement.
template <std::size_t kColumns>
struct ColumnTexts {
  std::array<std::string, kColumns> texts;
  std::array<const char*, kColumns> args;

  explicit ColumnTexts(const Columns<kColumns>& rows) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      texts[i] = privacy_score::ArrayText(rows.columns[i]);
      args[i] = texts[i].c_str();
    }
  }
};

// A session: empty texts stand for NULL. `connection` is the session as given, without the number of the piece.
// unnest() of several arrays goes without its schema.
constexpr std::size_t kSessionColumns = 17;
using SessionColumns = Columns<kSessionColumns>;
#define SESSION_ROWS \
  "(SELECT r.n, r.role::pg_catalog.name AS role, r.session, r.connection, NULLIF(r.end_user, '') AS end_user, "      \
  "('2000-01-01'::pg_catalog.date + r.day::pg_catalog.int4) AS day, " SQL_MOMENT("r.started") " AS started, "        \
  SQL_MOMENT("r.ended") " AS ended, r.queries, r.ids, r.runs, r.rows, r.most_rows, r.reach, r.subjects, "             \
  "r.subject_columns, r.addressed, r.person FROM unnest($1::pg_catalog.text[], $2::pg_catalog.text[], "   \
  "$3::pg_catalog.text[], $4::pg_catalog.text[], $5::pg_catalog.text[], $6::pg_catalog.text[], "                     \
  "$7::pg_catalog.text[], $8::pg_catalog.text[], $9::pg_catalog.text[], $10::pg_catalog.text[], "                    \
  "$11::pg_catalog.text[], $12::pg_catalog.text[], $13::pg_catalog.text[], $14::pg_catalog.text[], "                 \
  "$15::pg_catalog.text[], $16::pg_catalog.text[], $17::pg_catalog.text[]) WITH ORDINALITY r(role, session, "        \
  "connection, end_user, day, started, ended, queries, ids, runs, rows, most_rows, reach, subjects, "                \
  "subject_columns, addressed, person, n))"

// Of some rows, whose arguments come first, those that are not to be written, as an array of their places; null: none.
const char* WatchedLive(const char* const* args) {
  return InternalValue(
      "WITH i AS MATERIALIZED (SELECT i.n, i.role, i.day, i.connection, i.end_user FROM " SESSION_ROWS
      " i), live AS MATERIALIZED (SELECT s.role, s.day, s.session, s.end_user FROM privacy_score.session s "
      "WHERE s.source = 'live' AND s.role = ANY (ARRAY(SELECT DISTINCT i.role FROM i)) "
      "AND s.day BETWEEN (SELECT pg_catalog.min(i.day) FROM i) AND (SELECT pg_catalog.max(i.day) FROM i)) "
      "SELECT pg_catalog.array_agg(i.n) FROM i WHERE EXISTS (SELECT FROM live s WHERE s.role = i.role AND s.day = "
      "i.day AND (s.session = i.connection OR pg_catalog.starts_with(s.session, i.connection || '/') "
      "OR s.end_user = i.end_user))",
      static_cast<int>(kSessionColumns), args);
}

// What the rows of the last query say of abstractions: id, calls, rows; these are gone.
void TakeCalls(Import* import) {
  const uint64 count = SPI_processed;
  for (uint64 row = 0; row < count; ++row) {
    const int64 id = FieldNumber(row, 0);
    const int64 calls = FieldNumber(row, 1);
    const int64 returned = FieldNumber(row, 2);
    CallCoreOrRaise([&] {
      AbstractionChange& change = import->changes[id];
      change.calls -= calls;
      change.rows -= returned;
    });
  }
}

// The same stretch of a log may have been imported before, cut otherwise or as another piece of its connection: that is
// removed, but nothing that this import has written.
void RemoveImported(Import* import, const char* const* args) {
  const char* found = InternalValue(
      "WITH i AS MATERIALIZED (SELECT i.role, i.connection, i.end_user, i.started, i.ended, i.day FROM " SESSION_ROWS
      " i WHERE i.n <> ALL ($18::pg_catalog.int8[])), "
      "s AS MATERIALIZED (SELECT s.id, s.role, s.session, s.end_user, s.started, s.last_at FROM privacy_score.session "
      "s "
      "WHERE s.source = 'import' AND s.id & (1099511627776 - 1) < $19::pg_catalog.int8 AND s.role = ANY (ARRAY(SELECT "
      "DISTINCT i.role FROM "
      "i)) "
      "AND s.day BETWEEN (SELECT pg_catalog.min(i.day) - 1 FROM i) AND (SELECT pg_catalog.max(i.day) + 1 FROM i) "
      "AND s.last_at >= (SELECT pg_catalog.min(i.started) FROM i) "
      "AND s.started <= (SELECT pg_catalog.max(i.ended) FROM i)), "
      "named AS (SELECT s.*, s.session AS connection FROM s UNION ALL "
      "SELECT s.*, pg_catalog.regexp_replace(s.session, '/[0-9]+$', '') FROM s WHERE s.session ~ '/[0-9]+$') "
      "SELECT pg_catalog.array_agg(DISTINCT s.id) FROM named s JOIN i ON i.role = s.role "
      "AND i.connection = s.connection AND i.end_user IS NOT DISTINCT FROM s.end_user AND s.started <= i.ended "
      "AND s.last_at >= i.started",
      static_cast<int>(kSessionColumns) + 2, args);
  if (found == nullptr) return;
  QueryInternal(
      "DELETE FROM privacy_score.session WHERE id = ANY (ARRAY(SELECT unnest($1::pg_catalog.int8[]))) RETURNING role, "
      "(day - '2000-01-01'::pg_catalog.date)::pg_catalog.int8",
      1, &found);
  const uint64 count = SPI_processed;
  for (uint64 row = 0; row < count; ++row) {
    const char* role = FieldText(row, 0);
    const int64 day = FieldNumber(row, 1);
    CallCoreOrRaise([&] { import->days.emplace(role, day); });
  }
  QueryInternal(
      "WITH p AS (DELETE FROM privacy_score.session_part WHERE session_id = ANY (ARRAY(SELECT "
      "unnest($1::pg_catalog.int8[]))) "
      "RETURNING ids, runs, rows) "
      "SELECT x.id, pg_catalog.sum(x.run)::pg_catalog.int8, pg_catalog.sum(COALESCE(x.returned, 0))::pg_catalog.int8 "
      "FROM p, "
      "ROWS FROM (pg_catalog.unnest(p.ids), pg_catalog.unnest(p.runs), pg_catalog.unnest(p.rows)) x(id, run, returned) "
      "GROUP BY x.id",
      1, &found);
  TakeCalls(import);
}

void InsertSessions(const char* const* args) {
  RunInternal(
      "WITH i AS MATERIALIZED (SELECT privacy_score.new_session_id(i.day) AS id, i.* FROM " SESSION_ROWS
      " i WHERE i.n <> ALL ($18::pg_catalog.int8[]) ORDER BY i.n), "
      "s AS (INSERT INTO privacy_score.session (id, role, session, day, started, last_at, source, queries, end_user, "
      "most_rows, reach, subjects, subject_columns, addressed, person) "
      "SELECT id, role, session, day, started, ended, 'import', queries::pg_catalog.int8, end_user, "
      "NULLIF(most_rows, '')::pg_catalog.int8, NULLIF(reach, '')::pg_catalog.int8, "
      "NULLIF(subjects, '')::pg_catalog.int8, NULLIF(subject_columns, '')::pg_catalog.int4, "
      "NULLIF(addressed, '')::pg_catalog.int8, NULLIF(person, '')::pg_catalog.int8 FROM i) "
      "INSERT INTO privacy_score.session_part (session_id, part, ids, runs, rows) "
      "SELECT id, 0, ids::pg_catalog.int8[], runs::pg_catalog.int8[], NULLIF(rows, '')::pg_catalog.int8[] FROM i",
      static_cast<int>(kSessionColumns) + 1, args);
}

// A model of what is declared, which says whose data columns hold and which of them identify.
const privacy_score::Model* DeclaredModel(MemoryContext context) {
  StringInfoData wire;
  initStringInfo(&wire);
  InternalScope scope;
  EnterInternal(&scope);
  AppendDefinitions(&wire);
  AppendRatesAtHand(&wire, nullptr, 0);
  LeaveInternal(&scope);
  auto* model = NewCoreObject<privacy_score::Model>(context);
  CallCoreOrRaise([&] { *model = privacy_score::Model::Parse(WireBytes(&wire)); });
  pfree(wire.data);
  return model;
}

// Of the sessions of one connection and role the how-manieth it is.
std::uint32_t CountPiece(Import* import, const privacy_score::CutSession& cut) {
  const auto next = static_cast<std::uint32_t>(import->roles.size() + 1);
  const std::uint32_t role = import->roles.emplace(cut.role, next).first->second;
  Import::Connection& connection = import->sessions[static_cast<std::size_t>(cut.session_key)];
  if (connection.role == 0) connection.role = role;
  return connection.role == role ? ++connection.pieces : ++import->pieces[{cut.session_key, role}];
}

void AddSession(Import* import, const privacy_score::CutSession& cut, SessionColumns* rows) {
  const Import::Connection& connection = import->sessions[static_cast<std::size_t>(cut.session_key)];
  const std::uint32_t piece = CountPiece(import, cut);
  std::string name = connection.name();
  if (piece > 1) name += '/' + std::to_string(piece);
  std::string returned;
  std::string most_rows;
  if (cut.most_rows) {
    returned = privacy_score::RowsText(cut.sequence);
    most_rows = std::to_string(*cut.most_rows);
  }
  std::array<std::string, 5> reach;
  const auto figures = import->executions.FiguresOf(
      cut.steps, *import->model,
      ps_settings.where_counts, [import](std::int64_t id) -> const auto& { return import->tokens.at(id); });
  if (figures)
    reach = {std::to_string(figures->values[0]), std::to_string(figures->values[1]), std::to_string(figures->values[2]),
             std::to_string(figures->addressed), std::to_string(figures->person)};
  rows->Add({cut.role, name, connection.name(), connection.end_user(), std::to_string(cut.day),
             std::to_string(cut.started), std::to_string(cut.ended),
             std::to_string(privacy_score::LengthOf(cut.sequence)), privacy_score::IdsText(cut.sequence),
             privacy_score::RunsText(cut.sequence), std::move(returned), std::move(most_rows), std::move(reach[0]),
             std::move(reach[1]), std::move(reach[2]), std::move(reach[3]), std::move(reach[4])});
}

// What a session that was written adds.
void NoteSession(Import* import, const privacy_score::CutSession& cut) {
  import->days.emplace(cut.role, cut.day);
  for (const privacy_score::Run& run : cut.sequence) {
    AbstractionChange& change = import->changes[run.id];
    change.calls += run.count;
    if (cut.most_rows) change.rows += run.rows;
    change.first = std::min(change.first, cut.ended);
    change.last = std::max(change.last, cut.ended);
  }
}

// Writes the sessions from `first` that are in `rows`.
void WriteRows(Import* import, const privacy_score::CutSession* first, const SessionColumns* rows) {
  auto* texts = NewCoreHolder<ColumnTexts<kSessionColumns>>(CurrentMemoryContext);
  CallCoreOrRaise([&] { texts->Reset(new ColumnTexts<kSessionColumns>(*rows)); });
  const char* args[kSessionColumns + 2];
  std::copy(texts->object->args.begin(), texts->object->args.end(), args);
  const char* live = WatchedLive(args);
  args[kSessionColumns] = live == nullptr ? "{}" : live;
  args[kSessionColumns + 1] = import->first_id.c_str();
  RemoveImported(import, args);
  InsertSessions(args);
  const char* left_out = args[kSessionColumns];
  CallCoreOrRaise([&] {
    const std::vector<std::int64_t> places = privacy_score::ParseIntegers(left_out);
    import->left_out += static_cast<std::int64_t>(places.size());
    for (std::size_t i = 0; i < rows->size(); ++i)
      if (std::find(places.begin(), places.end(), static_cast<std::int64_t>(i) + 1) == places.end())
        NoteSession(import, first[i]);
  });
  texts->Reset(nullptr);
}

// Runs a statement with what a map has, a row of texts an entry, as arrays.
template <std::size_t kColumns, typename Map>
void WriteEach(const Map& map, const char* sql,
               std::array<std::string, kColumns> (*row_of)(const typename Map::value_type&)) {
  auto next = map.begin();
  while (next != map.end()) {
    CHECK_FOR_INTERRUPTS();
    auto* texts = NewCoreHolder<ColumnTexts<kColumns>>(CurrentMemoryContext);
    CallCoreOrRaise([&] {
      Columns<kColumns> rows;
      for (; next != map.end() && !rows.is_full(); ++next) rows.Add(row_of(*next));
      texts->Reset(new ColumnTexts<kColumns>(rows));
    });
    RunInternal(sql, static_cast<int>(kColumns), texts->object->args.data());
    texts->Reset(nullptr);
  }
}

std::array<std::string, 2> RowOfAbstraction(const std::pair<const std::int64_t, privacy_score::Tokens>& entry) {
  return {std::to_string(entry.first), privacy_score::ArrayText(entry.second)};
}

std::array<std::string, 5> RowOfChange(const std::pair<const std::int64_t, AbstractionChange>& entry) {
  const AbstractionChange& change = entry.second;
  const bool is_met = change.first <= change.last;
  return {std::to_string(entry.first), std::to_string(change.calls), std::to_string(change.rows),
          is_met ? std::to_string(change.first) : "", is_met ? std::to_string(change.last) : ""};
}

void WriteAbstractions(const Import* import) {
  WriteEach<2>(import->tokens,
               "INSERT INTO privacy_score.abstraction (id, tokens, first_seen, last_seen) "
               "SELECT i.id, i.tokens::pg_catalog.text[], 'infinity', '-infinity' "
               "FROM unnest($1::pg_catalog.int8[], $2::pg_catalog.text[]) i(id, tokens) ON CONFLICT DO NOTHING",
               RowOfAbstraction);
  WriteEach<5>(import->changes,
               "UPDATE privacy_score.abstraction a SET calls = a.calls + i.calls, rows = a.rows + i.rows, "
               "first_seen = LEAST(a.first_seen, " SQL_MOMENT("NULLIF(i.first, '')") "), "
               "last_seen = GREATEST(a.last_seen, " SQL_MOMENT("NULLIF(i.last, '')") ") "
               "FROM unnest($1::pg_catalog.int8[], $2::pg_catalog.int8[], $3::pg_catalog.int8[], "
               "$4::pg_catalog.text[], $5::pg_catalog.text[]) i(id, calls, rows, first, last) WHERE a.id = i.id",
               RowOfChange);
}

using Sessions = std::vector<privacy_score::CutSession>;

// Makes the tables of the months that sessions are of. Those of the future, and of so long ago that it hardly is true,
// get none.
void MakeMonthsOf(const Sessions& sessions) {
  const int64 last = MonthOfDay(DayOf(GetCurrentTimestamp())) + 1;
  int64 made = 0;
  for (const privacy_score::CutSession& session : sessions) {
    const int64 month = MonthOfDay(static_cast<DateADT>(session.day));
    if (month == made || month > last || month <= last - kMostMonths) continue;
    (void)MakeMonths(month, month);
    made = month;
  }
}

void WriteSessions(Import* import, const Sessions& sessions) {
  if (sessions.empty()) return;
  if (import->model == nullptr) import->model = DeclaredModel(import->context);
  InternalScope scope;
  EnterInternal(&scope);
  LockImports();
  if (import->first_id.empty()) {
    const char* id = InternalValue("SELECT pg_catalog.nextval('privacy_score.session_id_seq')");
    CallCoreOrRaise([&] { import->first_id = id; });
  }
  MakeMonthsOf(sessions);
  // Nothing is known of how many rows there are, in arrays and in a table that has been filled just now.
  SetWithin("enable_nestloop", "off");
  const std::size_t count = sessions.size();
  for (std::size_t i = 0; i < count;) {
    CHECK_FOR_INTERRUPTS();
    auto* rows = NewCoreHolder<SessionColumns>(CurrentMemoryContext);
    const std::size_t first = i;
    CallCoreOrRaise([&] {
      rows->Reset(new SessionColumns());
      for (; i < count && !rows->object->is_full(); ++i) AddSession(import, sessions[i], rows->object);
    });
    WriteRows(import, &sessions[first], rows->object);
    rows->Reset(nullptr);
  }
  LeaveInternal(&scope);
}

}  // namespace

void WriteClosedSessions(Import* import) {
  auto* sessions = NewCoreObject<Sessions>();
  CallCoreOrRaise([&] { *sessions = import->events.TakeClosed(); });
  WriteSessions(import, *sessions);
}

void EndImport(Import* import) {
  auto* sessions = NewCoreObject<Sessions>();
  CallCoreOrRaise([&] { *sessions = import->events.TakeAll(); });
  WriteSessions(import, *sessions);
  InternalScope scope;
  EnterInternal(&scope);
  LockKept();
  LockAbstractions();
  WriteAbstractions(import);
  for (const auto& [role, day] : import->days) {
    CHECK_FOR_INTERRUPTS();
    NoteChangedDay(role.c_str(), TextOfInteger(day));
  }
  LeaveInternal(&scope);
  if (import->left_out > 0)
    ereport(NOTICE,
            (errmsg("left out %lld sessions that were watched live", static_cast<long long>(import->left_out))));
}

}  // namespace privacy_score
