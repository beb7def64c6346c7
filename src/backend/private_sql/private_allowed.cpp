/*
 * private_allowed.cpp - see private_allowed.hpp.
 */
#include "backend/private_sql/private_allowed.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

#include "backend/dp/dp_expressions.hpp"
#include "backend/private_sql/private_functions.hpp"
#include "backend/private_sql/private_multiplicity.hpp"
#include "backend/private_sql/private_refusals.hpp"
#include "backend/private_sql/private_split.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/server/compat_query.hpp"

namespace privacy_score {

namespace {

constexpr int kMostNodes = 10000;
constexpr int kMostDepth = 16;

struct Allowing {
  int nodes;
  int depth;    // of queries below the private part
  bool folded;  // constants have their values
};

const char* const kOutside = "Do that outside of the aggregates, where it works on the answer and costs nothing.";

[[noreturn]] void RefuseFunction(const Node* node, Oid function, const char* reason) {
  const char* name = get_func_name(function);
  RefusePrivately(
      node, psprintf("the function %s() is not allowed on rows of persons: %s", name == nullptr ? "?" : name, reason),
      kOutside);
}

bool IsConstantNode(Node* node, void*) {
  if (node == nullptr) return false;
  if (IsA(node, Var) || IsA(node, SubLink) || IsA(node, Aggref) || IsA(node, WindowFunc) || IsA(node, CaseTestExpr))
    return true;
  return WalkChildren(node, IsConstantNode, nullptr);
}

// Whether an expression is the same for all rows.
bool IsConstant(const List* arguments) {
  return !IsConstantNode(reinterpret_cast<Node*>(const_cast<List*>(arguments)), nullptr);
}

// Whether what is constant in a call is computed once, before anything is charged, as who asks.
bool IsComputedBefore(Oid function, const List* arguments) {
  return function < FirstGenbkiObjectId && func_volatile(function) != PROVOLATILE_VOLATILE &&
         !get_func_retset(function) && IsConstant(arguments);
}

void RequireType(const Node* node, Oid type) {
  const Oid base = getBaseType(type);
  const Oid element = get_element_type(base);
  const Oid plain = OidIsValid(element) ? getBaseType(element) : base;
  if (plain < FirstGenbkiObjectId || type_is_enum(plain)) {
    if (get_typtype(plain) != TYPTYPE_PSEUDO && get_typtype(plain) != TYPTYPE_COMPOSITE) return;
  }
  RefusePrivately(node, psprintf("type %s is not allowed on rows of persons", format_type_be(type)),
                  "Types of the server's own are, and enums.");
}

void RequireCollation(const Node* node, Oid collation) {
  if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
    RefusePrivately(node, "a nondeterministic collation is not allowed on rows of persons",
                    "Compare with COLLATE \"C\".");
}

// What compares texts whose columns have several collations fails on the first row; so does what has no use for a
// nondeterministic one.
void RequireCollationOf(const Node* node, const List* arguments, Oid collation) {
  RequireCollation(node, collation);
  if (OidIsValid(collation)) return;
  const ListCell* cell;
  foreach (cell, arguments) {
    const Node* argument = static_cast<const Node*>(lfirst(cell));
    if (argument != nullptr && IsA(argument, TargetEntry))
      argument = reinterpret_cast<const Node*>(castNode(TargetEntry, const_cast<Node*>(argument))->expr);
    if (argument == nullptr || !type_is_collatable(exprType(argument))) continue;
    RefusePrivately(node, "texts of several collations meet in one expression", "Choose one of them with COLLATE.");
  }
}

// `can_be_guarded`: its calls are such that GuardCalls() sees them.
void RequireFunction(const Node* node, Oid function, const List* arguments, bool can_be_guarded) {
  if (IsComputedBefore(function, arguments)) return;
  const ServerFunctionRule rule = RuleOfServerFunction(function);
  if (rule.use == ExpressionUse::kRefused) RefuseFunction(node, function, rule.reason);
  if (rule.use == ExpressionUse::kGuarded && !can_be_guarded)
    RefuseFunction(node, function, "it can fail on a row, and cannot be guarded there");
  const ListCell* cell;
  foreach (cell, arguments) {
    const int place = foreach_current_index(cell);
    if ((rule.constant_arguments >> place & 1U) == 0 || IsConstant(list_make1(lfirst(cell)))) continue;
    RefusePrivately(node,
                    psprintf("the function %s() needs a constant as argument %d", get_func_name(function), place + 1),
                    "Write the pattern, format or number as a constant.");
  }
}

void RequireOperator(const Node* node, Oid operator_oid, Oid function, const List* arguments, Oid collation) {
  RequireCollationOf(node, arguments, collation);
  RequireFunction(node, OidIsValid(function) ? function : get_opcode(operator_oid), arguments, IsA(node, OpExpr));
}

[[noreturn]] void RefuseNode(const Node* node, const char* what) {
  RefusePrivately(node, psprintf("%s is not allowed on rows of persons", what), kOutside);
}

// What fails when it is reached tells whether a row reached it. What is constant is computed before, but for sets.
bool IsHarmlessSet(const FuncExpr* call, bool folded) {
  switch (call->funcid) {
    case F_GENERATE_SERIES_INT4_INT4:
    case F_GENERATE_SERIES_INT8_INT8:
    case F_UNNEST_ANYARRAY:
      return IsConstant(call->args);
    case F_GENERATE_SERIES_INT4_INT4_INT4:
    case F_GENERATE_SERIES_INT8_INT8_INT8: {
      if (!IsConstant(call->args)) return false;
      const auto* step = static_cast<const Node*>(lthird(call->args));
      if (!folded || !IsA(step, Const)) return !folded;
      const auto* value = castNode(Const, const_cast<Node*>(step));
      if (value->constisnull) return true;
      return (value->consttype == INT4OID ? DatumGetInt32(value->constvalue) : DatumGetInt64(value->constvalue)) != 0;
    }
    default:
      return false;
  }
}

// LIMIT and OFFSET of sub-selects, which may not be negative.
void RequireLimit(const Node* limit, bool folded) {
  if (limit == nullptr) return;
  if (!folded) {
    if (!IsConstant(list_make1(const_cast<Node*>(limit)))) RefuseNode(limit, "a LIMIT that depends on a row");
    return;
  }
  const auto* value = IsA(limit, Const) ? castNode(Const, const_cast<Node*>(limit)) : nullptr;
  if (value == nullptr || (!value->constisnull && DatumGetInt64(value->constvalue) < 0))
    RefuseNode(limit, "a LIMIT below zero");
}

// Aggregates of public rows that never fail.
void RequireAggregate(const Node* node, const Aggref* call) {
  static const char* const kNever[] = {"count", "min", "max", "bool_and", "bool_or", "every"};
  switch (call->aggfnoid) {
    case F_SUM_INT2:
    case F_SUM_INT4:
    case F_SUM_INT8:
    case F_AVG_INT2:
    case F_AVG_INT4:
    case F_AVG_INT8:
      return;
    default:
      break;
  }
  const char* name = get_func_name(call->aggfnoid);
  if (IsBoundedSum(call)) return;
  bool never = call->aggfnoid < FirstGenbkiObjectId && name != nullptr && !OidIsValid(get_element_type(call->aggtype));
  if (never) {
    never = false;
    for (const char* known : kNever) never = never || strcmp(name, known) == 0;
  }
  if (!never) RefuseFunction(node, call->aggfnoid, "it may fail when a row reaches it");
}

void RequireSubLink(Node* node, const SubLink* link) {
  const auto* query = AsQuery(link->subselect);
  switch (link->subLinkType) {
    case EXISTS_SUBLINK:
    case ANY_SUBLINK:
    case ALL_SUBLINK:
      return;
    case EXPR_SUBLINK:
      if (HasOneRowAtMost(query)) return;
      RefusePrivately(node, "a sub-select as a value may have several rows",
                      "Give it LIMIT 1, or ask it for a unique key: what fails on a row would tell of it.");
    default:
      RefuseNode(node, "this kind of sub-select");
  }
}

void RequireEntry(const RangeTblEntry* rte, const Allowing* allowing) {
  switch (rte->rtekind) {
    case RTE_RELATION:
      if (rte->relid < FirstNormalObjectId)
        RefusePrivately(nullptr,
                        psprintf("system catalog \"%s\" is joined with rows of persons", get_rel_name(rte->relid)),
                        "Read it in a query of its own.");
      if (rte->relkind == RELKIND_FOREIGN_TABLE)
        RefusePrivately(nullptr,
                        psprintf("foreign table \"%s\" is joined with rows of persons", get_rel_name(rte->relid)),
                        "Copy what is needed of it into a table of this server.");
      if (rte->tablesample != nullptr) RefuseNode(nullptr, "TABLESAMPLE");
      return;
    case RTE_CTE:
      if (rte->ctelevelsup > static_cast<Index>(allowing->depth))
        RefusePrivately(nullptr,
                        psprintf("WITH query \"%s\" is outside of the level that reads rows of persons", rte->ctename),
                        "Write it in the same level, or as a sub-select.");
      return;
    case RTE_FUNCTION:
      if (LevelOfPlaceholder(rte) >= 0)
        RefusePrivately(nullptr, "an answer is used within rows of persons",
                        "Ask for it first, and write its value as a constant.");
      return;
    case RTE_TABLEFUNC:
    case RTE_NAMEDTUPLESTORE:
      RefuseNode(nullptr, "XMLTABLE, JSON_TABLE or a transition table");
    default:
      return;
  }
}

// What holds expressions together, and is none.
bool IsStructure(const Node* node) {
  switch (nodeTag(node)) {
    case T_List:
    case T_OidList:
    case T_IntList:
    case T_TargetEntry:
    case T_FromExpr:
    case T_JoinExpr:
    case T_RangeTblRef:
    case T_RangeTblFunction:
    case T_CommonTableExpr:
    case T_SortGroupClause:
    case T_SetOperationStmt:
      return true;
    default:
      return false;
  }
}

bool RequireNode(Node* node, void* context) {
  auto* allowing = static_cast<Allowing*>(context);
  if (node == nullptr) return false;
  check_stack_depth();
  if (++allowing->nodes > kMostNodes)
    RefusePrivately(node, "the query is too large to be answered privately", "Ask for less at once.");
  switch (nodeTag(node)) {
    case T_Query: {
      if (++allowing->depth > kMostDepth)
        RefusePrivately(nullptr, "sub-selects are nested too deeply to be answered privately", "Nest fewer.");
      auto* query = AsQuery(node);
      if (query->commandType != CMD_SELECT || query->rowMarks != NIL)
        RefuseNode(nullptr, "a statement that writes or locks");
      RequireLimit(query->limitCount, allowing->folded);
      RequireLimit(query->limitOffset, allowing->folded);
      (void)WalkQuery(query, RequireNode, context);
      --allowing->depth;
      return false;
    }
    case T_RangeTblEntry:
      RequireEntry(castNode(RangeTblEntry, node), allowing);
      return false;  // what is in it is walked by the query
    case T_Var: {
      const auto* var = castNode(Var, node);
      if (var->varlevelsup > static_cast<Index>(allowing->depth))
        RefusePrivately(node, "a sub-select that aggregates rows of persons refers to a row around it",
                        "Aggregate with GROUP BY, and join the answer.");
      if (var->varattno <= 0) RefuseNode(node, var->varattno == 0 ? "a whole row" : "a system column");
      RequireType(node, var->vartype);
      return false;
    }
    case T_Const:
      // A literal among arguments of any type stays of no type.
      if (castNode(Const, node)->consttype != UNKNOWNOID) RequireType(node, castNode(Const, node)->consttype);
      return false;
    case T_Param:
      // PARAM_SUBLINK: a column of the sub-select that IN compares with.
      if (castNode(Param, node)->paramkind != PARAM_EXTERN && castNode(Param, node)->paramkind != PARAM_SUBLINK)
        RefuseNode(node, "a value of the query around it");
      RequireType(node, castNode(Param, node)->paramtype);
      return false;
    case T_FuncExpr: {
      const auto* call = castNode(FuncExpr, node);
      RequireCollationOf(node, call->args, call->inputcollid);
      if (!call->funcretset || !IsHarmlessSet(call, allowing->folded))
        RequireFunction(node, call->funcid, call->args, true);
      RequireType(node, call->funcresulttype);
      break;
    }
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr: {
      const auto* call = reinterpret_cast<const OpExpr*>(node);
      RequireOperator(node, call->opno, call->opfuncid, call->args, call->inputcollid);
      break;
    }
    case T_ScalarArrayOpExpr: {
      const auto* call = castNode(ScalarArrayOpExpr, node);
      RequireOperator(node, call->opno, call->opfuncid, call->args, call->inputcollid);
      break;
    }
    case T_CoerceViaIO: {
      const auto* call = castNode(CoerceViaIO, node);
      const Oid source = exprType(reinterpret_cast<Node*>(call->arg));
      if (!IsConstant(list_make1(call->arg)) && getBaseType(call->resulttype) != TEXTOID &&
          getBaseType(call->resulttype) != VARCHAROID)
        RefusePrivately(node,
                        psprintf("the cast from %s to %s can fail on a row", format_type_be(source),
                                 format_type_be(call->resulttype)),
                        kOutside);
      RequireType(node, source);
      break;
    }
    case T_Aggref:
      RequireCollationOf(node, castNode(Aggref, node)->args, castNode(Aggref, node)->inputcollid);
      RequireAggregate(node, castNode(Aggref, node));
      break;
    case T_SubLink:
      RequireSubLink(node, castNode(SubLink, node));
      break;
    case T_CollateExpr:
      RequireCollation(node, castNode(CollateExpr, node)->collOid);
      break;
    case T_MinMaxExpr:
      RequireCollationOf(node, castNode(MinMaxExpr, node)->args, castNode(MinMaxExpr, node)->inputcollid);
      break;
    case T_ArrayExpr:
      if (castNode(ArrayExpr, node)->multidims) RefuseNode(node, "an array of arrays");
      break;
    case T_SubscriptingRef:
      RefuseNode(node, "an element of an array");
    case T_SQLValueFunction:
    case T_BoolExpr:
    case T_CaseExpr:
    case T_CaseWhen:
    case T_CaseTestExpr:
    case T_CoalesceExpr:
    case T_NullTest:
    case T_BooleanTest:
    case T_RelabelType:
      break;
    default:
      if (!IsStructure(node)) RefuseNode(node, "this kind of expression");
  }
  return WalkChildren(node, RequireNode, context);
}

void RequireAllowed(::Query* part, bool folded) {
  if (expression_returns_set(reinterpret_cast<Node*>(part->targetList)))
    RefuseNode(nullptr, "a set-returning function");
  Allowing allowing = {0, 0, folded};
  (void)WalkQuery(part, RequireNode, &allowing);
}

// --- constants -------------------------------------------------------------------------------------------------------

Node* FoldSubSelects(Node* node, void* root);

Node* FoldConstants(Node* node, void* root) {
  if (node == nullptr) return nullptr;
  if (IsA(node, Query)) return reinterpret_cast<Node*>(MutateQuery(AsQuery(node), FoldConstants, root));
  if (IsStructure(node)) return MutateChildren(node, FoldConstants, root);
  return FoldSubSelects(estimate_expression_value(static_cast<PlannerInfo*>(root), node), root);
}

Node* FoldSubSelects(Node* node, void* root) {
  if (node == nullptr) return nullptr;
  if (IsA(node, Query)) return FoldConstants(node, root);
  return MutateChildren(node, FoldSubSelects, root);
}

// --- rights ----------------------------------------------------------------------------------------------------------

struct Lending {
  const List* relations;  // of persons
  List* queries;          // around the node, the innermost first
};

// A cursor's plan may be older than the relation: a column of another type would fail when a row is there.
void RequirePlannedType(const Var* var, const Lending* lending) {
  if (var->varlevelsup >= static_cast<Index>(list_length(lending->queries))) return;
  const auto* query = static_cast<const ::Query*>(list_nth(lending->queries, static_cast<int>(var->varlevelsup)));
  const RangeTblEntry* rte = rt_fetch(var->varno, query->rtable);
  if (rte->rtekind != RTE_RELATION || var->varattno <= 0 || get_atttype(rte->relid, var->varattno) == var->vartype)
    return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("a relation has changed since the query was planned"), errhint("Ask again.")));
}

