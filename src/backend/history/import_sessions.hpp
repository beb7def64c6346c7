/*
 * import_sessions.hpp - logged statements become recorded sessions.
 *
 * Each statement is abstracted as text, each distinct text once a role. Sessions are cut in core and written as the
 * owner of the extension, with how far they reach where the log tells all of their constants. Importing the same
 * sessions again replaces them; those that were watched live are left out.
 * Unless session_scope is connection the statements of an end user are one session, whatever connection they came over.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "datatype/timestamp.h"
}

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/scoring/logged_executions.hpp"
#include "core/scoring/ngram.hpp"
#include "core/statement/abstraction.hpp"
#include "sqlparse/session_tables.hpp"

namespace privacy_score {

// A text that was abstracted: the id of its abstraction, and its number in `executions`, 0 when its constants are not
// known.
struct ImportedText {
  std::int64_t id = 0;
  std::int64_t number = 0;
};

// What has been read so far.
struct Import {
  std::vector<privacy_score::Event> events;
  std::unordered_map<std::string, ImportedText> texts;
  privacy_score::LoggedExecutions executions;
  std::map<std::int64_t, privacy_score::Tokens> tokens;
  std::unordered_map<std::string, privacy_score::SessionTables> temporary;  // by the connection's name
  std::unordered_map<std::string, std::int64_t> key_of_session;
  struct Connection {
    std::string name, end_user;
  };
  std::vector<Connection> sessions;  // by key
  std::int64_t counted = 0;
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

// Before the first statement. May raise.
void BeginImport(Import* import);

// Adds a statement; false when it has no abstraction. May raise.
bool AddStatement(Import* import, const ImportedStatement& statement);

// Writes all that has been added, with a NOTICE of what was watched live.
void WriteImport(Import* import);

}  // namespace privacy_score
