/*
 * wire.hpp - SQL results on their way into core, core results on their way to SQL, and text arguments of SQL.
 *
 * AppendQuery runs a read-only query through SPI and appends its rows as text to a buffer in the format of
 * core/base/rows.hpp; AppendLongQuery does so for many rows, some at a time. PutResult returns a ResultTable from a
 * set-returning function. Both are used by every function that computes in core, so no function converts on its own.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
}

#include "core/base/rows.hpp"

namespace privacy_score {

// Connects to SPI until SPI_finish().
void ConnectSpi();

// Arguments of a statement as text, in the form that SPI takes. A null argument is NULL.
constexpr int kMostTextArguments = 20;
struct TextArguments {
  Oid types[kMostTextArguments];
  Datum values[kMostTextArguments];
  char nulls[kMostTextArguments];
};
void FillTextArguments(TextArguments* arguments, int nargs, const char* const* args);

// A field of SPI's last result, row and column counted from 0: its text, palloc'd in the memory context from before SPI
// was connected, null for NULL; or a bigint, 0 for NULL.
char* FieldText(uint64 row, int column);
int64 FieldNumber(uint64 row, int column);

// Runs `sql` (SPI must be connected) with text arguments and appends one section. A null argument is NULL.
// search_path is not touched: `sql` must qualify its names.
// `names`: what its columns must be called (core/base/wire_section.hpp); null: anything.
void AppendQuery(StringInfo wire, const char* sql, int nargs = 0, const char* const* args = nullptr,
                 const char* names = nullptr);

// The same for a query with many rows, of which no more than a thousand are in memory beside the buffer and
// what the query itself sorts. It gets no parallel workers.
void AppendLongQuery(StringInfo wire, const char* sql, int nargs = 0, const char* const* args = nullptr,
                     const char* names = nullptr);

// The same with a plan that is kept (kept_plans.hpp).
void AppendKeptQuery(StringInfo wire, const char* sql, int nargs = 0, const char* const* args = nullptr,
                     const char* names = nullptr);

// The same for sections that are declared.
template <typename Section>
void AppendSection(StringInfo wire, const char* sql, int nargs = 0, const char* const* args = nullptr) {
  AppendQuery(wire, sql, nargs, args, Section::kNames);
}
template <typename Section>
void AppendLongSection(StringInfo wire, const char* sql, int nargs = 0, const char* const* args = nullptr) {
  AppendLongQuery(wire, sql, nargs, args, Section::kNames);
}
template <typename Section>
void AppendKeptSection(StringInfo wire, const char* sql, int nargs = 0, const char* const* args = nullptr) {
  AppendKeptQuery(wire, sql, nargs, args, Section::kNames);
}

// Appends one section with a single row of the given text fields.
void AppendRow(StringInfo wire, int columns, const char* const* fields);

// Brings the fields of whole sections from the database's encoding into UTF-8, which pages and charts are made of.
void SectionsToUtf8(StringInfo wire);

// The parts of a section, for who gathers its rows otherwise: the head, then the fields of all rows; null is NULL.
void AppendSectionHead(StringInfo wire, int columns, uint64 rows);
void AppendField(StringInfo wire, const char* bytes, int length);

// The bytes of a buffer as core reads them.
inline std::string_view WireBytes(const StringInfoData* wire) {
  return {wire->data, static_cast<std::size_t>(wire->len)};
}

// Materialises `result` as the answer of a set-returning function; fields go through the column types' input functions.
// `left_out` is a field of each row that the function does not show, -1 for none.
void PutResult(FunctionCallInfo fcinfo, const privacy_score::ResultTable& result, int left_out = -1);

// A text.
Datum TextDatum(std::string_view text);

// Adds a row to the answer of a set-returning function, after InitMaterializedSRF().
void PutResultRow(FunctionCallInfo fcinfo, Datum* values, bool* nulls);

}  // namespace privacy_score
