/*
 * wire.hpp - SQL results on their way into core, core results on their way to SQL.
 *
 * AppendQuery runs a read-only query through SPI and appends its rows as text to a buffer in the format of
 * core/rows.hpp. PutResult returns a ResultTable from a set-returning function. Both are used by every function that
 * computes in core, so no function converts on its own.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
}

#include "core/rows.hpp"

// Runs `sql` (SPI must be connected) with text arguments and appends one section. A null argument is NULL.
// search_path is not touched: `sql` must qualify its names.
void AppendQuery(StringInfo wire, const char* sql, int nargs = 0, const char* const* args = nullptr);

// Appends one section with a single row of the given text fields.
void AppendRow(StringInfo wire, int columns, const char* const* fields);

// Brings the fields of whole sections from the database's encoding into UTF-8, which pages and charts are made of.
void SectionsToUtf8(StringInfo wire);

// The bytes of a buffer as core reads them.
inline std::string_view WireBytes(const StringInfoData* wire) {
  return {wire->data, static_cast<std::size_t>(wire->len)};
}

// Materialises `result` as the answer of a set-returning function; fields go through the column types' input functions.
// `left_out` is a field of each row that the function does not show, -1 for none.
void PutResult(FunctionCallInfo fcinfo, const privacy_score::ResultTable& result, int left_out = -1);
