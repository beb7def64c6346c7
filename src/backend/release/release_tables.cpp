/*
 * release_tables.cpp - see release_tables.hpp.
 */
#include "backend/release/release_tables.hpp"

extern "C" {
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "rewrite/prs2lock.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"
}

#include "backend/server/collate_clause.hpp"
#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

constexpr int kBatchRows = 1000;
constexpr Size kBatchBytes = 65536;
constexpr int kMaxColumns = 1600;  // of a table

void RunWithoutResult(const char* sql) {
  if (SPI_execute(sql, false, 0) < 0) elog(ERROR, "could not run a statement for a release");
}

// That an existing relation may be replaced.
void RequireReplaceable(const ReleaseTable* table) {
  const char* name = table->name->relname;
  if (get_rel_relkind(table->existing) != RELKIND_RELATION)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", name),
                    errhint("Only a table of an earlier release is replaced.")));
  if (!OwnsRelation(table->existing, GetUserId())) aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, name);
  const char* comment = GetComment(table->existing, RelationRelationId, 0);
  if (comment == nullptr || strncmp(comment, RELEASE_COMMENT, strlen(RELEASE_COMMENT)) != 0)
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("table \"%s\" is not of an earlier release", name),
         errhint("Only a table whose comment begins with \"%s\" is replaced. Drop this one yourself, or name "
                 "another.",
                 RELEASE_COMMENT)));
}

void AppendColumn(StringInfo sql, const FormData_pg_attribute* column) {
  appendStringInfo(
      sql, "%s %s", quote_identifier(NameStr(column->attname)),
      format_type_extended(column->atttypid, column->atttypmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
  if (!OidIsValid(column->attcollation) || column->attcollation == get_typcollation(column->atttypid)) return;
  appendStringInfoString(sql, CollateSql(column->attcollation));
}

// Takes back what default privileges have granted.
void RevokeGrants(const ReleaseTable* table) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table->relation));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for relation %u", table->relation);
  bool null;
  const Datum grants = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relacl, &null);
  StringInfoData sql;
  initStringInfo(&sql);
  if (!null) {
    const Acl* acl = DatumGetAclP(grants);
    const char* separator = " FROM ";
    for (int i = 0; i < ACL_NUM(acl); ++i) {
      const Oid role = ACL_DAT(acl)[i].ai_grantee;
      if (role == GetUserId()) continue;
      if (sql.len == 0) appendStringInfo(&sql, "REVOKE ALL ON TABLE %s", table->quoted);
      appendStringInfo(&sql, "%s%s", separator,
                       role == ACL_ID_PUBLIC ? "PUBLIC" : quote_identifier(GetUserNameFromId(role, false)));
      separator = ", ";
    }
  }
  ReleaseSysCache(tuple);
  if (sql.len > 0) RunWithoutResult(sql.data);
}

// What is wrong with a table that was just created; null when it is as it was asked for.
const char* Fault(const ReleaseTable* table, const ::Relation relation) {
  const FormData_pg_class* form = relation->rd_rel;
  const TupleDesc columns = RelationGetDescr(relation);
  if (form->relkind != RELKIND_RELATION || relation->rd_createSubid == InvalidSubTransactionId || form->relispartition)
    return "it is another relation";
  if (form->relowner != GetUserId()) return "it has another owner";
  if (columns->natts != table->columns) return "it has other columns";
  for (int i = 0; i < columns->natts; ++i) {
    const FormData_pg_attribute* column = TupleDescAttr(columns, i);
    if (column->attisdropped || column->atttypid != table->types[i]->atttypid || column->attgenerated != '\0' ||
        strcmp(NameStr(column->attname), NameStr(table->types[i]->attname)) != 0)
      return "it has other columns";
  }
  if (relation->trigdesc != nullptr || form->relhastriggers) return "it has triggers";
  if (relation->rd_rules != nullptr) return "it has rules";
  if (form->relforcerowsecurity) return "it has row security that holds for its owner";
  if (form->relhasindex || (columns->constr != nullptr && columns->constr->num_check > 0))
    return "it has indexes or constraints";
  if (RelationGetNumberOfBlocks(relation) > 0) return "it has rows";
  return nullptr;
}

