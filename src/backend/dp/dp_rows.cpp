/*
 * dp_rows.cpp - see dp_rows.hpp.
 */
#include "backend/dp/dp_rows.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

#include "backend/catalog/relation_access.hpp"
#include "backend/dp/dp_budget.hpp"
#include "backend/server/compat.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_whole);
}

namespace {

// Adds a name unless the list has it.
List* AddName(List* names, const char* name) {
  const ListCell* cell;
  foreach (cell, names)
    if (strcmp(static_cast<const char*>(lfirst(cell)), name) == 0) return names;
  return lappend(names, const_cast<char*>(name));
}

// Whether values of a column may be stored out of line.
bool MayBeOutOfLine(Oid relation, const char* name) {
  const Oid type = get_atttype(relation, get_attnum(relation, name));
  return get_typlen(type) == -1 && get_typstorage(type) != TYPSTORAGE_PLAIN;
}

// Whether a table stores any value out of line.
bool HasValuesOutOfLine(::Relation table) {
  const Oid outside = table->rd_rel->reltoastrelid;
  if (!OidIsValid(outside)) return false;
  ::Relation opened = relation_open(outside, AccessShareLock);
  const bool any = RelationGetNumberOfBlocks(opened) > 0;
  relation_close(opened, AccessShareLock);
  return any;
}

// Whether reading columns reads more than the row. The relation and its members are locked.
bool ReadsMore(Oid relation, const List* names) {
  bool may_be_outside = false;
  const ListCell* cell;
  foreach (cell, names)
    may_be_outside = may_be_outside || MayBeOutOfLine(relation, static_cast<const char*>(lfirst(cell)));
  bool more = false;
  foreach (cell, find_all_inheritors(relation, NoLock, nullptr)) {
    ::Relation member = relation_open(lfirst_oid(cell), NoLock);
    const char kind = member->rd_rel->relkind;
    const bool is_table = kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_MATVIEW;
    more = more || !is_table || (may_be_outside && HasValuesOutOfLine(member));
    relation_close(member, NoLock);
  }
  return more;
}

// A subquery of whole values. Being volatile, they are computed for each row before the outer query sees it.
const char* WholeRows(const char* relation, const List* names) {
  StringInfoData sql;
  initStringInfo(&sql);
  const char* separator = "(SELECT ";
  const ListCell* cell;
  foreach (cell, names) {
    const char* name = quote_identifier(static_cast<const char*>(lfirst(cell)));
    appendStringInfo(&sql, "%sprivacy_score.whole(s.%s) AS %s", separator, name, name);
    separator = ", ";
  }
  appendStringInfo(&sql, " FROM %s s) r", relation);
  return sql.data;
}

}  // namespace

RowsInSql SourceOfRows(const Budget* budget, const ConditionQuery* condition, const char* restriction,
                       const char* column) {
  const char* relation = QuotedRelation(budget->relation);
  const char* all = restriction == nullptr ? condition->sql : psprintf("(%s) AND %s", condition->sql, restriction);
  List* names = list_copy(condition->columns);
  if (column != nullptr) names = AddName(names, column);
  if (budget->unit != nullptr) names = AddName(names, budget->unit);
  const char* from = psprintf("%s r", relation);
  if (!budget->constant_work) return {from, psprintf("(%s)", all), "true", all};
  if (names != NIL && ReadsMore(budget->relation, names)) from = WholeRows(relation, names);
  return {from, "true", psprintf("((%s) IS TRUE)", all), all};
}

// whole(value): the value with all that is stored elsewhere, uncompressed.
Datum ps_whole(PG_FUNCTION_ARGS) {
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
  if (!OidIsValid(type)) elog(ERROR, "could not determine the type of a value");
  auto* length = static_cast<int16*>(fcinfo->flinfo->fn_extra);
  if (length == nullptr) {
    length = static_cast<int16*>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(int16)));
    *length = get_typlen(type);
    fcinfo->flinfo->fn_extra = length;
  }
  if (*length != -1) PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  PG_RETURN_POINTER(PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0)));
}

}  // namespace privacy_score
