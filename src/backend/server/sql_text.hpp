/*
 * sql_text.hpp - values as the texts that are parameters of our statements, and moments and days from these.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/date.h"
}

namespace privacy_score {

// A moment and a day in SQL, from a parameter in text form: microseconds since 2000, which no DateStyle can misread,
// and days since then.
#define SQL_MOMENT(parameter)                                      \
  "('2000-01-01 00:00:00+00'::pg_catalog.timestamptz + " parameter \
  "::pg_catalog.int8 * '1 microsecond'::pg_catalog.interval)"
#define SQL_DAY(parameter) "('2000-01-01'::pg_catalog.date + " parameter "::pg_catalog.int4)"

// Numbers, and a day in the DateStyle in force, as text, palloc'd.
char* TextOfOid(Oid value);

char* TextOfInteger(int64 value);

char* TextOfDay(DateADT day);

// Adds an element to the literal of a text[] that begins with "{" and is not closed yet.
void AppendArrayElement(StringInfo array, const char* text);

}  // namespace privacy_score
