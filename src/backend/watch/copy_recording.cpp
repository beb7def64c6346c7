/*
 * copy_recording.cpp - see copy_recording.hpp.
 *
 * The relation that a statement makes is learned from the hook on new catalog objects, not by its name afterwards: what
 * runs within the statement might rename it or change the search_path. Nested utility statements are frames of their
 * own, so the first relation that comes up in a frame is the statement's. Work of ours runs in a subtransaction, so
 * that a fault in it leaves the user's statement alone.
 */
#include "backend/watch/copy_recording.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "commands/prepare.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/query/query_statement.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/guarded.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/watch/live.hpp"
#include "backend/watch/raw_reads.hpp"

namespace privacy_score {

namespace {

object_access_hook_type prev_object_access = nullptr;
CopyingStatement* innermost = nullptr;

// $1 relation, then of each origin: attribute number in the copy, relation, attribute number there; of one that is gone
// 0, and its names.
const char* const kRecord =
    "INSERT INTO privacy_score.copied_column "
    "SELECT a.attrelid, a.attrelid, a.attname, a.attnum, COALESCE(c.relation, 0), COALESCE(c.name, $5), "
    "COALESCE(o.attname, $6::pg_catalog.name), COALESCE(o.attnum, 0) "
    "FROM pg_catalog.pg_attribute a LEFT JOIN (privacy_score.canonical_relation c "
    "JOIN pg_catalog.pg_attribute o ON o.attrelid = c.relation AND o.attnum = $4::pg_catalog.int2) "
    "ON c.relation = $3::pg_catalog.oid WHERE a.attrelid = $1::pg_catalog.oid AND a.attnum = $2::pg_catalog.int2";

// Runs `work` in a subtransaction. In mode enforce what it raises goes on, else it is counted, except a cancel.
template <typename Work>
void FailingInEnforceOnly(Work work) {
  if (ps_settings.mode == static_cast<int>(WatchMode::kEnforce)) {
    work();
    return;
  }
  const ErrorData* error = InSubtransaction(work);
  if (error != nullptr) CountScoringError(error->message);
}

// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW, also below EXPLAIN; null for other statements.
CreateTableAsStmt* TableAs(Node* statement) {
  if (IsA(statement, ExplainStmt)) {
    auto* explained = reinterpret_cast<::Query*>(castNode(ExplainStmt, statement)->query);
    if (explained == nullptr || !IsA(explained, Query) || explained->utilityStmt == nullptr) return nullptr;
    statement = explained->utilityStmt;
  }
  return IsA(statement, CreateTableAsStmt) ? castNode(CreateTableAsStmt, statement) : nullptr;
}

// The query that fills the new relation, rewritten; null when there is not exactly one.
::Query* FillingQuery(const CreateTableAsStmt* create) {
  List* queries = NIL;
  auto* query = AsQuery(create->query);
  if (query->commandType == CMD_UTILITY && IsA(query->utilityStmt, ExecuteStmt)) {
    PreparedStatement* prepared = FetchPreparedStatement(castNode(ExecuteStmt, query->utilityStmt)->name, false);
    if (prepared == nullptr) return nullptr;
    // Views may have changed since it was prepared: the target list is asked for to have it analysed again.
    (void)CachedPlanGetTargetList(prepared->plansource, nullptr);
    queries = prepared->plansource->query_list;
  } else if (query->commandType != CMD_UTILITY) {
    queries = QueryRewrite(static_cast<::Query*>(copyObjectImpl(query)));
  }
  return list_length(queries) == 1 ? AsQuery(linitial(queries)) : nullptr;
}

void FindOrigins(CopyingStatement* copying, Node* statement) {
  if (!copying->refreshes) {
    // What such a role gets of protected relations are noisy answers, which are nobody's.
    if (WatchInForce().role == RoleClass::kDpOnly && !ps_settings.break_glass) return;
    ::Query* query = FillingQuery(TableAs(statement));
    if (query != nullptr) copying->origins = OutputOrigins(QueryStatement(query));
    return;
  }
  const auto* refresh = castNode(RefreshMatViewStmt, statement);
  const Oid relation = refresh->skipData ? InvalidOid : RangeVarGetRelid(refresh->relation, NoLock, true);
  if (!OidIsValid(relation) || get_rel_relkind(relation) != RELKIND_MATVIEW) return;
  copying->origins = RefreshedOrigins(relation);
  copying->relation = relation;
}

// Records the origins of a relation in place of what was known.
void RecordOrigins(Oid relation, List* origins) {
  CommandCounterIncrement();
  InternalScope scope;
  EnterInternal(&scope);
  const char* args[6] = {TextOfOid(relation)};
  RunInternal("DELETE FROM privacy_score.copied_column WHERE relation = $1::pg_catalog.oid", 1, args);
  ListCell* cell;
  foreach (cell, origins) {
    const auto* origin = static_cast<CopiedOrigin*>(lfirst(cell));
    args[1] = TextOfInteger(origin->column + 1);
    args[2] = TextOfOid(origin->relid);
    args[3] = TextOfInteger(origin->number);
    args[4] = pnstrdup(origin->relation_name.data(), origin->relation_name.size());
    args[5] = pnstrdup(origin->column_name.data(), origin->column_name.size());
    RunInternal(kRecord, 6, args);
  }
  LeaveInternal(&scope);
}

// Runs one of the functions that keep the records in order.
void KeepUp(const char* sql) {
  CommandCounterIncrement();
  InternalScope scope;
  EnterInternal(&scope);
  (void)InternalValue(sql);
  LeaveInternal(&scope);
}

// Whether a table is made a partition or child of another.
bool JoinsTables(const Node* statement) {
  if (!IsA(statement, AlterTableStmt)) return false;
  ListCell* cell;
  foreach (cell, reinterpret_cast<const AlterTableStmt*>(statement)->cmds) {
    const AlterTableType kind = lfirst_node(AlterTableCmd, cell)->subtype;
    if (kind == AT_AttachPartition || kind == AT_AddInherit) return true;
  }
  return false;
}

bool DefinesGenerated(const ColumnDef* column) {
  ListCell* cell;
  foreach (cell, column->constraints)
    if (lfirst_node(Constraint, cell)->contype == CONSTR_GENERATED) return true;
  return false;
}

// The columns of a table that ALTER TABLE fills from others: generated ones, and those whose type it changes USING.
List* ComputedColumns(const Node* statement) {
  List* names = NIL;
  if (!IsA(statement, AlterTableStmt)) return NIL;
  ListCell* cell;
  foreach (cell, reinterpret_cast<const AlterTableStmt*>(statement)->cmds) {
    const auto* command = lfirst_node(AlterTableCmd, cell);
    if (command->def == nullptr || !IsA(command->def, ColumnDef)) continue;
    const auto* column = castNode(ColumnDef, command->def);
    if (command->subtype == AT_AddColumn && DefinesGenerated(column)) names = lappend(names, pstrdup(column->colname));
    if (command->subtype == AT_AlterColumnType && column->raw_default != nullptr)
      names = lappend(names, pstrdup(command->name));
  }
  return names;
}

// What a computed column may hold is all that the table is a copy of.
void MixOrigins(Oid relation, List* columns) {
  CommandCounterIncrement();
  InternalScope scope;
  EnterInternal(&scope);
  ListCell* cell;
  foreach (cell, columns) {
    const char* args[] = {TextOfOid(relation), static_cast<char*>(lfirst(cell))};
    (void)InternalValue("SELECT privacy_score.mix_copies($1::pg_catalog.oid, $2::pg_catalog.name)", 2, args);
  }
  LeaveInternal(&scope);
}

// Scripts of this extension change its own tables, before they have made the functions that follow changes of copies.
bool RunsOwnScript() {
  return creating_extension && CurrentExtensionObject == get_extension_oid("privacy_score", true);
}

bool InThisDatabase() { return IsTransactionState() && !RunsOwnScript() && RecordsCopies(); }

[[gnu::hot]] void ps_object_access(ObjectAccessType access, Oid class_oid, Oid object, int part, void* arg) {
  if (prev_object_access != nullptr) prev_object_access(access, class_oid, object, part, arg);
  if (access == OAT_FUNCTION_EXECUTE) {
    FunctionStarts(object);
    return;
  }
  if (access != OAT_POST_CREATE || class_oid != RelationRelationId || part != 0) return;
  if (innermost != nullptr && innermost->makes_relation && !OidIsValid(innermost->relation))
    innermost->relation = object;
}

}  // namespace

void BeginCopying(CopyingStatement* copying, const PlannedStmt* plan) {
  *copying = {innermost, false, false, false, false, NIL, InvalidOid, NIL};
  innermost = copying;
  Node* statement = plan->utilityStmt;
  const bool makes_relation = TableAs(statement) != nullptr;
  copying->refreshes = IsA(statement, RefreshMatViewStmt);
  copying->renames = IsA(statement, RenameStmt);
  copying->joins_tables = JoinsTables(statement);
  copying->computed = ComputedColumns(statement);
  if (copying->computed != NIL)
    copying->relation = RangeVarGetRelid(castNode(AlterTableStmt, statement)->relation, NoLock, true);
  if (!makes_relation && !copying->refreshes) return;
  if (InThisDatabase()) FailingInEnforceOnly([copying, statement] { FindOrigins(copying, statement); });
  copying->makes_relation = makes_relation;
}

// The parse tree may be gone by now.
void FinishCopying(CopyingStatement* copying) {
  if (OidIsValid(copying->relation) && (copying->refreshes || copying->origins != NIL))
    FailingInEnforceOnly([copying] { RecordOrigins(copying->relation, copying->origins); });
  if (copying->computed != NIL && OidIsValid(copying->relation) && InThisDatabase())
    FailingInEnforceOnly([copying] { MixOrigins(copying->relation, copying->computed); });
  if ((copying->renames || copying->joins_tables) && InThisDatabase())
    FailingInEnforceOnly([copying] {
      KeepUp(copying->renames ? "SELECT privacy_score.rename_copies()" : "SELECT privacy_score.spread_copies()");
    });
}

void LeaveCopying(const CopyingStatement* copying) { innermost = copying->outer; }

void InstallCopyingHook() {
  prev_object_access = object_access_hook;
  object_access_hook = ps_object_access;
}

}  // namespace privacy_score
