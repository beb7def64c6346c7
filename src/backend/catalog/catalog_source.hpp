/*
 * catalog_source.hpp - the catalogs as the SQL text front end wants them.
 *
 * sqlparse cannot call the server; it says which names it misses and is fed with answers (sqlparse/catalog.hpp has the
 * rounds and the format). Names are resolved with the caller's search_path. Where the server would refuse a name, in a
 * schema without USAGE, it counts as missing; not so what views refer to, which the server resolved when they were
 * made. Nothing is told that everybody cannot read in the catalogs.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "lib/stringinfo.h"
}

#include <vector>

#include "sqlparse/catalog.hpp"

namespace privacy_score {

// Appends one feeding with an answer to each name. `check_usage`: the names are the text's own, in the first round;
// those of later rounds come from views. Rights and ownership are those of `role` (InvalidOid: a role that owns nothing
// and may use every schema). Takes no locks on relations. May raise on broken catalogs, cancel and lack of memory only.
void AppendCatalog(StringInfo wire, const std::vector<privacy_score::MissingName>& names, Oid role, bool check_usage);

// Text in the database's encoding as UTF-8, the encoding of sqlparse; palloc'd or `text` itself.
const char* ToUtf8(const char* text, int length, int* utf8_length);

const char* Utf8Name(const char* name);

// The way back, NUL-terminated; null when the database's encoding cannot hold it.
const char* FromUtf8(const char* text, int length);

}  // namespace privacy_score
