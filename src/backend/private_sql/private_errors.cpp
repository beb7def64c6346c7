/*
 * private_errors.cpp - see private_errors.hpp.
 */
#include "backend/private_sql/private_errors.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
}

#include "backend/private_sql/private_refusals.hpp"
#include "backend/private_sql/private_split.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/server/compat_query.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_dp_error);
}

namespace {

Oid ErrorFunction() {
  const Oid schema = GetSysCacheOid1(NAMESPACENAME, Anum_pg_namespace_oid, CStringGetDatum("privacy_score"));
  const Oid types[] = {ANYELEMENTOID};
  return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum("dp_error"),
                         PointerGetDatum(buildoidvector(types, 1)), ObjectIdGetDatum(schema));
}

// Whether rows that are looked at may be made of answers; what a WITH query is made of is not followed.
bool HoldsAnswers(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return WalkQuery(AsQuery(node), HoldsAnswers, context);
  if (IsA(node, RangeTblEntry))
    return castNode(RangeTblEntry, node)->rtekind == RTE_CTE || LevelOfPlaceholder(castNode(RangeTblEntry, node)) >= 0;
  return WalkChildren(node, HoldsAnswers, context);
}

bool NamesOuterRow(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Var)) return castNode(Var, node)->varlevelsup > 0;
  if (IsA(node, Aggref) && castNode(Aggref, node)->agglevelsup > 0) return true;
  if (IsA(node, SubLink)) return true;
  return WalkChildren(node, NamesOuterRow, context);
}

// Within the expressions of one query.
bool RequireKnownError(Node* node, void* context) {
  if (node == nullptr || IsA(node, RangeTblEntry)) return false;
  if (IsA(node, Query)) {
    RequireKnownErrors(AsQuery(node));
    return false;
  }
  if (IsErrorCall(node)) {
    const auto* call = castNode(FuncExpr, node);
    if (*static_cast<bool*>(context) || NamesOuterRow(reinterpret_cast<Node*>(call->args), nullptr))
      RefuseErrorCall(call);
  }
  return WalkChildren(node, RequireKnownError, context);
}

}  // namespace

bool IsErrorCall(const Node* node) {
  if (!IsA(node, FuncExpr)) return false;
  const auto* call = castNode(FuncExpr, const_cast<Node*>(node));
  return call->funcid >= FirstNormalObjectId && list_length(call->args) == 1 && call->funcid == ErrorFunction();
}

void RefuseErrorCall(const FuncExpr* call) {
  RefusePrivately(
      reinterpret_cast<const Node*>(call), "dp_error() is not beside an aggregate of the same query level",
      "Write dp_error(count(*)), or any aggregate as it is answered, where rows of persons are aggregated.");
}

void RequireKnownErrors(::Query* query) {
  bool of_answers = HoldsAnswers(reinterpret_cast<Node*>(query), nullptr);
  (void)WalkQuery(query, RequireKnownError, &of_answers);
}

// dp_error(value): what is not answered privately has no noise.
Datum ps_dp_error(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  PG_RETURN_FLOAT8(0);
}

}  // namespace privacy_score
