/*
 * wire.cpp - see wire.hpp.
 */
#include "backend/server/wire.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
}

#include "backend/server/compat.hpp"
#include "backend/server/kept_plans.hpp"
#include "core/base/wire_section.hpp"

namespace privacy_score {

void ConnectSpi() {
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "could not connect to SPI");
}

void FillTextArguments(TextArguments* arguments, int nargs, const char* const* args) {
  if (nargs > kMostTextArguments) elog(ERROR, "a statement has too many arguments");
  for (int i = 0; i < nargs; ++i) {
    arguments->types[i] = TEXTOID;
    arguments->nulls[i] = args[i] == nullptr ? 'n' : ' ';
    arguments->values[i] = args[i] == nullptr ? Datum(0) : CStringGetTextDatum(args[i]);
  }
}

char* FieldText(uint64 row, int column) {
  const char* value = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column + 1);
  if (value == nullptr) return nullptr;
  const Size size = strlen(value) + 1;
  return static_cast<char*>(memcpy(SPI_palloc(size), value, size));
}

int64 FieldNumber(uint64 row, int column) {
  bool null;
  const Datum value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column + 1, &null);
  return null ? 0 : DatumGetInt64(value);
}

void AppendSectionHead(StringInfo wire, int columns, uint64 rows) {
  for (const uint32 number : {static_cast<uint32>(columns), static_cast<uint32>(rows)})
    appendBinaryStringInfo(wire, reinterpret_cast<const char*>(&number), sizeof number);
}

void AppendField(StringInfo wire, const char* bytes, int length) {
  const int32 head = bytes == nullptr ? -1 : length;
  appendBinaryStringInfo(wire, reinterpret_cast<const char*>(&head), sizeof head);
  if (bytes != nullptr) appendBinaryStringInfo(wire, bytes, length);
}

namespace {

void AppendText(StringInfo wire, const char* text) {
  AppendField(wire, text, text == nullptr ? 0 : static_cast<int>(strlen(text)));
}

constexpr int kRowsAtATime = 1000;

Portal OpenCursor(const char* sql, int nargs, const char* const* args) {
  TextArguments arguments;
  FillTextArguments(&arguments, nargs, args);
  return SPI_cursor_open_with_args(nullptr, sql, nargs, arguments.types, arguments.values, arguments.nulls, true,
                                   CURSOR_OPT_NO_SCROLL);
}

// Raises unless the columns of a query are those of the section that core reads.
void RequireColumns(TupleDesc columns, const char* names) {
  if (names == nullptr) return;
  std::string_view rest = names;
  bool same = true;
  for (int i = 0; i < columns->natts && same; ++i)
    same = TakeColumnNamed(&rest, NameStr(TupleDescAttr(columns, i)->attname));
  if (!same || !rest.empty()) elog(ERROR, "a query does not yield the columns %s", names);
}

// Appends the rows of SPI's last result and frees it; returns their number. Output functions leave copies of their
// values.
uint64 AppendResultRows(StringInfo wire) {
  SPITupleTable* table = SPI_tuptable;
  MemoryContext one_row = AllocSetContextCreate(CurrentMemoryContext, "privacy_score row", ALLOCSET_DEFAULT_SIZES);
  const uint64 count = table->numvals;
  const int columns = table->tupdesc->natts;
  for (uint64 row = 0; row < count; ++row) {
    CHECK_FOR_INTERRUPTS();
    MemoryContext outer = MemoryContextSwitchTo(one_row);
    for (int column = 1; column <= columns; ++column)
      AppendText(wire, SPI_getvalue(table->vals[row], table->tupdesc, column));
    MemoryContextSwitchTo(outer);
    MemoryContextReset(one_row);
  }
  MemoryContextDelete(one_row);
  SPI_freetuptable(table);
  return count;
}

// Appends the section of an open cursor, some rows at a time, and closes it.
void AppendPortal(StringInfo wire, Portal portal, const char* names) {
  RequireColumns(portal->tupDesc, names);
  const int head = wire->len;
  AppendSectionHead(wire, portal->tupDesc->natts, 0);
  uint64 count = 0;
  for (uint64 more = kRowsAtATime; more == kRowsAtATime; count += more) {
    SPI_cursor_fetch(portal, true, kRowsAtATime);
    more = AppendResultRows(wire);
  }
  SPI_cursor_close(portal);
  const auto rows = static_cast<uint32>(count);
  memcpy(wire->data + head + sizeof rows, &rows, sizeof rows);  // after the number of columns
}

}  // namespace