// Rows of persons are lent by their owner; all else who asks must be allowed to read.
bool RequireOwnRights(Node* node, void* context) {
  if (node == nullptr || IsA(node, RangeTblEntry)) return false;
  auto* lending = static_cast<Lending*>(context);
  if (IsA(node, Var)) RequirePlannedType(castNode(Var, node), lending);
  if (!IsA(node, Query)) return WalkChildren(node, RequireOwnRights, context);
  auto* query = AsQuery(node);
  const ListCell* cell;
  foreach (cell, query->rtable) {
    auto* rte = lfirst_node(RangeTblEntry, cell);
    // Nobody changes it any more until it is read.
    if (rte->rtekind == RTE_RELATION) LockRelationOid(rte->relid, AccessShareLock);
    const bool lent = rte->rtekind == RTE_RELATION && list_member_oid(lending->relations, rte->relid);
    if (!lent) RequireRightsOfEntry(query, rte);
    // What is left of a view, which was put in place, is the right to read it.
    if (rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_VIEW) rte->rtekind = RTE_RESULT;
    if (rte->rtekind != RTE_RELATION) rte->relid = InvalidOid;
  }
  ForgetRightsOfQuery(query);
  lending->queries = lcons(query, lending->queries);
  (void)WalkQuery(query, RequireOwnRights, context);
  lending->queries = list_delete_first(lending->queries);
  return false;
}

}  // namespace

void RequireAllowedPart(const PrivateLevel* level) { RequireAllowed(level->part, false); }

::Query* PartWithConstants(const PrivateLevel* level, ParamListInfo parameters) {
  auto* root = makeNode(PlannerInfo);
  root->glob = makeNode(PlannerGlobal);
  root->glob->boundParams = parameters;
  auto* part = AsQuery(FoldConstants(CopyNode(level->part), root));
  RequireAllowed(part, true);
  return part;
}

void PrepareForOwner(const PrivateLevel* level, ::Query* part) {
  Lending lending = {level->relations, NIL};
  (void)RequireOwnRights(reinterpret_cast<Node*>(part), &lending);
  (void)MutateQuery(part, GuardCalls, nullptr, QTW_DONT_COPY_QUERY);
}

}  // namespace privacy_score