void RequireAsAsked(const ReleaseTable* table) {
  ::Relation relation = OidIsValid(table->relation) ? try_table_open(table->relation, RowExclusiveLock) : nullptr;
  const char* fault = relation == nullptr ? "it is gone" : Fault(table, relation);
  if (fault != nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("table \"%s\" is not as it was created: %s", table->name->relname, fault),
             errhint("An event trigger, or a function of the source, changes new tables. Let it leave these alone.")));
  table_close(relation, NoLock);
}

void CreateTable(ReleaseTable* table) {
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfo(&sql, "CREATE TABLE %s (", table->quoted);
  for (int i = 0; i < table->columns; ++i) {
    if (i > 0) appendStringInfoString(&sql, ", ");
    AppendColumn(&sql, table->types[i]);
    if (table->types[i]->attnotnull) appendStringInfoString(&sql, " NOT NULL");
  }
  appendStringInfoChar(&sql, ')');
  RunWithoutResult(sql.data);
  table->relation = get_relname_relid(table->name->relname, table->schema);
}

}  // namespace

void NameReleaseTable(ReleaseTable* table, const char* parameter, const text* name, bool replace) {
  *table = {};
  table->parameter = parameter;
  table->name = makeRangeVarFromNameList(textToQualifiedNameList(const_cast<text*>(name)));
  const LOCKMODE lock = replace ? AccessExclusiveLock : NoLock;
  table->schema = RangeVarGetAndCheckCreationNamespace(table->name, lock, &table->existing);
  const bool temporary = isTempNamespace(table->schema);
  table->quoted =
      quote_qualified_identifier(temporary ? "pg_temp" : get_namespace_name(table->schema), table->name->relname);
  if (OidIsValid(table->existing) && !replace)
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("relation \"%s\" already exists", table->name->relname),
                    errhint("With replace => true the tables of an earlier release are replaced.")));
  if (OidIsValid(table->existing)) RequireReplaceable(table);
}

void RequireAnotherTable(const ReleaseTable* table, Oid published) {
  if (table->existing == published)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the relation that is published cannot be replaced by what is published of it"),
                    errhint("Name another table for the output.")));
}

namespace {

void AddColumn(ReleaseTable* table, const FormData_pg_attribute* like, bool not_null) {
  if (table->columns == kMaxColumns)
    ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS), errmsg("tables can have at most %d columns", kMaxColumns),
                    errhint("Publish fewer columns.")));
  for (int i = 0; i < table->columns; ++i) {
    if (strcmp(NameStr(table->types[i]->attname), NameStr(like->attname)) != 0) continue;
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
                    errmsg("%s would have two columns called \"%s\"", table->parameter, NameStr(like->attname)),
                    errhint("bid and, with st_form counts, count are columns of the published tables. Read a view in "
                            "which the column has another name.")));
  }
  const Size room = sizeof(Form_pg_attribute) * static_cast<Size>(kMaxColumns);
  if (table->types == nullptr) table->types = static_cast<Form_pg_attribute*>(palloc(room));
  auto* column = static_cast<Form_pg_attribute>(palloc(ATTRIBUTE_FIXED_PART_SIZE));
  memcpy(column, like, ATTRIBUTE_FIXED_PART_SIZE);
  column->attnotnull = not_null;
  table->types[table->columns++] = column;
}

}  // namespace

void AddColumnLike(ReleaseTable* table, const FormData_pg_attribute* like) { AddColumn(table, like, false); }

