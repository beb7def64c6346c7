/*
 * pieces.cpp - see pieces.hpp.
 */
#include "backend/query/pieces.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "utils/syscache.h"
}

#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

// Hooks of the planner that others have set before this library, and the last ones of its own.
bool others_plan = false;
planner_hook_type own_planner = nullptr;
set_rel_pathlist_hook_type own_pathlist = nullptr;

bool IsOthers(Oid function, void*) { return function >= FirstNormalObjectId; }

bool IsInSql(Oid function, void*) {
  if (function < FirstNormalObjectId) return false;
  const HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return false;
  const bool in_sql = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang == SQLlanguageId;
  ReleaseSysCache(tuple);
  return in_sql;
}

// Finds a call of a function that passes the test. The checks of a domain are anybody's, and their calls do not show.
bool FindCall(Node* node, void* context) {
  if (node == nullptr) return false;
  const auto test = *static_cast<check_function_callback*>(context);
  if (IsA(node, RangeTblEntry)) return false;  // what it holds is walked through by itself
  if (IsA(node, CoerceToDomain) || check_functions_in_node(node, test, nullptr)) return true;
  if (IsA(node, Query)) return WalkQuery(AsQuery(node), FindCall, context);
  return WalkChildren(node, FindCall, context);
}

bool Calls(::Query* query, check_function_callback test) { return FindCall(reinterpret_cast<Node*>(query), &test); }

}  // namespace

void NoteOthersPlanners() {
  others_plan = planner_hook != nullptr || set_rel_pathlist_hook != nullptr || create_upper_paths_hook != nullptr;
}

void NoteOwnPlanners() {
  own_planner = planner_hook;
  own_pathlist = set_rel_pathlist_hook;
}

[[gnu::hot]] bool LibrariesPlan() {
  return others_plan || planner_hook != own_planner || set_rel_pathlist_hook != own_pathlist ||
         create_upper_paths_hook != nullptr;
}

bool MayHavePieces(::Query* query) {
  return query->commandType == CMD_SELECT && !query->hasModifyingCTE && !Calls(query, IsOthers);
}

bool MayInline(::Query* query) { return Calls(query, IsInSql); }

}  // namespace privacy_score
