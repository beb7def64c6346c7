/*
 * release_shape.cpp - see release_shape.hpp.
 */
#include "backend/release/release_shape.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/catalog/value_types.hpp"

namespace privacy_score {

namespace {

bool IsInteger(Oid type) { return IsIntegerType(getBaseType(type)); }

void RequireBid(Oid relation, AttrNumber bid) {
  if (bid == InvalidAttrNumber)
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("relation \"%s\" has no column \"bid\"", get_rel_name(relation)),
             errhint("Both tables of a release have a column bid, the number of the bucket.")));
}

// Sorts out the columns of a relation: bid, count where it is looked for, and the others.
void SortColumns(Oid relation, bool counted, AttrNumber* bid, AttrNumber* count, ColumnList* others) {
  ::Relation rel = relation_open(relation, AccessShareLock);
  const TupleDesc columns = RelationGetDescr(rel);
  *others = {0, static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * static_cast<Size>(columns->natts + 1)))};
  for (int i = 0; i < columns->natts; ++i) {
    const FormData_pg_attribute* column = TupleDescAttr(columns, i);
    if (column->attisdropped) continue;
    if (strcmp(NameStr(column->attname), "bid") == 0) {
      *bid = column->attnum;
    } else if (counted && strcmp(NameStr(column->attname), "count") == 0 && IsInteger(column->atttypid)) {
      *count = column->attnum;
    } else {
      others->numbers[others->count++] = column->attnum;
    }
  }
  relation_close(rel, NoLock);
  RequireBid(relation, *bid);
}

// The columns of a relation's quasi-identifiers as the published table has them, each with a comma.
void AppendQuasi(StringInfo sql, const ReleaseShape* shape, Oid relation, const AttrNumber* numbers) {
  for (int i = 0; i < shape->quasi.count; ++i)
    appendStringInfo(sql, "%s, ", ColumnAs(relation, numbers[i], shape->qit, shape->quasi.numbers[i], "r"));
}

}  // namespace

ReleaseShape ShapeOfRelease(Oid qit, Oid st) {
  ReleaseShape shape = {};
  shape.qit = qit;
  shape.st = st;
  AttrNumber none = InvalidAttrNumber;
  ColumnList values;
  SortColumns(qit, false, &shape.qit_bid, &none, &shape.quasi);
  SortColumns(st, true, &shape.st_bid, &shape.count, &values);
  // A sensitive column may itself be called count.
  if (values.count == 0 && shape.count != InvalidAttrNumber) {
    values.numbers[values.count++] = shape.count;
    shape.count = InvalidAttrNumber;
  }
  if (values.count != 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
                    errmsg("relation \"%s\" has %d sensitive columns", get_rel_name(st), values.count),
                    errhint("The second table of a release has bid, one sensitive column, and perhaps count.")));
  shape.value = values.numbers[0];
  shape.qit_name = QuotedRelation(qit);
  shape.st_name = QuotedRelation(st);
  return shape;
}

const char* ColumnAs(Oid relation, AttrNumber column, Oid other, AttrNumber other_column, const char* alias) {
  const Oid type = get_atttype(other, other_column);
  const char* name = QuotedColumn(relation, column);
  if (get_atttype(relation, column) == type) return psprintf("%s.%s", alias, name);
  return psprintf("%s.%s::%s", alias, name,
                  format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
}

ColumnList ColumnsOfSource(const ReleaseShape* shape, Oid source) {
  const Size room = static_cast<Size>(shape->quasi.count) + 1;
  ColumnList columns = {0, static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * room))};
  for (int i = 0; i < shape->quasi.count; ++i)
    columns.numbers[columns.count++] = RequireColumn(source, get_attname(shape->qit, shape->quasi.numbers[i], false));
  columns.numbers[columns.count] = RequireColumn(source, get_attname(shape->st, shape->value, false));
  return columns;
}

char* ReleaseRecordsSql(const ReleaseShape* shape) {
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfoString(&sql, "SELECT ");
  AppendQuasi(&sql, shape, shape->qit, shape->quasi.numbers);
  appendStringInfo(&sql, "r.%s FROM %s r", QuotedColumn(shape->qit, shape->qit_bid), shape->qit_name);
  return sql.data;
}

char* ReleaseSourceSql(const ReleaseShape* shape, Oid source, const ColumnList* source_columns) {
  const AttrNumber* numbers = source_columns->numbers;
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfoString(&sql, "SELECT ");
  AppendQuasi(&sql, shape, source, numbers);
  appendStringInfo(&sql, "%s FROM %s r", ColumnAs(source, numbers[shape->quasi.count], shape->st, shape->value, "r"),
                   QuotedRelation(source));
  return sql.data;
}

}  // namespace privacy_score