void AppendQuery(StringInfo wire, const char* sql, int nargs, const char* const* args, const char* names) {
  TextArguments arguments;
  FillTextArguments(&arguments, nargs, args);
  if (SPI_execute_with_args(sql, nargs, arguments.types, arguments.values, arguments.nulls, true, 0) != SPI_OK_SELECT)
    elog(ERROR, "unexpected result of an internal query");
  RequireColumns(SPI_tuptable->tupdesc, names);
  AppendSectionHead(wire, SPI_tuptable->tupdesc->natts, SPI_tuptable->numvals);
  AppendResultRows(wire);
}

void AppendLongQuery(StringInfo wire, const char* sql, int nargs, const char* const* args, const char* names) {
  AppendPortal(wire, OpenCursor(sql, nargs, args), names);
}

void AppendKeptQuery(StringInfo wire, const char* sql, int nargs, const char* const* args, const char* names) {
  TextArguments arguments;
  FillTextArguments(&arguments, nargs, args);
  AppendPortal(wire, SPI_cursor_open(nullptr, KeptPlan(sql, nargs), arguments.values, arguments.nulls, true), names);
}

void AppendRow(StringInfo wire, int columns, const char* const* fields) {
  AppendSectionHead(wire, columns, 1);
  for (int i = 0; i < columns; ++i) AppendText(wire, fields[i]);
}

void SectionsToUtf8(StringInfo wire) {
  const int encoding = GetDatabaseEncoding();
  if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII) return;
  StringInfoData converted;
  initStringInfo(&converted);
  const char* at = wire->data;
  while (at < wire->data + wire->len) {
    uint32 size[2];  // columns and rows
    memcpy(size, at, sizeof size);
    appendBinaryStringInfo(&converted, at, sizeof size);
    at += sizeof size;
    for (uint64 field = 0; field < static_cast<uint64>(size[0]) * size[1]; ++field) {
      int32 length;
      memcpy(&length, at, sizeof length);
      at += sizeof length;
      AppendText(&converted,
                 length < 0 ? nullptr : pg_server_to_any(pnstrdup(at, static_cast<Size>(length)), length, PG_UTF8));
      at += length < 0 ? 0 : length;
    }
  }
  *wire = converted;
}

void PutResult(FunctionCallInfo fcinfo, const privacy_score::ResultTable& result, int left_out) {
  InitMaterializedSRF(fcinfo, 0);
  auto* info = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  AttInMetadata* meta = TupleDescGetAttInMetadata(info->setDesc);
  const int columns = info->setDesc->natts;
  char** fields = static_cast<char**>(palloc(sizeof(char*) * columns));
  MemoryContext of_row = AllocSetContextCreate(CurrentMemoryContext, "privacy_score row", ALLOCSET_DEFAULT_SIZES);
  for (const auto& row : result.rows) {
    CHECK_FOR_INTERRUPTS();
    const int given = static_cast<int>(row.size());
    if (given != columns + (left_out >= 0 ? 1 : 0))
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("the function is of another version of privacy_score than its library"),
                      errhint("Run ALTER EXTENSION privacy_score UPDATE.")));
    int column = 0;
    for (int i = 0; i < given; ++i) {
      if (i == left_out) continue;
      const auto& field = row[static_cast<std::size_t>(i)];
      fields[column++] = field ? const_cast<char*>(field->c_str()) : nullptr;
    }
    MemoryContext outer = MemoryContextSwitchTo(of_row);
    tuplestore_puttuple(info->setResult, BuildTupleFromCStrings(meta, fields));
    MemoryContextSwitchTo(outer);
    MemoryContextReset(of_row);
  }
  MemoryContextDelete(of_row);
}

Datum TextDatum(std::string_view text) {
  return PointerGetDatum(cstring_to_text_with_len(text.data(), static_cast<int>(text.size())));
}

void PutResultRow(FunctionCallInfo fcinfo, Datum* values, bool* nulls) {
  auto* info = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  tuplestore_putvalues(info->setResult, info->setDesc, values, nulls);
}

}  // namespace privacy_score
