/*
 * value_list.cpp - see value_list.hpp.
 */
#include "backend/rows/value_list.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
}

#include "backend/rows/coded_pass.hpp"
#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

constexpr int64 kFirstRoom = 64;

// A copy that depends on nothing else: inline and not compressed.
Datum CopyValue(const ValueList* list, Datum value) {
  const ValueDictionary* dictionary = list->dictionary;
  if (dictionary->length == -1 && VARATT_IS_EXTENDED(DatumGetPointer(value)))
    return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
  return datumCopy(value, dictionary->by_value, dictionary->length);
}

void AddListValue(ValueList* list, Datum value, bool null) {
  if (list->count == list->room) {
    list->room *= 2;
    list->values = static_cast<Datum*>(repalloc_huge(list->values, sizeof(Datum) * static_cast<Size>(list->room)));
  }
  MemoryContext before = MemoryContextSwitchTo(list->memory.context);
  list->values[list->count] = null ? Datum(0) : CopyValue(list, value);
  MemoryContextSwitchTo(before);
  if (null) list->null_number = list->count;
  ++list->count;
}

}  // namespace

ValueList* NewValueList(Oid type, Oid collation, const char* column) {
  if (!CanTellApart(type))
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_FUNCTION),
             errmsg("column \"%s\" is of type %s, whose values cannot be told apart", column, format_type_be(type)),
             errhint("Read a view that casts the column to a type with an equality operator, such as text.")));
  MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "privacy_score values", ALLOCSET_DEFAULT_SIZES);
  auto* list = static_cast<ValueList*>(MemoryContextAllocZero(context, sizeof(ValueList)));
  list->memory.context = context;
  list->memory.limit = PassMemory();
  list->dictionary = NewValueDictionary(&list->memory, type, collation);
  list->type = type;
  list->room = kFirstRoom;
  list->values = static_cast<Datum*>(MemoryContextAlloc(context, sizeof(Datum) * kFirstRoom));
  list->null_number = -1;
  return list;
}

ValueList* NewColumnValues(Oid relation, AttrNumber column) {
  Oid type, collation;
  int32 modifier;
  get_atttypetypmodcoll(relation, column, &type, &modifier, &collation);
  return NewValueList(type, collation, get_attname(relation, column, false));
}

uint32 NumberOf(ValueList* list, Datum value, bool null) {
  const uint32 number = CodeOf(list->dictionary, value, null);
  if (list->memory.full) RaiseValuesFull("a column");
  if (number == list->count) AddListValue(list, value, null);
  return number;
}

// Looking for a value adds it: it is kept, and numbers from `count` on are those that nothing has.
int64 FindNumber(ValueList* list, Datum value, bool null) {
  if (null) return list->null_number;
  const int64 count = list->count;
  const uint32 number = NumberOf(list, value, null);
  return number < count ? static_cast<int64>(number) : -1;
}

char* TextOfNumber(const ValueList* list, int64 number) {
  if (number == list->null_number) return pstrdup("null");
  Oid output;
  bool varlena;
  getTypeOutputInfo(list->type, &output, &varlena);
  return OidOutputFunctionCall(output, list->values[number]);
}

Datum ValueOfText(const ValueList* list, const char* text) {
  Oid input;
  Oid parameter;
  getTypeInputInfo(list->type, &input, &parameter);
  return OidInputFunctionCall(input, const_cast<char*>(text), parameter, -1);
}

}  // namespace privacy_score
