/*
 * owned_functions.cpp - see owned_functions.hpp.
 */
#include "owned_functions.hpp"

#include <initializer_list>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"
}

#include "compat.hpp"
#include "internal.hpp"

namespace {

// The first code that was found of somebody without the rights of `owner`, who is not the extension's owner either: he
// may do all that the extension does.
struct Stranger {
  Oid owner;   // InvalidOid: any code is looked for but the server's own and that of shared libraries
  Oid theirs;  // InvalidOid: not his code is strange, but what it may find by the names that it looks up
  const char* what;
};

bool IsStrange(Stranger* stranger, Oid theirs, const char* kind, char* (*name)(Oid), Oid object) {
  if (OidIsValid(stranger->owner) && (has_privs_of_role(theirs, stranger->owner) || theirs == ExtensionOwner()))
    return false;
  stranger->theirs = theirs;
  stranger->what = psprintf("%s %s", kind, name(object));
  return true;
}

[[noreturn]] void RaiseStranger(const Stranger* stranger) {
  const char* owner = GetUserNameFromId(stranger->owner, false);
  if (!OidIsValid(stranger->theirs))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("%s cannot run here while the session has temporary objects", stranger->what),
                    errdetail("It would run for role \"%s\", and looks for names among these objects first.", owner),
                    errhint("Drop them, for instance by DISCARD TEMP, or let the search_path of the function end in "
                            "pg_temp.")));
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("%s, which belongs to role \"%s\", cannot run here", stranger->what,
                         GetUserNameFromId(stranger->theirs, false)),
                  errdetail("It would run for role \"%s\".", owner),
                  errhint("Views, functions that these or indexes, statistics and the like of tables call, and tables "
                          "that such functions write to must belong to that role or a superuser.")));
  pg_unreachable();
}

// Whether the session has temporary objects that may be of somebody without the rights of `owner`.
bool HasTemporaryObjects(Oid owner) {
  Oid schema, toast;
  GetTempNamespaceState(&schema, &toast);
  if (!OidIsValid(schema) || has_privs_of_role(GetSessionUserId(), owner)) return false;
  Relation catalog = table_open(DependRelationId, AccessShareLock);
  ScanKeyData keys[2];
  ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(NamespaceRelationId));
  ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(schema));
  SysScanDesc scan = systable_beginscan(catalog, DependReferenceIndexId, true, nullptr, 2, keys);
  const bool has = HeapTupleIsValid(systable_getnext(scan));
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return has;
}

// Whether a function has a search_path of its own that does not end in pg_temp: the temporary schema comes first then.
bool PrefersTemporary(HeapTuple function) {
  bool null;
  const Datum settings = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_proconfig, &null);
  if (null) return false;
  Datum* elements;
  int count;
  deconstruct_array(DatumGetArrayTypeP(settings), TEXTOID, -1, false, TYPALIGN_INT, &elements, nullptr, &count);
  for (int i = 0; i < count; ++i) {
    char* setting = TextDatumGetCString(elements[i]);
    constexpr char kName[] = "search_path=";
    if (strncmp(setting, kName, sizeof kName - 1) != 0) continue;
    List* schemas;
    return !SplitIdentifierString(setting + sizeof kName - 1, ',', &schemas) || schemas == NIL ||
           strcmp(static_cast<char*>(llast(schemas)), "pg_temp") != 0;
  }
  return false;
}

// Code in shared libraries is as much the server's as its own: only superusers bring it. Aggregates are put together by
// anybody.
bool IsOfSharedLibrary(const FormData_pg_proc* function) {
  return (function->prolang == INTERNALlanguageId || function->prolang == ClanguageId) &&
         function->prokind != PROKIND_AGGREGATE;
}

bool FindInFunction(Oid function, void* context) {
  if (function < FirstNormalObjectId) return false;
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for function %u", function);
  const auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  auto* stranger = static_cast<Stranger*>(context);
  bool found = false;
  if (!IsOfSharedLibrary(form)) {
    found = IsStrange(stranger, form->proowner, "function", format_procedure, function);
    if (!found && PrefersTemporary(tuple) && HasTemporaryObjects(stranger->owner)) {
      stranger->what = psprintf("function %s", format_procedure(function));
      found = true;
    }
  }
  ReleaseSysCache(tuple);
  return found;
}

