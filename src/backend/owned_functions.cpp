/*
 * owned_functions.cpp - see owned_functions.hpp.
 */
#include "owned_functions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/plancache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
}

#include "compat.hpp"

namespace {

void RequireRights(Oid theirs, Oid owner, const char* what) {
  if (has_privs_of_role(theirs, owner)) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("%s, which belongs to role \"%s\", cannot run for a noisy answer", what,
                         GetUserNameFromId(theirs, false)),
                  errdetail("It would run with the rights of role \"%s\".", GetUserNameFromId(owner, false)),
                  errhint("Functions that a view calls must belong to the view's owner or a superuser.")));
}

bool CheckFunction(Oid function, void* owner) {
  if (function < FirstNormalObjectId) return false;
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for function %u", function);
  const Oid theirs = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->proowner;
  ReleaseSysCache(tuple);
  RequireRights(theirs, *static_cast<Oid*>(owner), psprintf("function %s", format_procedure(function)));
  return false;
}

void CheckDomain(Oid domain, Oid owner) {
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(domain));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for type %u", domain);
  const Oid theirs = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typowner;
  ReleaseSysCache(tuple);
  RequireRights(theirs, owner, psprintf("domain %s", format_type_be(domain)));
}

bool CheckNode(Node* node, void* owner) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return WalkQuery(castNode(Query, node), CheckNode, owner);
  if (IsA(node, CoerceToDomain)) CheckDomain(castNode(CoerceToDomain, node)->resulttype, *static_cast<Oid*>(owner));
  check_functions_in_node(node, CheckFunction, owner);
  if (IsA(node, RangeTblEntry)) return false;
  return WalkChildren(node, CheckNode, owner);
}

}  // namespace

void RequireOwnFunctions(SPIPlanPtr plan, Oid owner) {
  ListCell* source;
  foreach (source, SPI_plan_get_plan_sources(plan)) {
    ListCell* query;
    foreach (query, static_cast<CachedPlanSource*>(lfirst(source))->query_list)
      CheckNode(static_cast<Node*>(lfirst(query)), &owner);
  }
}
