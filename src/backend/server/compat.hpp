/*
 * compat.hpp - differences between PostgreSQL 14 and 18, in one place; compat.cpp has those that need code of their
 * own.
 *
 * Each helper has the same meaning on every version; callers hold no version tests of their own.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "parser/analyze.h"
#include "storage/proc.h"
#if PG_VERSION_NUM >= 160000
#include "parser/parse_relation.h"
#endif
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/wait_event.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
}

namespace privacy_score {

// castNode and makeNode of the server's Query, which is not core's: its macros would take the nearest type of that
// name.
inline ::Query* AsQuery(void* node) {
  Assert(node == nullptr || IsA(node, Query));
  return static_cast<::Query*>(node);
}
inline const ::Query* AsQuery(const void* node) {
  Assert(node == nullptr || IsA(node, Query));
  return static_cast<const ::Query*>(node);
}
inline ::Query* NewQuery() { return reinterpret_cast<::Query*>(newNode(sizeof(::Query), T_Query)); }

// Calls `walker` for each direct child of an expression node; stops and returns true when it returns true.
inline bool WalkChildren(Node* node, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_walker_impl(node, walker, context);
#else
  auto untyped = reinterpret_cast<bool (*)()>(reinterpret_cast<void (*)()>(walker));
  return expression_tree_walker(node, untyped, context);
#endif
}

// The same of an expression as the parser leaves it.
inline bool WalkRaw(Node* node, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
  return raw_expression_tree_walker_impl(node, walker, context);
#else
  auto untyped = reinterpret_cast<bool (*)()>(reinterpret_cast<void (*)()>(walker));
  return raw_expression_tree_walker(node, untyped, context);
#endif
}

// The same for a query and its range table entries.
inline bool WalkQuery(::Query* query, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
  return query_tree_walker_impl(query, walker, context, QTW_EXAMINE_RTES_BEFORE);
#else
  auto untyped = reinterpret_cast<bool (*)()>(reinterpret_cast<void (*)()>(walker));
  return query_tree_walker(query, untyped, context, QTW_EXAMINE_RTES_BEFORE);
#endif
}

// Whether a command of ALTER TABLE gives a generated column another expression (from 17 on), which is its `def`.
inline bool SetsExpression(const AlterTableCmd* command) {
#if PG_VERSION_NUM >= 170000
  return command->subtype == AT_SetExpression;
#else
  (void)command;
  return false;
#endif
}

// The columns that INSERT names for a target, offset by FirstLowInvalidHeapAttributeNumber.
inline Bitmapset* InsertedColumns(::Query* query, RangeTblEntry* rte) {
#if PG_VERSION_NUM >= 160000
  return rte->perminfoindex == 0 ? nullptr : getRTEPermissionInfo(query->rteperminfos, rte)->insertedCols;
#else
  (void)query;
  return rte->insertedCols;
#endif
}

// The columns that SET names for a target, offset by FirstLowInvalidHeapAttributeNumber.
inline Bitmapset* UpdatedColumns(::Query* query, RangeTblEntry* rte) {
#if PG_VERSION_NUM >= 160000
  return rte->perminfoindex == 0 ? nullptr : getRTEPermissionInfo(query->rteperminfos, rte)->updatedCols;
#else
  (void)query;
  return rte->updatedCols;
#endif
}

// The columns of a planned statement's range table entry that are read and written, offset likewise; false when the
// entry is checked for nothing.
inline bool PlannedColumns(const PlannedStmt* plan, const RangeTblEntry* rte, Bitmapset** read, Bitmapset** inserted,
                           Bitmapset** updated) {
#if PG_VERSION_NUM >= 160000
  if (rte->perminfoindex == 0) return false;
  auto* permissions = list_nth_node(RTEPermissionInfo, plan->permInfos, static_cast<int>(rte->perminfoindex) - 1);
  *read = permissions->selectedCols;
  *inserted = permissions->insertedCols;
  *updated = permissions->updatedCols;
#else
  (void)plan;
  *read = rte->selectedCols;
  *inserted = rte->insertedCols;
  *updated = rte->updatedCols;
#endif
  return true;
}

// Raises unless who is to read what a query itself names, not its sub-selects, may.
inline void RequireRightsOfQuery(::Query* query) {
#if PG_VERSION_NUM >= 160000
  (void)ExecCheckPermissions(query->rtable, query->rteperminfos, true);
#else
  (void)ExecCheckRTPerms(query->rtable, true);
#endif
}

// Whether a planned statement reads rows of a range table entry that is a relation. Children of an inheritance tree are
// not checked for rights on later versions; those that are not written are read.
inline bool PlannedRead(const PlannedStmt* plan, const RangeTblEntry* rte, bool is_target) {
#if PG_VERSION_NUM >= 160000
  if (rte->perminfoindex == 0) return !is_target;
  auto* permissions = list_nth_node(RTEPermissionInfo, plan->permInfos, static_cast<int>(rte->perminfoindex) - 1);
  return (permissions->requiredPerms & ACL_SELECT) != 0 || !bms_is_empty(permissions->selectedCols);
#else
  (void)plan;
  (void)is_target;
  return (rte->requiredPerms & ACL_SELECT) != 0 || !bms_is_empty(rte->selectedCols);
#endif
}

// The owner of the view that a range table entry of a plan comes from; InvalidOid when the statement itself names it.
inline Oid PlannedCheckAsUser(const PlannedStmt* plan, const RangeTblEntry* rte) {
#if PG_VERSION_NUM >= 160000
  if (rte->perminfoindex == 0) return InvalidOid;
  return list_nth_node(RTEPermissionInfo, plan->permInfos, static_cast<int>(rte->perminfoindex) - 1)->checkAsUser;
#else
  (void)plan;
  return rte->checkAsUser;
#endif
}

// The ON condition of MERGE where it is not among the quals of the join tree.
inline Node* MergeCondition(::Query* query) {
#if PG_VERSION_NUM >= 170000
  return query->mergeJoinCondition;
#else
  (void)query;
  return nullptr;
#endif
}

// Whether an expression makes values of a type out of JSON.
inline bool IsJsonConversion(const Node* node) {
#if PG_VERSION_NUM >= 170000
  return IsA(node, JsonExpr) || IsA(node, JsonConstructorExpr) || IsA(node, JsonValueExpr);
#elif PG_VERSION_NUM >= 160000
  return IsA(node, JsonConstructorExpr) || IsA(node, JsonValueExpr);
#else
  (void)node;
  return false;
#endif
}

// Whether a function of the server makes a value of a type that a text names.
inline bool ReadsAsNamedType(Oid function) {
#if PG_VERSION_NUM >= 160000
  return function == F_PG_INPUT_IS_VALID || function == F_PG_INPUT_ERROR_INFO;
#else
  (void)function;
  return false;
#endif
}

// The WHEN clauses of MERGE.
inline List* MergeActions(::Query* query) {
#if PG_VERSION_NUM >= 150000
  return query->mergeActionList;
#else
  (void)query;
  return NIL;
#endif
}

// The condition and assignments of one WHEN clause.
inline void OpenMergeAction(Node* node, Node** condition, List** assignments) {
#if PG_VERSION_NUM >= 150000
  auto* action = reinterpret_cast<MergeAction*>(node);
  *condition = action->qual;
  *assignments = action->commandType == CMD_DELETE ? NIL : action->targetList;
#else
  (void)node;
  *condition = nullptr;
  *assignments = NIL;
#endif
}

inline bool IsMerge(CmdType command) {
#if PG_VERSION_NUM >= 150000
  return command == CMD_MERGE;
#else
  (void)command;
  return false;
#endif
}

// The grouping expression that a Var of the range table entry of GROUP BY stands for; null when `rte` is another kind.
inline Node* GroupByExpression(RangeTblEntry* rte, int attno) {
#if PG_VERSION_NUM >= 180000
  if (rte->rtekind == RTE_GROUP) return static_cast<Node*>(list_nth(rte->groupexprs, attno - 1));
#else
  (void)rte;
  (void)attno;
#endif
  return nullptr;
}

// Runs a query that was started to its end.
inline void RunToEnd(QueryDesc* query) {
#if PG_VERSION_NUM >= 180000
  ExecutorRun(query, ForwardScanDirection, 0);
#else
  ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
}

// True when a role has USAGE on a foreign server.
inline bool MayUseServer(Oid server, Oid role) {
#if PG_VERSION_NUM >= 160000
  return object_aclcheck(ForeignServerRelationId, server, role, ACL_USAGE) == ACLCHECK_OK;
#else
  return pg_foreign_server_aclcheck(server, role, ACL_USAGE) == ACLCHECK_OK;
#endif
}

// True when a role has USAGE on a schema.
inline bool MayUseSchema(Oid schema, Oid role) {
#if PG_VERSION_NUM >= 160000
  return object_aclcheck(NamespaceRelationId, schema, role, ACL_USAGE) == ACLCHECK_OK;
#else
  return pg_namespace_aclcheck(schema, role, ACL_USAGE) == ACLCHECK_OK;
#endif
}

// True when a role may execute a function.
inline bool MayExecute(Oid function, Oid role) {
#if PG_VERSION_NUM >= 160000
  return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK;
#else
  return pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

// Parse analysis of one raw statement in which $1, $2, ... may stand for values of any type.
inline ::Query* AnalyzeStatement(RawStmt* raw, const char* text) {
  Oid* types = nullptr;
  int count = 0;
#if PG_VERSION_NUM >= 150000
  return parse_analyze_varparams(raw, text, &types, &count, nullptr);
#else
  return parse_analyze_varparams(raw, text, &types, &count);
#endif
}

// Whether `role` owns the relation (superusers own everything).
inline bool OwnsRelation(Oid relation, Oid role) {
#if PG_VERSION_NUM >= 160000
  return object_ownercheck(RelationRelationId, relation, role);
#else
  return pg_class_ownercheck(relation, role);
#endif
}

// The parts of a qualified name as SQL writes it.
inline List* QualifiedNameParts(const char* name) {
#if PG_VERSION_NUM >= 160000
  return stringToQualifiedNameList(name, nullptr);
#else
  return stringToQualifiedNameList(name);
#endif
}

// Whether transactions may be ended after some time.
constexpr bool kHasTransactionTimeout = PG_VERSION_NUM >= 170000;

// The number of a process's entry in shared memory.
inline int ProcessNumber(const PGPROC* process) {
#if PG_VERSION_NUM >= 170000
  return GetNumberFromPGProc(process);
#else
  return process->pgprocno;
#endif
}

// Whether an operator is one of those of an operator family that orders.
inline bool IsOrderingOperator(Oid operator_oid) {
#if PG_VERSION_NUM >= 180000
  return get_op_index_interpretation(operator_oid) != NIL;
#else
  return get_op_btree_interpretation(operator_oid) != NIL;
#endif
}

// The operator family that an ordering operator (< or >) sorts by, and the type of what it compares; false for others.
inline bool FindOrdering(Oid operator_oid, Oid* family, Oid* input) {
#if PG_VERSION_NUM >= 180000
  CompareType direction;
#else
  int16 direction;
#endif
  return get_ordering_op_properties(operator_oid, family, input, &direction);
}

// Begins a scan of an index with so many keys, which index_rescan() sets.
inline IndexScanDesc BeginIndexScan(::Relation table, ::Relation index, Snapshot snapshot, int keys) {
#if PG_VERSION_NUM >= 180000
  return index_beginscan(table, index, snapshot, nullptr, keys, 0);
#else
  return index_beginscan(table, index, snapshot, keys, 0);
#endif
}

// Whether COPY ... TO takes a relation of this kind by its name.
inline bool CopiesKind(char kind) {
#if PG_VERSION_NUM >= 180000
  if (kind == RELKIND_MATVIEW) return true;
#endif
  return kind == RELKIND_RELATION;
}

// The block by which the server knows a module; from 18 on pg_get_loaded_modules() shows name and version.
#if PG_VERSION_NUM >= 180000
#define PS_MODULE_MAGIC(module_name) PG_MODULE_MAGIC_EXT(.name = module_name, .version = PS_EXTENSION_VERSION)
#else
#define PS_MODULE_MAGIC(module_name) PG_MODULE_MAGIC
#endif

// A wait event of that name, as pg_stat_activity shows it; before 17 the one that all extensions share.
inline uint32 NewWaitEvent(const char* name) {
#if PG_VERSION_NUM >= 170000
  return WaitEventExtensionNew(name);
#else
  (void)name;
  return PG_WAIT_EXTENSION;
#endif
}

// Shared memory that nobody has asked for at the server's start: made by whoever wants it first, with `init`, and there
// until the server ends. A named DSM segment; before 17 a part of the little that the server keeps spare for everybody,
// which is for what cannot be done without only.
void* SharedOnFirstUse(const char* name, Size size, void (*init)(void* place));
#if PG_VERSION_NUM >= 170000
constexpr bool kFirstUseHasRoom = true;
#else
constexpr bool kFirstUseHasRoom = false;
#endif

// An option of EXPLAIN that extends what it shows.
struct ExplainOption {
  const char* name;
  // A command has it: returns what is kept for the others, in the memory of the command.
  void* (*begin)();
  // A query of that command is about to be planned; it is only read. Not called for plans that are there already.
  void (*before_planning)(void* kept, ::Query* query);
  // A plan was shown, and run if it is to be: shows what is to follow, within the group of the query.
  void (*after_plan)(void* kept, const PlannedStmt* plan, ExplainState* explain);
};

// Adds an option, which must stay, as the only one of this module. Before 18 EXPLAIN takes none.
void AddExplainOption(const ExplainOption* option);

// Has `ask` called when libraries ask for shared memory, and returns what was to be called; before 15 that is while
// they are loaded.
using ShmemRequestHook = void (*)();
inline ShmemRequestHook HookShmemRequest(ShmemRequestHook ask) {
#if PG_VERSION_NUM >= 150000
  ShmemRequestHook before = shmem_request_hook;
  shmem_request_hook = ask;
  return before;
#else
  ask();
  return nullptr;
#endif
}

#if PG_VERSION_NUM < 150000
#define MarkGUCPrefixReserved(prefix) EmitWarningsOnPlaceholders(prefix)

// Begins the result of a function that returns all of its rows at once.
void InitMaterializedSRF(FunctionCallInfo fcinfo, bits32 flags);

// Reads an integer; raises 22P02 or 22003.
int64 pg_strtoint64(const char* text);
#endif

// What a file of a module ends with.
#ifndef DLSUFFIX
#define DLSUFFIX ".so"
#endif

}  // namespace privacy_score
