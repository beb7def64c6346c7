/*
 * wire.cpp - see wire.hpp.
 */
#include "wire.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
}

namespace {

template <typename T>
void PutNumber(StringInfo wire, T value) {
  appendBinaryStringInfo(wire, reinterpret_cast<const char*>(&value), sizeof(T));
}

void PutField(StringInfo wire, const char* text) {
  if (text == nullptr) {
    PutNumber<int32>(wire, -1);
    return;
  }
  const auto length = static_cast<int32>(strlen(text));
  PutNumber<int32>(wire, length);
  appendBinaryStringInfo(wire, text, length);
}

}  // namespace

void AppendQuery(StringInfo wire, const char* sql, int nargs, const char* const* args) {
  Oid types[8];
  Datum values[8];
  char nulls[8] = {};
  Assert(nargs <= 8);
  for (int i = 0; i < nargs; ++i) {
    types[i] = TEXTOID;
    nulls[i] = args[i] == nullptr ? 'n' : ' ';
    values[i] = args[i] == nullptr ? Datum(0) : CStringGetTextDatum(args[i]);
  }
  if (SPI_execute_with_args(sql, nargs, types, values, nulls, true, 0) != SPI_OK_SELECT)
    elog(ERROR, "unexpected result of an internal query");
  SPITupleTable* table = SPI_tuptable;
  const int columns = table->tupdesc->natts;
  PutNumber<uint32>(wire, static_cast<uint32>(columns));
  PutNumber<uint32>(wire, static_cast<uint32>(table->numvals));
  for (uint64 row = 0; row < table->numvals; ++row) {
    CHECK_FOR_INTERRUPTS();
    for (int column = 1; column <= columns; ++column) {
      char* text = SPI_getvalue(table->vals[row], table->tupdesc, column);
      PutField(wire, text);
      if (text != nullptr) pfree(text);
    }
  }
  SPI_freetuptable(table);
}

void AppendRow(StringInfo wire, int columns, const char* const* fields) {
  PutNumber<uint32>(wire, static_cast<uint32>(columns));
  PutNumber<uint32>(wire, 1);
  for (int i = 0; i < columns; ++i) PutField(wire, fields[i]);
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
      PutField(&converted,
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
    HeapTuple tuple = BuildTupleFromCStrings(meta, fields);
    tuplestore_puttuple(info->setResult, tuple);
    heap_freetuple(tuple);
  }
}
