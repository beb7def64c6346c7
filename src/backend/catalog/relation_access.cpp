/*
 * relation_access.cpp - see relation_access.hpp.
 */
#include "backend/catalog/relation_access.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/server/compat.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

const char* CanonicalRelationName(Oid relation) {
  const char* name = RequireRelation(relation);
  return psprintf("%s.%s", CanonicalSchema(get_rel_namespace(relation)), QuoteName(name));
}

const char* QuotedRelation(Oid relation) {
  const char* name = RequireRelation(relation);
  const Oid schema = get_rel_namespace(relation);
  return quote_qualified_identifier(isAnyTempNamespace(schema) ? "pg_temp" : get_namespace_name(schema), name);
}

const char* QuotedColumn(Oid relation, int column) {
  return quote_identifier(get_attname(relation, static_cast<AttrNumber>(column), false));
}

Oid RelationOfCanonicalName(const char* name) {
  const RangeVar* parts = makeRangeVarFromNameList(QualifiedNameParts(name));
  if (parts->schemaname == nullptr) return RelnameGetRelid(parts->relname);
  const bool is_temporary = strcmp(parts->schemaname, "pg_temp") == 0;
  const Oid schema =
      is_temporary ? LookupExplicitNamespace("pg_temp", true) : get_namespace_oid(parts->schemaname, true);
  return OidIsValid(schema) ? get_relname_relid(parts->relname, schema) : InvalidOid;
}

bool FindCanonicalColumn(const char* column, RelationFinder find, Oid* relation, AttrNumber* number) {
  const Size length = privacy_score::RelationOfColumn(column).size();
  if (length == 0) return false;
  *relation = find(pnstrdup(column, length));
  List* parts = NIL;
  if (!OidIsValid(*relation) || !SplitIdentifierString(pstrdup(column + length + 1), '.', &parts) ||
      list_length(parts) != 1)
    return false;
  *number = get_attnum(*relation, static_cast<char*>(linitial(parts)));
  return *number > 0;
}

const char* RequireRelation(Oid relation) {
  const char* name = get_rel_name(relation);
  if (name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation),
                    errhint("Give an existing relation; this one may have been dropped.")));
  return name;
}

void RequireOwner(Oid relation) {
  const char* name = RequireRelation(relation);
  if (!OwnsRelation(relation, GetUserId())) aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, name);
}

bool HasRows(Oid relation) {
  const char kind = get_rel_relkind(relation);
  return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_MATVIEW ||
         kind == RELKIND_FOREIGN_TABLE || kind == RELKIND_VIEW;
}

void RequireRows(Oid relation) {
  const char* name = RequireRelation(relation);
  if (!HasRows(relation))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" has no rows to measure", name),
                    errhint("Name a table, a view, a materialized view or a foreign table.")));
}

void RequireProtectable(Oid relation) {
  const char kind = get_rel_relkind(relation);
  const char* name = get_rel_name(relation);
  if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_MATVIEW &&
      kind != RELKIND_FOREIGN_TABLE)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" cannot be protected", name),
                    errhint("Protect tables, partitioned tables, foreign tables or materialized views; a view is seen "
                            "through to the tables under it.")));
  if (IsCatalogSchema(get_rel_namespace(relation)))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("system catalog \"%s\" cannot be protected", name),
                    errhint("Reading catalogs is not scored.")));
  if (get_rel_relispartition(relation))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("partition \"%s\" cannot be protected by itself", name),
                    errhint("Protect the partitioned table that it belongs to.")));
  if (isAnyTempNamespace(get_rel_namespace(relation)))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("temporary table \"%s\" cannot be protected", name),
                    errhint("Protect tables that stay.")));
}

AttrNumber RequireColumn(Oid relation, const char* column) {
  const AttrNumber number = get_attnum(relation, column);
  if (number <= 0)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                    errmsg("column \"%s\" of relation \"%s\" does not exist", column, get_rel_name(relation)),
                    errhint("Name columns as they are stored, without quotes.")));
  return number;
}

bool RoleMaySelect(Oid role, Oid relation, AttrNumber column) {
  if (pg_class_aclcheck(relation, role, ACL_SELECT) == ACLCHECK_OK) return true;
  return (column == InvalidAttrNumber ? pg_attribute_aclcheck_all(relation, role, ACL_SELECT, ACLMASK_ANY)
                                      : pg_attribute_aclcheck(relation, column, role, ACL_SELECT)) == ACLCHECK_OK;
}

bool MaySelect(Oid relation) { return RoleMaySelect(GetUserId(), relation, InvalidAttrNumber); }

bool MaySelect(Oid relation, AttrNumber column) { return RoleMaySelect(GetUserId(), relation, column); }

void RequireSelect(Oid relation, AttrNumber column) {
  if (MaySelect(relation, column)) return;
  aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relation)), get_rel_name(relation));
}

}  // namespace privacy_score
