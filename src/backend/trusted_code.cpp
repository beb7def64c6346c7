/*
 * trusted_code.cpp - see trusted_code.hpp.
 */
#include "trusted_code.hpp"

#include <initializer_list>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_range.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "compat.hpp"
#include "internal.hpp"

namespace {

// A search for the first code that is not trusted where rows are read with the rights of `owner`.
struct Search {
  Oid owner;
  bool within_relation;  // in what belongs to a relation, of which only constant parts are evaluated
  bool within_function;  // in the body of a function
  const char* kind;
  const char* name;
  Oid theirs;
};

Search SearchFor(Oid owner) { return {owner, false, false, nullptr, nullptr, InvalidOid}; }

bool Found(Search* search, const char* kind, const char* name, Oid theirs) {
  search->kind = kind;
  search->name = name;
  search->theirs = theirs;
  return true;
}

// The owner of the extension may do all that the extension does.
bool IsStrange(const Search* search, Oid theirs) {
  const Oid owner = OidIsValid(search->owner) ? search->owner : BOOTSTRAP_SUPERUSERID;
  return !has_privs_of_role(theirs, owner) && theirs != ExtensionOwner();
}

[[noreturn]] void RaiseFound(const Search* search) {
  const bool is_function = strcmp(search->kind, "function") == 0;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
           errmsg("%s %s, which belongs to role \"%s\", cannot run here", search->kind, search->name,
                  GetUserNameFromId(search->theirs, false)),
           OidIsValid(search->owner)
               ? errdetail("Rows are read with the rights of role \"%s\".", GetUserNameFromId(search->owner, false))
               : errdetail("Rows are read with the rights of their owner."),
           is_function ? errhint("Write out in the view or expression what the function does, or write it with RETURN "
                                 "in place of a text, as an expression that reads no table.")
                       : errhint("It must belong to that role or to a superuser.")));
  pg_unreachable();
}

bool FindInFunction(Oid function, void* context);

// Of an aggregate, which anybody may put together, the parts are called.
bool FindInAggregate(Oid aggregate, Search* search) {
  HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
  const FormData_pg_aggregate form = *reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  for (const Oid part : {form.aggtransfn, form.aggfinalfn, form.aggcombinefn, form.aggserialfn, form.aggdeserialfn,
                         form.aggmtransfn, form.aggminvtransfn, form.aggmfinalfn})
    if (OidIsValid(part) && FindInFunction(part, search)) return true;
  return false;
}

bool FindInNode(Node* node, void* context);

// In the body of a function in SQL. As a text it would be read anew, whatever its names mean then.
bool FindInBody(HeapTuple function, Search* search) {
  bool null;
  const Datum body = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_prosqlbody, &null);
  if (null) return true;
  const bool before = search->within_function;
  search->within_function = true;
  const bool found = FindInNode(static_cast<Node*>(stringToNode(TextDatumGetCString(body))), search);
  search->within_function = before;
  return found;
}

bool FindInFunction(Oid function, void* context) {
  if (function < FirstNormalObjectId) return false;
  check_stack_depth();
  auto* search = static_cast<Search*>(context);
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for function %u", function);
  const FormData_pg_proc form = *reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  bool found = form.pronamespace != get_namespace_oid("privacy_score", true);
  if (found && form.prokind == PROKIND_AGGREGATE)
    found = IsStrange(search, form.proowner) || FindInAggregate(function, search);
  else if (found && form.prolang == SQLlanguageId)
    found = IsStrange(search, form.proowner) || FindInBody(tuple, search);
  else if (found)
    found = form.prolang != INTERNALlanguageId && form.prolang != ClanguageId;
  ReleaseSysCache(tuple);
  return found && Found(search, "function", format_procedure(function), form.proowner);
}

// In expressions that a field of a catalog's row holds.
bool FindInField(int cache, HeapTuple tuple, AttrNumber field, Search* search) {
  bool null;
  const Datum value = SysCacheGetAttr(cache, tuple, field, &null);
  return !null && FindInNode(static_cast<Node*>(stringToNode(TextDatumGetCString(value))), search);
}

// In some fields of the row with that key.
bool FindInRow(int cache, Oid key, std::initializer_list<AttrNumber> fields, Search* search) {
  HeapTuple tuple = SearchSysCache1(cache, ObjectIdGetDatum(key));
  if (!HeapTupleIsValid(tuple)) return false;
  bool found = false;
  for (const AttrNumber field : fields) found = found || FindInField(cache, tuple, field, search);
  ReleaseSysCache(tuple);
  return found;
}

