/*
 * grouping_sql.cpp - see grouping_sql.hpp.
 */
#include "backend/rows/grouping_sql.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/typcache.h"
}

#include "backend/catalog/relation_access.hpp"
#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

// What GROUP BY takes for a column of a source.
void AppendSourceColumn(StringInfo sql, const RowSource* source, int column) {
  if (source->query != nullptr)
    appendStringInfo(sql, "c%d", column);
  else
    appendStringInfoString(sql, GroupingExpression(get_atttype(source->relation, static_cast<AttrNumber>(column)),
                                                   QuotedColumn(source->relation, column)));
}

// "SELECT a AS k1, b AS k2".
void AppendKeyColumns(StringInfo sql, const RowSource* source, const Bitmapset* columns) {
  appendStringInfoString(sql, "SELECT ");
  int key = 0;
  for (int attribute = -1; (attribute = bms_next_member(columns, attribute)) >= 0;) {
    if (key > 0) appendStringInfoString(sql, ", ");
    AppendSourceColumn(sql, source, attribute);
    appendStringInfo(sql, " AS k%d", ++key);
  }
}

// " FROM t". A column that is asked for and not read is named, which is what its rights are checked by.
void AppendFrom(StringInfo sql, const RowSource* source, const Bitmapset* columns) {
  if (source->query != nullptr) {
    appendStringInfo(sql, " FROM (%s) q", source->query);
    return;
  }
  const char* name = QuotedRelation(source->relation);
  if (bms_is_subset(source->asked, columns)) {
    appendStringInfo(sql, " FROM %s", name);
    return;
  }
  appendStringInfoString(sql, " FROM (SELECT ");
  const char* separator = "";
  for (int attribute = -1; (attribute = bms_next_member(source->asked, attribute)) >= 0;) {
    appendStringInfo(sql, "%s%s", separator, QuotedColumn(source->relation, attribute));
    separator = ", ";
  }
  appendStringInfo(sql, " FROM %s) t", name);
}

// " GROUP BY 1, 2".
void AppendGroupBy(StringInfo sql, const Bitmapset* columns) {
  const int count = bms_num_members(columns);
  for (int key = 1; key <= count; ++key) appendStringInfo(sql, "%s%d", key == 1 ? " GROUP BY " : ", ", key);
}

}  // namespace

bool AnyForeignMember(Oid relation) {
  const ListCell* cell;
  foreach (cell, find_all_inheritors(relation, AccessShareLock, nullptr))
    if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE) return true;
  return false;
}

const char* GroupingExpression(Oid type_id, const char* value, bool ordered) {
  const TypeCacheEntry* type = lookup_type_cache(type_id, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_HASH_PROC);
  const bool hashed = OidIsValid(type->hash_proc) && !ordered;
  if (OidIsValid(type->eq_opr) && (OidIsValid(type->lt_opr) || hashed)) return value;
  return psprintf("CASE WHEN pg_catalog.num_nulls(%s) = 0 THEN pg_catalog.concat(%s) END", value, value);
}

List* MembersOf(Oid relation) {
  const char kind = get_rel_relkind(relation);
  if ((kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_RELATION) || !has_subclass(relation)) return NIL;
  List* members = NIL;
  const ListCell* cell;
  foreach (cell, find_all_inheritors(relation, AccessShareLock, nullptr)) {
    const Oid member = lfirst_oid(cell);
    if (get_rel_persistence(member) == RELPERSISTENCE_TEMP ||
        check_enable_rls(member, InvalidOid, true) == RLS_ENABLED ||
        !MayUseSchema(get_rel_namespace(member), GetUserId()) ||
        pg_class_aclcheck(member, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
      return NIL;
    if (get_rel_relkind(member) != RELKIND_PARTITIONED_TABLE) members = lappend_oid(members, member);
  }
  return members;
}

char* RowsSql(const RowSource* source, const Bitmapset* columns) {
  StringInfoData sql;
  initStringInfo(&sql);
  AppendKeyColumns(&sql, source, columns);
  AppendFrom(&sql, source, columns);
  return sql.data;
}

char* GroupsSql(const RowSource* source, const Bitmapset* columns) {
  StringInfoData sql;
  initStringInfo(&sql);
  ListCell* cell;
  foreach (cell, source->members) {
    // The columns of a parent have the same names and types in its children.
    if (cell != list_head(source->members)) appendStringInfoString(&sql, " UNION ALL ");
    AppendKeyColumns(&sql, source, columns);
    appendStringInfo(&sql, "%spg_catalog.count(*) AS n FROM ONLY %s", bms_is_empty(columns) ? "" : ", ",
                     QuotedRelation(lfirst_oid(cell)));
    AppendGroupBy(&sql, columns);
  }
  if (source->members != NIL) return sql.data;
  AppendKeyColumns(&sql, source, columns);
  appendStringInfo(&sql, "%spg_catalog.count(*) AS n", bms_is_empty(columns) ? "" : ", ");
  AppendFrom(&sql, source, columns);
  AppendGroupBy(&sql, columns);
  return sql.data;
}

char* ClassSizesSql(const RowSource* source, const Bitmapset* columns) {
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfoString(&sql, "SELECT c, pg_catalog.count(*) FROM (SELECT ");
  if (source->members != NIL) {
    appendStringInfo(&sql, "pg_catalog.sum(n)::pg_catalog.int8 AS c FROM (%s) u", GroupsSql(source, columns));
    const int count = bms_num_members(columns);
    for (int key = 1; key <= count; ++key) appendStringInfo(&sql, "%sk%d", key == 1 ? " GROUP BY " : ", ", key);
  } else {
    appendStringInfoString(&sql, "pg_catalog.count(*) AS c");
    AppendFrom(&sql, source, columns);
    const char* separator = " GROUP BY ";
    for (int attribute = -1; (attribute = bms_next_member(columns, attribute)) >= 0;) {
      appendStringInfoString(&sql, separator);
      AppendSourceColumn(&sql, source, attribute);
      separator = ", ";
    }
  }
  appendStringInfoString(&sql, ") s WHERE c OPERATOR(pg_catalog.>) 0 GROUP BY c");
  return sql.data;
}

}  // namespace privacy_score
