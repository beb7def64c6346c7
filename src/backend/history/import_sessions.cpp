/*
 * import_sessions.cpp - see import_sessions.hpp.
 */
#include "backend/history/import_sessions.hpp"

#include "backend/server/settings.hpp"
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

namespace {

// Beyond this many distinct texts the memory of texts starts anew; abstractions stay.
constexpr std::size_t kMostTexts = 100000;
// Texts that are longer are not remembered.
constexpr std::size_t kShortText = 8192;
// Beyond this many sessions nothing is known any more of their temporary tables.
constexpr std::size_t kMostSessions = 10000;

// The id of a statement's abstraction; abstracts each text once a role, since what a role owns makes a difference, but
// those that have to do with temporary tables, which are another matter in each session.
int64 IdOfText(Import* import, const char* session, const char* role, const text* sql) {
  bool is_short = VARSIZE_ANY_EXHDR(sql) <= kShortText;
  const char* key = is_short ? psprintf("%s\n%s", role, text_to_cstring(sql)) : "";
  bool known = false;
  int64 id = 0;
  privacy_score::SessionTables* tables = nullptr;
  std::uint64_t changes = 0;
  CallCoreOrRaise([&] {
    if (import->id_of_text.size() > kMostTexts) import->id_of_text.clear();
    if (import->temporary.size() > kMostSessions) import->temporary.clear();
    tables = &import->temporary[session];
    changes = tables->changes();
    is_short = is_short && !tables->MayBeNamedIn(key);
    const auto found = import->id_of_text.find(key);
    known = is_short && found != import->id_of_text.end();
    if (known) id = found->second;
  });
  if (known) return id;
  CoreHolder<privacy_score::Tokens>* tokens =
      TokensOfText(sql, get_role_oid(role, true), privacy_score::TextUse::kHistory, tables);
  CallCoreOrRaise([&] {
    id = privacy_score::Fingerprint(*tokens->object);
    if (is_short && tables->changes() == changes) import->id_of_text.emplace(key, id);
    if (id != 0) import->tokens.emplace(id, *tokens->object);
  });
  return id;
}

// One cut session as text arguments.
struct SessionText {
  std::string role, session, started, ended, day, ids, runs, queries;
  std::string connection;  // the session as given, without the number of the piece
  std::string end_user;    // empty: none
};

// Writes one session; false when it was watched live, so that a server's own log does not count twice.
bool WriteSession(const SessionText* text) {
  const char* args[] = {text->role.c_str(),       text->session.c_str(), text->day.c_str(), text->started.c_str(),
                        text->ended.c_str(),      text->queries.c_str(), text->ids.c_str(), text->runs.c_str(),
                        text->connection.c_str(), text->end_user.c_str()};
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
      "AND last_at >= " SQL_MOMENT("$4") " RETURNING id), "
      "p AS (DELETE FROM privacy_score.session_part d USING old WHERE d.session_id = old.id RETURNING d.ids, d.runs), "
      "u AS (SELECT x.id, pg_catalog.sum(x.run)::pg_catalog.int8 AS calls FROM p, "
      "ROWS FROM (pg_catalog.unnest(p.ids), pg_catalog.unnest(p.runs)) x(id, run) GROUP BY x.id) "
      "UPDATE privacy_score.abstraction a SET calls = a.calls - u.calls FROM u WHERE a.id = u.id",
      10, args);
  RunInternal(
      "WITH s AS (INSERT INTO privacy_score.session (role, session, day, started, last_at, source, queries, end_user) "
      "VALUES ($1::pg_catalog.name, $2, " SQL_DAY("$3") ", "
      SQL_MOMENT("$4") ", "
      SQL_MOMENT("$5") ", "
      "'import', $6::pg_catalog.int8, NULLIF($10, '')) RETURNING id) "
      "INSERT INTO privacy_score.session_part (session_id, part, ids, runs) "
      "SELECT s.id, 0, $7::pg_catalog.int8[], $8::pg_catalog.int8[] FROM s",
      10, args);
  RunInternal(
      "UPDATE privacy_score.abstraction a SET calls = a.calls + u.calls, first_seen = LEAST(a.first_seen, u.at), "
      "last_seen = GREATEST(a.last_seen, u.at) "
      "FROM (SELECT x.id, pg_catalog.sum(x.run)::pg_catalog.int8 AS calls, "
      SQL_MOMENT("$5") " AS at "
      "FROM ROWS FROM (pg_catalog.unnest($7::pg_catalog.int8[]), pg_catalog.unnest($8::pg_catalog.int8[])) x(id, run) "
      "GROUP BY x.id) u WHERE a.id = u.id",
      8, args);
  return true;
}