bool FindInDomain(Oid domain, void* stranger) {
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(domain));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for type %u", domain);
  const Oid theirs = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typowner;
  ReleaseSysCache(tuple);
  return IsStrange(static_cast<Stranger*>(stranger), theirs, "domain", format_type_be, domain);
}

// A view is code, of which the built-in functions may run any statement.
bool FindInView(Oid view, Stranger* stranger) {
  return OidIsValid(stranger->owner) && IsStrange(stranger, OwnerOfRelation(view), "view", get_rel_name, view);
}

bool FindInRelation(Oid relation, void* stranger);

// A tree walker: true ends the walk.
bool FindInNode(Node* node, void* stranger) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return WalkQuery(castNode(Query, node), FindInNode, stranger);
  if (IsA(node, CoerceToDomain) && FindInDomain(castNode(CoerceToDomain, node)->resulttype, stranger)) return true;
  if (check_functions_in_node(node, FindInFunction, stranger)) return true;
  if (IsA(node, RangeTblEntry)) {
    const Oid relation = castNode(RangeTblEntry, node)->relid;
    return OidIsValid(relation) && FindInRelation(relation, stranger);
  }
  return WalkChildren(node, FindInNode, stranger);
}

// In expressions that a field of a catalog's row holds.
bool FindInField(int cache, HeapTuple tuple, AttrNumber field, void* stranger) {
  bool null;
  const Datum value = SysCacheGetAttr(cache, tuple, field, &null);
  return !null && FindInNode(static_cast<Node*>(stringToNode(TextDatumGetCString(value))), stranger);
}

// In some fields of the row with that key.
bool FindInRow(int cache, Oid key, std::initializer_list<AttrNumber> fields, void* stranger) {
  HeapTuple tuple = SearchSysCache1(cache, ObjectIdGetDatum(key));
  if (!HeapTupleIsValid(tuple)) return false;
  bool found = false;
  for (const AttrNumber field : fields) found = found || FindInField(cache, tuple, field, stranger);
  ReleaseSysCache(tuple);
  return found;
}

// In what the planner evaluates of one relation. The relation cache has these expressions too, but evaluated.
bool FindInMember(Relation relation, void* stranger) {
  const ListCell* cell;
  foreach (cell, RelationGetIndexList(relation))
    if (FindInRow(INDEXRELID, lfirst_oid(cell), {Anum_pg_index_indexprs, Anum_pg_index_indpred}, stranger)) return true;
  foreach (cell, RelationGetStatExtList(relation))
    if (FindInRow(STATEXTOID, lfirst_oid(cell), {Anum_pg_statistic_ext_stxexprs}, stranger)) return true;
  if (FindInRow(PARTRELID, RelationGetRelid(relation), {Anum_pg_partitioned_table_partexprs}, stranger)) return true;
  const TupleConstr* constraints = RelationGetDescr(relation)->constr;
  for (int i = 0; constraints != nullptr && i < constraints->num_check; ++i)
    if (FindInNode(static_cast<Node*>(stringToNode(constraints->check[i].ccbin)), stranger)) return true;
  return false;
}

bool FindInRelation(Oid relation, void* stranger) {
  if (get_rel_relkind(relation) == RELKIND_VIEW) return FindInView(relation, static_cast<Stranger*>(stranger));
  const ListCell* cell;
  foreach (cell, find_all_inheritors(relation, AccessShareLock, nullptr)) {
    Relation member = try_relation_open(lfirst_oid(cell), AccessShareLock);
    if (member == nullptr) continue;
    const bool found = FindInMember(member, stranger);
    relation_close(member, NoLock);
    if (found) return true;
  }
  return false;
}

bool FindInPlan(SPIPlanPtr plan, Stranger* stranger) {
  ListCell* source;
  foreach (source, SPI_plan_get_plan_sources(plan))
    if (FindInNode(reinterpret_cast<Node*>(static_cast<CachedPlanSource*>(lfirst(source))->query_list), stranger))
      return true;
  return false;
}

