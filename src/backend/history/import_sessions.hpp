/*
 * import_sessions.hpp - logged statements become recorded sessions.
 *
 * Each statement is abstracted as text, each distinct text once a role, and kept until its session is over. Sessions
 * are cut in core and written meanwhile (import_writing.hpp). Unless session_scope is connection the statements of an
 * end user are one session, whatever connection they came over.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "datatype/timestamp.h"
}

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/scoring/event_buffer.hpp"
#include "core/scoring/logged_executions.hpp"
#include "core/scoring/model.hpp"
#include "core/statement/abstraction.hpp"
#include "sqlparse/session_tables.hpp"

namespace privacy_score {

// A text that was abstracted: the id of its abstraction, and its number in `executions`, 0 when its constants are not
// known.
struct ImportedText {
  std::int64_t id = 0;
  std::int64_t number = 0;
};

// By how much what was written changes the counts of an abstraction.
struct AbstractionChange {
  std::int64_t calls = 0;
  std::int64_t rows = 0;
  // When the sessions ended that have it: the first and the last of them, where there is one.
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
};

// What has been read and is not written yet, and what goes on from one session that is written to the next.
struct Import {
  privacy_score::EventBuffer events;
  std::unordered_map<std::string, ImportedText> texts;
  privacy_score::LoggedExecutions executions;
  std::map<std::int64_t, privacy_score::Tokens> tokens;
  std::unordered_map<std::string, privacy_score::SessionTables> temporary;  // by the connection's name
  std::unordered_map<std::string, std::int64_t> key_of_session;
  // There may be a hundred thousand of them: each takes little more than its name.
  struct Connection {
    const std::string* text;  // its name, a line feed, its end user: a key of key_of_session
    std::uint32_t name_size;
    std::uint32_t role = 0;    // the first, a number of `roles`
    std::uint32_t pieces = 0;  // how many of its sessions are of that
    std::string name() const { return text->substr(0, name_size); }
    std::string end_user() const { return text->substr(name_size + 1); }
  };
  std::deque<Connection> sessions;  // by key
  std::int64_t counted = 0;

  // Of what has been written (import_writing.hpp).
  MemoryContext context = nullptr;                       // for what lives as long as the import
  const privacy_score::Model* model = nullptr;           // what is declared, once it was asked for
  std::unordered_map<std::string, std::uint32_t> roles;  // from 1 on
  // How many sessions of each key and role, but for the connection's first role.
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> pieces;
  std::unordered_map<std::int64_t, AbstractionChange> changes;
  std::set<std::pair<std::string, std::int64_t>> days;  // roles with the days whose history is another now
  std::size_t full_at = 0;                              // bytes of executions, beyond which sessions are written
  std::string first_id;                                 // sessions from here on are this import's own
  std::int64_t left_out = 0;                            // sessions that were watched live
};

// One statement, in the database's encoding. `end_user` is empty for none; `parameters` may be null, where they are not
// known; below zero `rows` are not.
struct ImportedStatement {
  const char* session;
  const char* role;
  TimestampTz at;
  const text* sql;
  const char* end_user = "";
  const privacy_score::LoggedParameters* parameters = nullptr;
  int64 rows = -1;
};

// Before the first statement; `streams`: sessions that are over are written while others are read. May raise.
void BeginImport(Import* import, bool streams);

// Adds a statement; false when it has no abstraction. Writes sessions that are over when there are as many statements
// as maintenance_work_mem has room for. May raise.
bool AddStatement(Import* import, const ImportedStatement& statement);

}  // namespace privacy_score