void WriteAbstraction(const char* id, const char* tokens) {
  const char* args[] = {id, tokens};
  RunInternal(
      "INSERT INTO privacy_score.abstraction (id, tokens, first_seen, last_seen) "
      "VALUES ($1::pg_catalog.int8, $2::text[], 'infinity', '-infinity') ON CONFLICT DO NOTHING",
      2, args);
}

}  // namespace

bool AddStatement(Import* import, const char* session, const char* role, TimestampTz at, const text* sql,
                  const char* end_user) {
  const char* checked = CheckedName(end_user);
  const bool over_all = checked[0] != '\0' && IsOverAll(checked);
  const int32 day = DayOf(at);
  const int64 id = IdOfText(import, session, role, sql);
  CallCoreOrRaise([&] {
    // No session of a server is named like that.
    const std::string name = over_all ? std::string("end user ") + checked : session;
    const auto known =
        import->key_of_session.emplace(name + '\n' + checked, static_cast<std::int64_t>(import->sessions.size()));
    if (known.second) import->sessions.push_back({name, checked});
    if (id == 0) return;
    import->events.push_back({known.first->second, role, at, day, id});
    ++import->counted;
  });
  return id != 0;
}

void WriteImport(Import* import) {
  auto* sessions = NewCoreObject<std::vector<SessionText>>();
  auto* abstractions = NewCoreObject<std::vector<std::pair<std::string, std::string>>>();
  const int64 gap = static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC;
  CallCoreOrRaise([&] {
    std::unordered_map<std::int64_t, int> pieces;
    for (const auto& cut : privacy_score::CutSessions(std::move(import->events), gap)) {
      const int piece = ++pieces[cut.session_key];
      const Import::Connection& connection = import->sessions[static_cast<std::size_t>(cut.session_key)];
      std::string name = connection.name;
      if (piece > 1) name += '/' + std::to_string(piece);
      sessions->push_back({cut.role, name, std::to_string(cut.started), std::to_string(cut.ended),
                           std::to_string(cut.day), privacy_score::IdsText(cut.sequence),
                           privacy_score::RunsText(cut.sequence), std::to_string(privacy_score::LengthOf(cut.sequence)),
                           connection.name, connection.end_user});
    }
    for (const auto& [id, tokens] : import->tokens)
      abstractions->emplace_back(std::to_string(id), privacy_score::ArrayText(tokens));
  });
  InternalScope scope;
  EnterInternal(&scope);
  LockAbstractions();
  const std::size_t distinct = abstractions->size();
  for (std::size_t i = 0; i < distinct; ++i)
    WriteAbstraction((*abstractions)[i].first.c_str(), (*abstractions)[i].second.c_str());
  const std::size_t count = sessions->size();
  int64 skipped = 0;
  for (std::size_t i = 0; i < count; ++i) {
    CHECK_FOR_INTERRUPTS();
    if (!WriteSession(&(*sessions)[i])) ++skipped;
  }
  LeaveInternal(&scope);
  if (skipped > 0)
    ereport(NOTICE, (errmsg("left out %lld sessions that were watched live", static_cast<long long>(skipped))));
}
