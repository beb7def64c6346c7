/*
 * sql_text.cpp - see sql_text.hpp.
 */
#include "backend/server/sql_text.hpp"

extern "C" {
#include "fmgr.h"
#include "utils/builtins.h"
}

namespace privacy_score {

char* TextOfOid(Oid value) { return psprintf("%u", value); }

char* TextOfInteger(int64 value) { return psprintf(INT64_FORMAT, value); }

char* TextOfDay(DateADT day) { return DatumGetCString(DirectFunctionCall1(date_out, DateADTGetDatum(day))); }

void AppendArrayElement(StringInfo array, const char* text) {
  appendStringInfoString(array, array->len == 1 ? "\"" : ",\"");
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') appendStringInfoChar(array, '\\');
    appendStringInfoChar(array, *c);
  }
  appendStringInfoChar(array, '"');
}

}  // namespace privacy_score
