/*
 * owned_functions.cpp - see owned_functions.hpp.
 */
#include "owned_functions.hpp"

#include <initializer_list>

extern "C" {
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/plancache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "compat.hpp"
#include "internal.hpp"

namespace {

// The first code that was found of somebody without the rights of `owner`, who is not the extension's owner either: he
// may do all that the extension does.
struct Stranger {
  Oid owner;
  Oid theirs;
  const char* what;
};

bool IsStrange(Stranger* stranger, Oid theirs, const char* kind, char* (*name)(Oid), Oid object) {
  if (has_privs_of_role(theirs, stranger->owner) || theirs == ExtensionOwner()) return false;
  stranger->theirs = theirs;
  stranger->what = psprintf("%s %s", kind, name(object));
  return true;
}

[[noreturn]] void RaiseStranger(const Stranger* stranger) {
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
           errmsg("%s, which belongs to role \"%s\", cannot run here", stranger->what,
                  GetUserNameFromId(stranger->theirs, false)),
           errdetail("It would run for role \"%s\".", GetUserNameFromId(stranger->owner, false)),
           errhint("Functions that a view calls, or that indexes, statistics and the like of tables do, must belong to "
                   "that role or a superuser.")));
  pg_unreachable();
}

bool FindInFunction(Oid function, void* stranger) {
  if (function < FirstNormalObjectId) return false;
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for function %u", function);
  const Oid theirs = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->proowner;
  ReleaseSysCache(tuple);
  return IsStrange(static_cast<Stranger*>(stranger), theirs, "function", format_procedure, function);
}

bool FindInDomain(Oid domain, void* stranger) {
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(domain));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for type %u", domain);
  const Oid theirs = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typowner;
  ReleaseSysCache(tuple);
  return IsStrange(static_cast<Stranger*>(stranger), theirs, "domain", format_type_be, domain);
}

bool FindInRelation(Oid relation, void* stranger);

// A tree walker: true ends the walk.
bool FindInNode(Node* node, void* stranger) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return WalkQuery(castNode(Query, node), FindInNode, stranger);
  if (IsA(node, CoerceToDomain) && FindInDomain(castNode(CoerceToDomain, node)->resulttype, stranger)) return true;
  if (check_functions_in_node(node, FindInFunction, stranger)) return true;
  if (IsA(node, RangeTblEntry)) {
    const auto* rte = castNode(RangeTblEntry, node);
    return rte->rtekind == RTE_RELATION && FindInRelation(rte->relid, stranger);
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

object_access_hook_type prev_object_access = nullptr;
needs_fmgr_hook_type prev_needs_fmgr = nullptr;

void CheckExecution(ObjectAccessType access, Oid class_id, Oid object, int sub_id, void* argument) {
  if (prev_object_access != nullptr) prev_object_access(access, class_id, object, sub_id, argument);
  if (access != OAT_FUNCTION_EXECUTE || !OidIsValid(ps_runs_functions_of)) return;
  Stranger stranger = {ps_runs_functions_of, InvalidOid, nullptr};
  if (FindInFunction(object, &stranger)) RaiseStranger(&stranger);
}

// A function that would be stopped must not be replaced by what it says before it comes to that.
bool KeepsItsName(Oid function) {
  if (prev_needs_fmgr != nullptr && prev_needs_fmgr(function)) return true;
  if (!OidIsValid(ps_runs_functions_of)) return false;
  Stranger stranger = {ps_runs_functions_of, InvalidOid, nullptr};
  return FindInFunction(function, &stranger);
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

bool RunsOwnFunctions(Oid relation, Oid owner) {
  Stranger stranger = {owner, InvalidOid, nullptr};
  return !FindInRelation(relation, &stranger);
}
