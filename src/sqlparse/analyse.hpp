/*
 * analyse.hpp - SQL text to Statements and tokens. The front end for logs and ad-hoc text; never calls the server.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/keyed_hash.hpp"
#include "core/base/paused.hpp"
#include "core/statement/abstraction.hpp"
#include "core/statement/arena.hpp"
#include "core/statement/comparisons.hpp"
#include "core/statement/statement.hpp"
#include "sqlparse/catalog.hpp"
#include "sqlparse/session_tables.hpp"

namespace privacy_score {

// The server whose grammar text is parsed with, as in its PG_VERSION_NUM; it need not be the one that runs.
extern const int kGrammarVersion;

// What a text is abstracted for. It makes a difference for plain EXPLAIN: as text it is the query within, in the
// history what the server counts when it is sent.
enum class TextUse { kMeaning, kHistory };

// The constants of a text, as far as they are known before it is sent.
struct TextConstants {
  HashKey key;               // given
  StatementConstants found;  // of all its statements, one after the other
  bool known = false;        // the text could be read
};

// What a text is read for, and what that may take. The time may grow with the square of the text, as in the server:
// whoever reads throws Paused (core/base/paused.hpp) when `gives_up` says so. What takes more than some times `memory`
// bytes besides a scan of the text is unparsed.
//
// `session` (may be null) has the temporary tables that the session whose text it is has made so far; when nothing is
// missing it has those after the text. `constants` (may be null) takes the constants.
struct TextReading {
  GivesUp gives_up = nullptr;
  TextUse use = TextUse::kMeaning;
  std::size_t memory = SIZE_MAX;
  SessionTables* session = nullptr;
  TextConstants* constants = nullptr;
};

// The statements of `sql` (UTF-8), with the names that `catalog` knows. Text that does not parse, or is nested too
// deeply, is one Statement with `unparsed`. Names that the catalog never answered are added to `missing` (may be null)
// and meanwhile treated as if they did not exist. The statements live in `arena` and do not point into `catalog`.
std::vector<Statement> AnalyseText(std::string_view sql, const Catalog& catalog, Arena& arena,
                                   std::vector<MissingName>* missing, const TextReading& reading = {});

// The union of the tokens of all statements in `sql`.
Tokens AbstractText(std::string_view sql, const Catalog& catalog, std::vector<MissingName>* missing = nullptr,
                    const TextReading& reading = {});

// The published form; of several statements each, with a space between.
std::string PosterText(std::string_view sql, const Catalog& catalog, std::vector<MissingName>* missing = nullptr,
                       const TextReading& reading = {});

}  // namespace privacy_score
