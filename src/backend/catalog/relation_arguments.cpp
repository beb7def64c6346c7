/*
 * relation_arguments.cpp - see relation_arguments.hpp.
 */
#include "backend/catalog/relation_arguments.hpp"

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_lock.hpp"

namespace privacy_score {

Oid RelationArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
  RequireArgument(fcinfo, argument, name);
  const Oid relation = PG_GETARG_OID(argument);
  RequireRows(relation);
  // Only who may read it may hold up others with a lock.
  if (MaySelect(relation)) LockForReading(relation);
  // It may have gone before it was locked.
  RequireRows(relation);
  return relation;
}

AttrNumber ColumnArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation) {
  RequireArgument(fcinfo, argument, name);
  return RequireColumn(relation, NameStr(*PG_GETARG_NAME(argument)));
}

ColumnList ColumnsArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation, const char* why) {
  const ElementList names = ElementsArgument(fcinfo, argument, name);
  if (names.count == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must name at least one column", name),
                    errhint("%s", why)));
  ColumnList columns = {0, static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * static_cast<Size>(names.count)))};
  for (int i = 0; i < names.count; ++i) {
    const char* column = NameStr(*DatumGetName(names.values[i]));
    const AttrNumber number = RequireColumn(relation, column);
    if (HasColumn(&columns, number))
      ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN), errmsg("%s names column \"%s\" more than once", name, column),
                      errhint("Name each column once.")));
    columns.numbers[columns.count++] = number;
  }
  return columns;
}

bool HasColumn(const ColumnList* columns, AttrNumber number) {
  for (int i = 0; i < columns->count; ++i)
    if (columns->numbers[i] == number) return true;
  return false;
}

Bitmapset* ColumnSetArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation) {
  const ElementList names = ElementsArgument(fcinfo, argument, name);
  Bitmapset* set = nullptr;
  for (int i = 0; i < names.count; ++i)
    set = bms_add_member(set, RequireColumn(relation, NameStr(*DatumGetName(names.values[i]))));
  return set;
}

}  // namespace privacy_score