bool FindInChecks(Oid domain, Search* search) {
  Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(domain));
  SysScanDesc scan = systable_beginscan(catalog, ConstraintTypidIndexId, true, nullptr, 1, &key);
  bool found = false;
  for (HeapTuple tuple; !found && HeapTupleIsValid(tuple = systable_getnext(scan));)
    found = FindInField(CONSTROID, tuple, Anum_pg_constraint_conbin, search);
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return found;
}

// The planner's estimates call what a range type measures its values with, and keep it ready beside the hooks.
bool FindInRange(Oid type, Search* search) {
  HeapTuple tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for range type %u", type);
  const FormData_pg_range form = *reinterpret_cast<Form_pg_range>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  for (const Oid function : {static_cast<Oid>(form.rngcanonical), static_cast<Oid>(form.rngsubdiff)})
    if (OidIsValid(function) && FindInFunction(function, search)) return true;
  return false;
}

// In a type, and in those that it is made of: in its checks too where values become such.
bool FindInType(Oid type, bool converts, Search* search) {
  check_stack_depth();
  if (type < FirstNormalObjectId) return false;
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for type %u", type);
  const FormData_pg_type form = *reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  switch (form.typtype) {
    case TYPTYPE_DOMAIN:
      if (converts && IsStrange(search, form.typowner))
        return Found(search, "domain", format_type_be(type), form.typowner);
      return FindInType(form.typbasetype, converts, search) || (converts && FindInChecks(type, search));
    case TYPTYPE_COMPOSITE: {
      if (!converts) return false;
      bool found = false;
      Relation relation = relation_open(form.typrelid, AccessShareLock);
      const TupleDesc columns = RelationGetDescr(relation);
      for (int i = 0; !found && i < columns->natts; ++i)
        found = !TupleDescAttr(columns, i)->attisdropped &&
                FindInType(TupleDescAttr(columns, i)->atttypid, converts, search);
      relation_close(relation, AccessShareLock);
      return found;
    }
    case TYPTYPE_RANGE:
      return FindInRange(type, search) || FindInType(get_range_subtype(type), converts, search);
    case TYPTYPE_MULTIRANGE:
      return FindInType(get_multirange_range(type), converts, search);
    default:
      return OidIsValid(form.typelem) && FindInType(form.typelem, converts, search);
  }
}

bool FindInTypes(const List* types, Search* search) {
  const ListCell* cell;
  foreach (cell, types)
    if (FindInType(lfirst_oid(cell), true, search)) return true;
  return false;
}

// In the types that a node brings in.
bool FindInTypesOf(const Node* node, Search* search) {
  switch (nodeTag(node)) {
    case T_Var:
      return FindInType(exprType(node), false, search);
    case T_Const:
    case T_FuncExpr:
    case T_CoerceToDomain:
    case T_CoerceViaIO:
    case T_ArrayCoerceExpr:
    case T_ConvertRowtypeExpr:
    case T_RowExpr:
      return FindInType(exprType(node), true, search);
    case T_RangeTblFunction:
      return FindInTypes(castNode(RangeTblFunction, node)->funccoltypes, search);
    case T_TableFunc:
      return FindInTypes(castNode(TableFunc, node)->coltypes, search);
    default:
      return IsJsonConversion(node) && FindInType(exprType(node), true, search);
  }
}

bool FindInRelation(Oid relation, Search* search);

// A tree walker: true ends the walk.
bool FindInNode(Node* node, void* context) {
  if (node == nullptr) return false;
  auto* search = static_cast<Search*>(context);
  if (IsA(node, Query)) return WalkQuery(castNode(Query, node), FindInNode, context);
  if (IsA(node, RangeTblEntry)) {
    const Oid relation = castNode(RangeTblEntry, node)->relid;
    return OidIsValid(relation) && (search->within_function || FindInRelation(relation, search));
  }
  const bool runs = !search->within_relation || !contain_var_clause(node);
  if (runs && (FindInTypesOf(node, search) || check_functions_in_node(node, FindInFunction, context))) return true;
  return WalkChildren(node, FindInNode, context);
}

// In what the planner evaluates of one relation. The relation cache has these expressions too, but evaluated.
bool FindInMember(Relation relation, Search* search) {
  const ListCell* cell;
  foreach (cell, RelationGetIndexList(relation))
    if (FindInRow(INDEXRELID, lfirst_oid(cell), {Anum_pg_index_indexprs, Anum_pg_index_indpred}, search)) return true;
  foreach (cell, RelationGetStatExtList(relation))
    if (FindInRow(STATEXTOID, lfirst_oid(cell), {Anum_pg_statistic_ext_stxexprs}, search)) return true;
  if (FindInRow(PARTRELID, RelationGetRelid(relation), {Anum_pg_partitioned_table_partexprs}, search)) return true;
  const TupleConstr* constraints = RelationGetDescr(relation)->constr;
  for (int i = 0; constraints != nullptr && i < constraints->num_check; ++i)
    if (FindInNode(static_cast<Node*>(stringToNode(constraints->check[i].ccbin)), search)) return true;
  return false;
}