void AddNumberColumn(ReleaseTable* table, const char* name) {
  auto* column = static_cast<Form_pg_attribute>(palloc0(ATTRIBUTE_FIXED_PART_SIZE));
  namestrcpy(&column->attname, name);
  column->atttypid = INT8OID;
  column->atttypmod = -1;
  AddColumn(table, column, true);
}

void CreateReleaseTables(ReleaseTable* const* tables, int count) {
  bool replaces = false;
  for (int i = 0; i < count; ++i) {
    if (!OidIsValid(tables[i]->existing)) continue;
    RunWithoutResult(psprintf("DROP TABLE %s", tables[i]->quoted));
    replaces = true;
  }
  if (replaces)
    ereport(WARNING, (errmsg("an earlier release is replaced"),
                      errdetail("Who has both releases can tell more from them together than either promises.")));
  for (int i = 0; i < count; ++i) {
    CreateTable(tables[i]);
    RequireAsAsked(tables[i]);
    RevokeGrants(tables[i]);
  }
  // Creating one table may have let an event trigger change the other.
  RequireUnchanged(tables, count);
}

void RequireUnchanged(const ReleaseTable* const* tables, int count) {
  for (int i = 0; i < count; ++i) RequireAsAsked(tables[i]);
}

void DescribeReleaseTable(const ReleaseTable* table, const char* comment) {
  RunWithoutResult(psprintf("COMMENT ON TABLE %s IS %s", table->quoted,
                            quote_literal_cstr(psprintf("%s%s", RELEASE_COMMENT, comment))));
}

void DescribeReleaseColumn(const ReleaseTable* table, const char* column, const char* comment) {
  RunWithoutResult(
      psprintf("COMMENT ON COLUMN %s.%s IS %s", table->quoted, quote_identifier(column), quote_literal_cstr(comment)));
}

void OpenWriter(TableWriter* writer, Oid relation, const TupleTableSlotOps* form) {
  writer->relation = table_open(relation, RowExclusiveLock);
  writer->bulk = GetBulkInsertState();
  writer->batch = AllocSetContextCreate(CurrentMemoryContext, "privacy_score batch", ALLOCSET_DEFAULT_SIZES);
  writer->slots = static_cast<TupleTableSlot**>(palloc(sizeof(TupleTableSlot*) * kBatchRows));
  for (int i = 0; i < kBatchRows; ++i)
    writer->slots[i] = MakeSingleTupleTableSlot(RelationGetDescr(writer->relation), form);
  writer->used = 0;
  writer->bytes = 0;
}

// The table is new in this transaction: nobody else needs its free space map, and rows may be frozen.
void FlushWriter(TableWriter* writer) {
  if (writer->used == 0) return;
  MemoryContext before = MemoryContextSwitchTo(writer->batch);
  table_multi_insert(writer->relation, writer->slots, writer->used, GetCurrentCommandId(true),
                     TABLE_INSERT_SKIP_FSM | TABLE_INSERT_FROZEN, writer->bulk);
  MemoryContextSwitchTo(before);
  MemoryContextReset(writer->batch);
  for (int i = 0; i < writer->used; ++i) ExecClearTuple(writer->slots[i]);
  writer->used = 0;
  writer->bytes = 0;
}

TupleTableSlot* NextRow(TableWriter* writer) { return writer->slots[writer->used]; }

void AddRow(TableWriter* writer, Size bytes) {
  writer->bytes += bytes;
  if (++writer->used == kBatchRows || writer->bytes >= kBatchBytes) FlushWriter(writer);
}

void CloseWriter(TableWriter* writer) {
  FlushWriter(writer);
  FreeBulkInsertState(writer->bulk);
  table_finish_bulk_insert(writer->relation, TABLE_INSERT_SKIP_FSM | TABLE_INSERT_FROZEN);
  for (int i = 0; i < kBatchRows; ++i) ExecDropSingleTupleTableSlot(writer->slots[i]);
  MemoryContextDelete(writer->batch);
  table_close(writer->relation, NoLock);
}

}  // namespace privacy_score
