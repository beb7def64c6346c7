/*
 * import_sessions.cpp - see import_sessions.hpp.
 */
#include "backend/history/import_sessions.hpp"

#include "backend/catalog/subject_key.hpp"
#include "backend/rates/kept_scores.hpp"
#include "backend/rates/model_wire.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/end_user.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/text/text_statements.hpp"

extern "C" {
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
}

namespace privacy_score {

namespace {

// Beyond this many distinct texts the memory of texts starts anew; abstractions stay.
constexpr std::size_t kMostTexts = 100000;
// Texts that are longer are not remembered.
constexpr std::size_t kShortText = 8192;
// Beyond this many sessions nothing is known any more of their temporary tables.
constexpr std::size_t kMostSessions = 10000;

// Abstracts each text once a role, since what a role owns makes a difference, but those that have to do with temporary
// tables, which are another matter in each session.
ImportedText Abstracted(Import* import, const ImportedStatement& statement) {
  bool is_short = VARSIZE_ANY_EXHDR(statement.sql) <= kShortText;
  const char* key = is_short ? psprintf("%s\n%s", statement.role, text_to_cstring(statement.sql)) : "";
  bool known = false;
  ImportedText result;
  privacy_score::SessionTables* tables = nullptr;
  std::uint64_t changes = 0;
  CallCoreOrRaise([&] {
    if (import->texts.size() > kMostTexts) import->texts.clear();
    if (import->temporary.size() > kMostSessions) import->temporary.clear();
    tables = &import->temporary[statement.session];
    changes = tables->changes();
    is_short = is_short && !tables->MayBeNamedIn(key);
    const auto found = import->texts.find(key);
    known = is_short && found != import->texts.end();
    if (known) result = found->second;
  });
  if (known) return result;
  auto* constants = NewCoreObject<privacy_score::TextConstants>();
  constants->key = import->executions.key();
  CoreHolder<privacy_score::Tokens>* tokens = TokensOfText(statement.sql, get_role_oid(statement.role, true),
                                                           privacy_score::TextUse::kHistory, tables, constants);
  CallCoreOrRaise([&] {
    result.id = privacy_score::Fingerprint(*tokens->object);
    if (result.id != 0 && constants->known) result.number = import->executions.AddText(constants->found);
    if (is_short && tables->changes() == changes) import->texts.emplace(key, result);
    if (result.id != 0) import->tokens.emplace(result.id, *tokens->object);
  });
  return result;
}

// One cut session as text arguments.
struct SessionText {
  std::string role, session, started, ended, day, ids, runs, queries;
  std::string connection;  // the session as given, without the number of the piece
  std::string end_user;    // empty: none
  // Empty: not known.
  std::string rows, most_rows, reach, subjects, subject_columns, addressed, person;
};

const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// Writes one session; false when it was watched live, so that a server's own log does not count twice.
bool WriteSession(const SessionText* text) {
  const char* args[] = {text->role.c_str(),      text->session.c_str(),  text->day.c_str(),
                        text->started.c_str(),   text->ended.c_str(),    text->queries.c_str(),
                        text->ids.c_str(),       text->runs.c_str(),     text->connection.c_str(),
                        text->end_user.c_str(),  OrNull(text->rows),     OrNull(text->most_rows),
                        OrNull(text->reach),     OrNull(text->subjects), OrNull(text->subject_columns),
                        OrNull(text->addressed), OrNull(text->person)};
  if (InternalValue("SELECT 1 FROM privacy_score.session WHERE role = $1::pg_catalog.name AND source = 'live' "
                    "AND (session = $9 OR pg_catalog.starts_with(session, $9 || '/') OR end_user = NULLIF($10, '')) "
                    "AND day = " SQL_DAY("$3") " LIMIT 1",
                    10, args) != nullptr)
    return false;
  // The same stretch of a log may have been imported before, cut otherwise or as another piece of its connection.
  RunInternal(
      "WITH old AS (DELETE FROM privacy_score.session WHERE role = $1::pg_catalog.name AND source = 'import' "
      "AND (session = $9 OR pg_catalog.starts_with(session, $9 || '/') "
      "AND pg_catalog.substr(session, pg_catalog.length($9) + 2) ~ '^[0-9]+$') "
      "AND end_user IS NOT DISTINCT FROM NULLIF($10, '') "
      "AND started <= " SQL_MOMENT("$5") " "
      "AND last_at >= " SQL_MOMENT("$4") " RETURNING id, day), "
      "k AS (UPDATE privacy_score.kept_day c SET made_under = NULL FROM old WHERE c.role = $1::pg_catalog.name AND "
      "c.day = old.day), "
      "p AS (DELETE FROM privacy_score.session_part d USING old WHERE d.session_id = old.id RETURNING d.ids, d.runs, d.rows), "
      "u AS (SELECT x.id, pg_catalog.sum(x.run)::pg_catalog.int8 AS calls, "
      "pg_catalog.sum(COALESCE(x.returned, 0))::pg_catalog.int8 AS rows FROM p, "
      "ROWS FROM (pg_catalog.unnest(p.ids), pg_catalog.unnest(p.runs), pg_catalog.unnest(p.rows)) x(id, run, returned) "
      "GROUP BY x.id) "
      "UPDATE privacy_score.abstraction a SET calls = a.calls - u.calls, rows = a.rows - u.rows "
      "FROM u WHERE a.id = u.id",
      10, args);
  RunInternal(
      "WITH s AS (INSERT INTO privacy_score.session (role, session, day, started, last_at, source, queries, end_user, "
      "most_rows, reach, subjects, subject_columns, addressed, person) "
      "VALUES ($1::pg_catalog.name, $2, " SQL_DAY("$3") ", "
      SQL_MOMENT("$4") ", "
      SQL_MOMENT("$5") ", "
      "'import', $6::pg_catalog.int8, NULLIF($10, ''), $12::pg_catalog.int8, $13::pg_catalog.int8, "
      "$14::pg_catalog.int8, $15::pg_catalog.int4, $16::pg_catalog.int8, $17::pg_catalog.int8) RETURNING id) "
      "INSERT INTO privacy_score.session_part (session_id, part, ids, runs, rows) "
      "SELECT s.id, 0, $7::pg_catalog.int8[], $8::pg_catalog.int8[], $11::pg_catalog.int8[] FROM s",
      17, args);
  RunInternal(
      "UPDATE privacy_score.abstraction a SET calls = a.calls + u.calls, rows = a.rows + u.rows, "
      "first_seen = LEAST(a.first_seen, u.at), last_seen = GREATEST(a.last_seen, u.at) "
      "FROM (SELECT x.id, pg_catalog.sum(x.run)::pg_catalog.int8 AS calls, "
      "pg_catalog.sum(COALESCE(x.returned, 0))::pg_catalog.int8 AS rows, "
      SQL_MOMENT("$5") " AS at "
      "FROM ROWS FROM (pg_catalog.unnest($7::pg_catalog.int8[]), pg_catalog.unnest($8::pg_catalog.int8[]), "
      "pg_catalog.unnest($11::pg_catalog.int8[])) x(id, run, returned) GROUP BY x.id) u WHERE a.id = u.id",
      11, args);
  return true;
}

void WriteAbstraction(const char* id, const char* tokens) {
  const char* args[] = {id, tokens};
  RunInternal(
      "INSERT INTO privacy_score.abstraction (id, tokens, first_seen, last_seen) "
      "VALUES ($1::pg_catalog.int8, $2::text[], 'infinity', '-infinity') ON CONFLICT DO NOTHING",
      2, args);
}

// A model of what is declared, which says whose data columns hold and which of them identify.
const privacy_score::Model* DeclaredModel() {
  StringInfoData wire;
  initStringInfo(&wire);
  InternalScope scope;
  EnterInternal(&scope);
  AppendModel(&wire, ModelScope::kLive, nullptr);
  LeaveInternal(&scope);
  auto* model = NewCoreObject<privacy_score::Model>();
  CallCoreOrRaise([&] { *model = privacy_score::Model::Parse(WireBytes(&wire)); });
  pfree(wire.data);
  return model;
}

}  // namespace

void BeginImport(Import* import) { import->executions = privacy_score::LoggedExecutions(SubjectKeyInForce().key); }

bool AddStatement(Import* import, const ImportedStatement& statement) {
  const char* end_user = CheckedName(statement.end_user);
  const bool over_all = end_user[0] != '\0' && IsOverAll(end_user);
  const int32 day = DayOf(statement.at);
  const ImportedText text = Abstracted(import, statement);
  CallCoreOrRaise([&] {
    // No session of a server is named like that.
    const std::string name = over_all ? std::string("end user ") + end_user : statement.session;
    const auto known =
        import->key_of_session.emplace(name + '\n' + end_user, static_cast<std::int64_t>(import->sessions.size()));
    if (known.second) import->sessions.push_back({name, end_user});
    if (text.id == 0) return;
    static const privacy_score::LoggedParameters none;
    const std::int64_t execution =
        import->executions.Add(text.number, statement.parameters == nullptr ? none : *statement.parameters);
    const auto rows = statement.rows < 0 ? std::nullopt : std::optional<std::int64_t>(statement.rows);
    import->events.push_back({known.first->second, statement.role, statement.at, day, text.id, execution, rows});
    ++import->counted;
  });
  return text.id != 0;
}

void WriteImport(Import* import) {
  auto* sessions = NewCoreObject<std::vector<SessionText>>();
  auto* abstractions = NewCoreObject<std::vector<std::pair<std::string, std::string>>>();
  const int64 gap = static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC;
  const privacy_score::Model* model = DeclaredModel();
  const bool where_counts = ps_settings.where_counts;
  CallCoreOrRaise([&] {
    std::unordered_map<std::int64_t, int> pieces;
    for (const auto& cut : privacy_score::CutSessions(std::move(import->events), gap)) {
      const int piece = ++pieces[cut.session_key];
      const Import::Connection& connection = import->sessions[static_cast<std::size_t>(cut.session_key)];
      std::string name = connection.name;
      if (piece > 1) name += '/' + std::to_string(piece);
      SessionText& text = sessions->emplace_back();
      text.role = cut.role;
      text.session = name;
      text.started = std::to_string(cut.started);
      text.ended = std::to_string(cut.ended);
      text.day = std::to_string(cut.day);
      text.ids = privacy_score::IdsText(cut.sequence);
      text.runs = privacy_score::RunsText(cut.sequence);
      text.queries = std::to_string(privacy_score::LengthOf(cut.sequence));
      text.connection = connection.name;
      text.end_user = connection.end_user;
      if (cut.most_rows) {
        text.rows = privacy_score::RowsText(cut.sequence);
        text.most_rows = std::to_string(*cut.most_rows);
      }
      const auto figures = import->executions.FiguresOf(
          cut.steps, *model, where_counts, [import](std::int64_t id) -> const auto& { return import->tokens.at(id); });
      if (!figures) continue;
      text.reach = std::to_string(figures->values[0]);
      text.subjects = std::to_string(figures->values[1]);
      text.subject_columns = std::to_string(figures->values[2]);
      text.addressed = std::to_string(figures->addressed);
      text.person = std::to_string(figures->person);
    }
    for (const auto& [id, tokens] : import->tokens)
      abstractions->emplace_back(std::to_string(id), privacy_score::ArrayText(tokens));
  });
  InternalScope scope;
  EnterInternal(&scope);
  LockKept();
  LockAbstractions();
  const std::size_t distinct = abstractions->size();
  for (std::size_t i = 0; i < distinct; ++i)
    WriteAbstraction((*abstractions)[i].first.c_str(), (*abstractions)[i].second.c_str());
  const std::size_t count = sessions->size();
  int64 skipped = 0;
  for (std::size_t i = 0; i < count; ++i) {
    CHECK_FOR_INTERRUPTS();
    const SessionText* session = &(*sessions)[i];
    if (!WriteSession(session)) ++skipped;
    // What is kept of a day holds no longer; sessions of one stand side by side as a rule.
    const SessionText* next = i + 1 < count ? session + 1 : nullptr;
    if (next == nullptr || next->role != session->role || next->day != session->day)
      NoteChangedDay(session->role.c_str(), session->day.c_str());
  }
  LeaveInternal(&scope);
  if (skipped > 0)
    ereport(NOTICE, (errmsg("left out %lld sessions that were watched live", static_cast<long long>(skipped))));
}

}  // namespace privacy_score