// What is written may have triggers, rules, defaults and checks.
bool FindInStatement(const PlannedStmt* statement, Stranger* stranger) {
  const ListCell* cell;
  foreach (cell, statement->rtable) {
    const auto* rte = static_cast<RangeTblEntry*>(lfirst(cell));
    if (!OidIsValid(rte->relid)) continue;
    if (rte->relkind == RELKIND_VIEW && FindInView(rte->relid, stranger)) return true;
    if ((PlannedRights(statement, rte) & (ACL_INSERT | ACL_UPDATE | ACL_DELETE)) != 0 &&
        IsStrange(stranger, OwnerOfRelation(rte->relid), "writing to relation", get_rel_name, rte->relid))
      return true;
  }
  return false;
}

object_access_hook_type prev_object_access = nullptr;
needs_fmgr_hook_type prev_needs_fmgr = nullptr;
fmgr_hook_type prev_fmgr = nullptr;
ExecutorStart_hook_type prev_executor_start = nullptr;

void RequireOwnFunction(Oid function) {
  if (!OidIsValid(ps_runs_functions_of)) return;
  Stranger stranger = {ps_runs_functions_of, InvalidOid, nullptr};
  if (FindInFunction(function, &stranger)) RaiseStranger(&stranger);
}

void CheckExecution(ObjectAccessType access, Oid class_id, Oid object, int sub_id, void* argument) {
  if (prev_object_access != nullptr) prev_object_access(access, class_id, object, sub_id, argument);
  if (access == OAT_FUNCTION_EXECUTE) RequireOwnFunction(object);
}

// A function that would be stopped must not be replaced by what it says before it comes to that.
bool KeepsItsName(Oid function) {
  if (prev_needs_fmgr != nullptr && prev_needs_fmgr(function)) return true;
  if (!OidIsValid(ps_runs_functions_of)) return false;
  Stranger stranger = {ps_runs_functions_of, InvalidOid, nullptr};
  return FindInFunction(function, &stranger);
}

// Triggers and what types bring are called without the object access hook. Whatever keeps its name comes here.
void CheckCall(FmgrHookEventType event, FmgrInfo* function, Datum* private_data) {
  if (event == FHET_START) RequireOwnFunction(function->fn_oid);
  if (prev_fmgr != nullptr) prev_fmgr(event, function, private_data);
}

void CheckStatement(QueryDesc* query, int flags) {
  if (OidIsValid(ps_runs_functions_of)) {
    Stranger stranger = {ps_runs_functions_of, InvalidOid, nullptr};
    if (FindInStatement(query->plannedstmt, &stranger)) RaiseStranger(&stranger);
  }
  if (prev_executor_start != nullptr)
    prev_executor_start(query, flags);
  else
    standard_ExecutorStart(query, flags);
}

}  // namespace

Oid ps_runs_functions_of = InvalidOid;

void WatchFunctions() {
  static bool watches = false;
  if (watches) return;
  prev_object_access = object_access_hook;
  object_access_hook = CheckExecution;
  prev_needs_fmgr = needs_fmgr_hook;
  needs_fmgr_hook = KeepsItsName;
  prev_fmgr = fmgr_hook;
  fmgr_hook = CheckCall;
  prev_executor_start = ExecutorStart_hook;
  ExecutorStart_hook = CheckStatement;
  watches = true;
}

void RequireOwnFunctions(SPIPlanPtr plan, Oid owner) {
  Stranger stranger = {owner, InvalidOid, nullptr};
  if (FindInPlan(plan, &stranger)) RaiseStranger(&stranger);
}

bool RunsOwnFunctions(SPIPlanPtr plan, Oid owner) {
  Stranger stranger = {owner, InvalidOid, nullptr};
  return !FindInPlan(plan, &stranger);
}

bool CallsFunctions(SPIPlanPtr plan) { return !RunsOwnFunctions(plan, InvalidOid); }

bool RunsOwnFunctions(Oid relation, Oid owner) {
  Stranger stranger = {owner, InvalidOid, nullptr};
  return !FindInRelation(relation, &stranger);
}
