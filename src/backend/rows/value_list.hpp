/*
 * value_list.hpp - the distinct values of a column by number, where they are needed again as values.
 *
 * Numbers are the codes of a ValueDictionary. Of equal values that look different (1.0 and 1.00) the first one that
 * came stands for all.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
}

#include "backend/rows/value_dictionary.hpp"

namespace privacy_score {

struct ValueList {
  DictionaryMemory memory;
  ValueDictionary* dictionary;
  Oid type;
  Datum* values;  // by number; of NULL 0
  int64 count;
  int64 room;
  int64 null_number;  // -1 while NULL has not come
};

// An empty list of values of a type. Its memory is a context below the current one and bounded by maintenance_work_mem.
// Raises 42883 when the type has no equality to go by; `column` is for the message.
ValueList* NewValueList(Oid type, Oid collation, const char* column);

// The same for a column of a relation.
ValueList* NewColumnValues(Oid relation, AttrNumber column);

// The number of a value. May leave garbage in the current memory context. Raises 54000 when the values do not fit.
uint32 NumberOf(ValueList* list, Datum value, bool null);

// The number of a value that the list may have, else -1.
int64 FindNumber(ValueList* list, Datum value, bool null);

// The value as text, as its type writes it, palloc'd; "null" for NULL.
char* TextOfNumber(const ValueList* list, int64 number);

// The value of a text as the type reads it. Raises what the type's input function raises.
Datum ValueOfText(const ValueList* list, const char* text);

}  // namespace privacy_score
