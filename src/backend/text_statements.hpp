/*
 * text_statements.hpp - SQL text as tokens, for every function that takes a statement as text.
 */
#pragma once

#include <string>

#include "core/abstraction.hpp"
#include "core_call.hpp"
#include "wire.hpp"

// The tokens of a text, owned by the current memory context: the union over its statements, `unparsed` when it does not
// parse. Names resolve with the search_path in force. Raises only on cancel and out of memory.
CoreHolder<privacy_score::Tokens>* TokensOfText(const text* sql);

// The published form of a text, likewise.
CoreHolder<std::string>* PosterOfText(const text* sql);