// A view, or a foreign table, which runs code elsewhere.
bool FindInKind(Oid relation, char kind, Search* search) {
  if (!OidIsValid(search->owner) || (kind != RELKIND_VIEW && kind != RELKIND_FOREIGN_TABLE)) return false;
  const Oid theirs = OwnerOfRelation(relation);
  return IsStrange(search, theirs) &&
         Found(search, kind == RELKIND_VIEW ? "view" : "foreign table", get_rel_name(relation), theirs);
}

bool FindInRelation(Oid relation, Search* search) {
  bool found = false;
  const bool before = search->within_relation;
  search->within_relation = true;
  const ListCell* cell;
  foreach (cell, find_all_inheritors(relation, AccessShareLock, nullptr)) {
    Relation member = try_relation_open(lfirst_oid(cell), AccessShareLock);
    if (member == nullptr) continue;
    found = FindInKind(lfirst_oid(cell), member->rd_rel->relkind, search) || FindInMember(member, search);
    relation_close(member, NoLock);
    if (found) break;
  }
  search->within_relation = before;
  return found;
}

bool FindInPlan(SPIPlanPtr plan, Search* search) {
  ListCell* source;
  foreach (source, SPI_plan_get_plan_sources(plan))
    if (FindInNode(reinterpret_cast<Node*>(static_cast<CachedPlanSource*>(lfirst(source))->query_list), search))
      return true;
  return false;
}

object_access_hook_type prev_object_access = nullptr;
needs_fmgr_hook_type prev_needs_fmgr = nullptr;
fmgr_hook_type prev_fmgr = nullptr;
ExecutorStart_hook_type prev_executor_start = nullptr;

void RequireTrusted(Oid function) {
  if (!ps_code_rule.holds) return;
  Search search = SearchFor(ps_code_rule.owner);
  if (FindInFunction(function, &search)) RaiseFound(&search);
}

void CheckExecution(ObjectAccessType access, Oid class_id, Oid object, int sub_id, void* argument) {
  if (prev_object_access != nullptr) prev_object_access(access, class_id, object, sub_id, argument);
  if (access == OAT_FUNCTION_EXECUTE) RequireTrusted(object);
}

// A function that would be stopped must not be replaced by what it says before it comes to that.
bool KeepsItsName(Oid function) {
  if (prev_needs_fmgr != nullptr && prev_needs_fmgr(function)) return true;
  if (!ps_code_rule.holds) return false;
  Search search = SearchFor(ps_code_rule.owner);
  return FindInFunction(function, &search);
}

// What types bring is called without the object access hook. Whatever keeps its name comes here.
void CheckCall(FmgrHookEventType event, FmgrInfo* function, Datum* private_data) {
  if (event == FHET_START) RequireTrusted(function->fn_oid);
  if (prev_fmgr != nullptr) prev_fmgr(event, function, private_data);
}

// A name may have passed to a view, and a table may have got foreign members, since they were looked at.
void CheckStatement(QueryDesc* query, int flags) {
  if (ps_code_rule.holds) {
    Search search = SearchFor(ps_code_rule.owner);
    const ListCell* cell;
    foreach (cell, query->plannedstmt->rtable) {
      const auto* rte = static_cast<RangeTblEntry*>(lfirst(cell));
      if (OidIsValid(rte->relid) && FindInKind(rte->relid, rte->relkind, &search)) RaiseFound(&search);
    }
  }
  if (prev_executor_start != nullptr)
    prev_executor_start(query, flags);
  else
    standard_ExecutorStart(query, flags);
}

}  // namespace

CodeRule ps_code_rule = {false, InvalidOid};

void WatchCode() {
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

bool NeedsTrustedCode(SPIPlanPtr plan, Oid owner) {
  Search search = SearchFor(owner);
  return !FindInPlan(plan, &search);
}

void RequireTrustedCode(SPIPlanPtr plan, Oid owner) {
  Search search = SearchFor(owner);
  if (FindInPlan(plan, &search)) RaiseFound(&search);
}

bool NeedsTrustedCode(Oid relation, Oid owner) {
  Search search = SearchFor(owner);
  return !FindInRelation(relation, &search);
}
