/*
 * text_statements.hpp - SQL text as tokens, for every function that takes a statement as text.
 */
#pragma once

#include <string>

#include "backend/server/core_call.hpp"
#include "backend/server/wire.hpp"
#include "core/statement/abstraction.hpp"
#include "sqlparse/analyse.hpp"

namespace privacy_score {

// The tokens of a text in the database's encoding, owned by the current memory context: the union over its statements,
// `unparsed` when it does not parse or is too large. Names resolve with the search_path in force; what `role` owns and
// which schemas it may use is asked for that role. `session` (may be null): the temporary tables of the session that
// sent it, before the text and then after it. `constants` (may be null) takes the constants under its key. Raises only
// on cancel and lack of memory.
CoreHolder<privacy_score::Tokens>* TokensOfText(const text* sql, Oid role,
                                                privacy_score::TextUse use = privacy_score::TextUse::kMeaning,
                                                privacy_score::SessionTables* session = nullptr,
                                                privacy_score::TextConstants* constants = nullptr);

// The published form of a text, likewise; palloc'd.
const char* PosterOfText(const text* sql, Oid role);

}  // namespace privacy_score
