/*
 * query_expressions.cpp - expressions of a Query as Expr nodes of core.
 *
 * Only few node kinds mean something to an abstraction (columns, aggregates, windows, subqueries, equality, AND); all
 * others, also those of later versions, are kOther with whatever children the server's own walker finds, so no column
 * can hide in a node that is not known here.
 */
#include "backend/query/query_build.hpp"

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/side_effect_functions.hpp"
#include "backend/catalog/telling_types.hpp"
#include "backend/server/compat.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

#include "core/statement/abstraction.hpp"

namespace privacy_score {

namespace ps = privacy_score;

namespace {

using ExprList = ps::ArenaList<ps::Expr>;

ps::Expr* NewExpr(QueryScope* scope, ps::ExprKind kind) {
  auto* expr = scope->arena->New<ps::Expr>();
  expr->kind = kind;
  return expr;
}

struct Collector {
  QueryScope* scope;
  ExprList* list;
};

bool CollectChild(Node* node, void* context) {
  auto* collector = static_cast<Collector*>(context);
  AddExpr(collector->scope, collector->list, node);
  return false;
}

// Adds every child of `node`; constants are left out.
void AddChildren(QueryScope* scope, ExprList* list, Node* node) {
  Collector collector = {scope, list};
  WalkChildren(node, CollectChild, &collector);
}

// Notes a function that may be seen to run: a choice around it, in whatever level, shows by which columns it chooses.
void NoteTold(QueryScope* scope, Node* node) {
  const Oid function = IsA(node, FuncExpr) ? reinterpret_cast<FuncExpr*>(node)->funcid : InvalidOid;
  if (OidIsValid(function) && function < FirstNormalObjectId) {
    const char* name = get_func_name(function);
    if (name != nullptr && ps::GivesValueOnly(name)) return;
  }
  for (; scope != nullptr; scope = scope->parent) ++scope->told;
}

// Whether some arguments of a node decide which others are evaluated.
bool Chooses(Node* node) {
  switch (nodeTag(node)) {
    case T_CaseExpr:
    case T_CoalesceExpr:
    case T_BoolExpr:
    case T_SubscriptingRef:
    case T_RowCompareExpr:
      return true;
    default:
      return IsJsonConversion(node);  // ON EMPTY, ON ERROR
  }
}

// Notes a choice whose arguments have been translated, `told` functions having been met before.
void NoteChoice(QueryScope* scope, ps::Expr* expr, int told) {
  expr->chooses = scope->result->chooses = true;
  expr->runs_told = scope->told != told;
}

// Notes that the level calls a function by name.
void NoteCall(QueryScope* scope, Oid function) {
  if (!scope->result->calls) scope->result->calls = !FunctionIsPlain(function);
}

std::string_view FunctionName(QueryScope* scope, Oid function) {
  return scope->arena->Copy(CanonicalFunction(function));
}

// The operand of a cast that nobody wrote; null when `node` is not one.
Node* ImplicitCastOperand(Node* node) {
  switch (nodeTag(node)) {
    case T_RelabelType: {
      auto* cast = reinterpret_cast<RelabelType*>(node);
      return cast->relabelformat == COERCE_IMPLICIT_CAST && !NodeTells(node) ? reinterpret_cast<Node*>(cast->arg)
                                                                             : nullptr;
    }
    case T_FuncExpr: {
      auto* cast = reinterpret_cast<FuncExpr*>(node);
      if (cast->funcformat != COERCE_IMPLICIT_CAST || cast->args == NIL || NodeTells(node)) return nullptr;
      return static_cast<Node*>(linitial(cast->args));
    }
    case T_CoerceViaIO: {
      auto* cast = reinterpret_cast<CoerceViaIO*>(node);
      return cast->coerceformat == COERCE_IMPLICIT_CAST && !NodeTells(node) ? reinterpret_cast<Node*>(cast->arg)
                                                                            : nullptr;
    }
    case T_ArrayCoerceExpr: {
      auto* cast = reinterpret_cast<ArrayCoerceExpr*>(node);
      return cast->coerceformat == COERCE_IMPLICIT_CAST && !NodeTells(node) ? reinterpret_cast<Node*>(cast->arg)
                                                                            : nullptr;
    }
    case T_ConvertRowtypeExpr: {
      auto* cast = reinterpret_cast<ConvertRowtypeExpr*>(node);
      return cast->convertformat == COERCE_IMPLICIT_CAST && !NodeTells(node) ? reinterpret_cast<Node*>(cast->arg)
                                                                             : nullptr;
    }
    case T_CoerceToDomain: {
      auto* cast = reinterpret_cast<CoerceToDomain*>(node);
      return cast->coercionformat == COERCE_IMPLICIT_CAST && !NodeTells(node) ? reinterpret_cast<Node*>(cast->arg)
                                                                              : nullptr;
    }
    default:
      return nullptr;
  }
}

// The scope that a Var of `scope` with `levels` levels up belongs to.
QueryScope* OuterScope(QueryScope* scope, int levels) {
  while (scope != nullptr && levels-- > 0) scope = scope->parent;
  return scope;
}

// An expression of the query `levels` levels out, translated where it is used.
ps::Expr* BuildOuterExpr(QueryScope* scope, Node* node, int levels) {
  if (levels > 0) {
    node = static_cast<Node*>(copyObjectImpl(node));
    IncrementVarSublevelsUp(node, levels, 0);
  }
  return BuildExpr(scope, node);
}

// A column of a join is the expression over the joined items that it stands for.
ps::Expr* BuildJoinVar(QueryScope* scope, const Var* var, RangeTblEntry* rte) {
  const int levels = static_cast<int>(var->varlevelsup);
  if (var->varattno > 0) {
    auto* alias = static_cast<Node*>(list_nth(rte->joinaliasvars, var->varattno - 1));
    return alias == nullptr ? NewExpr(scope, ps::ExprKind::kConstant) : BuildOuterExpr(scope, alias, levels);
  }
  ps::Expr* row = NewExpr(scope, ps::ExprKind::kOther);
  ListCell* cell;
  foreach (cell, rte->joinaliasvars) {
    auto* alias = static_cast<Node*>(lfirst(cell));
    if (alias != nullptr) row->args.Add(BuildOuterExpr(scope, alias, levels));
  }
  return row;
}

// Column `attno` of a range; attno 0 is the row.
ps::Expr* BuildColumn(QueryScope* scope, const Var* var, int attno) {
  const int levels = static_cast<int>(var->varlevelsup);
  QueryScope* outer = OuterScope(scope, levels);
  if (outer == nullptr || var->varno <= 0 || static_cast<int>(var->varno) > list_length(outer->query->rtable))
    return NewExpr(scope, ps::ExprKind::kConstant);
  RangeTblEntry* rte = rt_fetch(var->varno, outer->query->rtable);
  if (rte->rtekind == RTE_JOIN) return BuildJoinVar(scope, var, rte);
  if (Node* grouping = GroupByExpression(rte, attno)) return BuildOuterExpr(scope, grouping, levels);

  ps::Expr* expr = NewExpr(scope, ps::ExprKind::kConstant);
  if (attno < 0 && attno != SelfItemPointerAttributeNumber) return expr;
  const RangeSlot* slot = FindRange(outer, var->varno);
  int column = attno - 1;
  if (attno > 0 && slot->columns != nullptr) column = attno <= slot->natts ? slot->columns[column] : -1;
  if (attno > 0 && column < 0) return expr;
  expr->kind = attno > 0 ? ps::ExprKind::kColumn : ps::ExprKind::kWholeRow;
  expr->range = slot->index;
  expr->column = attno > 0 ? column : -1;
  expr->levels_up = levels;
  return expr;
}

// A field of a row that is a FROM item is that item's column.
ps::Expr* BuildFieldSelect(QueryScope* scope, FieldSelect* select) {
  auto* var = reinterpret_cast<Var*>(select->arg);
  if (!IsA(var, Var) || var->varattno != 0) return BuildOther(scope, reinterpret_cast<Node*>(select));
  QueryScope* outer = OuterScope(scope, static_cast<int>(var->varlevelsup));
  if (outer == nullptr || rt_fetch(var->varno, outer->query->rtable)->rtekind == RTE_JOIN)
    return BuildOther(scope, reinterpret_cast<Node*>(select));
  return BuildColumn(scope, var, select->fieldnum);
}

// ORDER BY inside an aggregate adds its expressions to the arguments as junk; they are no arguments here.
ps::Expr* BuildAggregate(QueryScope* scope, Aggref* aggregate) {
  ps::Expr* expr = NewExpr(scope, ps::ExprKind::kAggregate);
  NoteCall(scope, aggregate->aggfnoid);
  expr->function = FunctionName(scope, aggregate->aggfnoid);
  ListCell* cell;
  foreach (cell, aggregate->aggdirectargs) AddExpr(scope, &expr->args, static_cast<Node*>(lfirst(cell)));
  foreach (cell, aggregate->args) {
    auto* target = lfirst_node(TargetEntry, cell);
    if (!target->resjunk) AddExpr(scope, &expr->args, reinterpret_cast<Node*>(target->expr));
  }
  foreach (cell, aggregate->aggorder) {
    auto* clause = lfirst_node(SortGroupClause, cell);
    ListCell* argument;
    foreach (argument, aggregate->args) {
      auto* target = lfirst_node(TargetEntry, argument);
      if (target->ressortgroupref != clause->tleSortGroupRef) continue;
      AddExpr(scope, &expr->order, reinterpret_cast<Node*>(target->expr));
      AddTold(scope, clause, reinterpret_cast<Node*>(target->expr));
    }
  }
  foreach (cell, aggregate->aggdistinct) {
    auto* clause = lfirst_node(SortGroupClause, cell);
    AddTold(scope, clause, get_sortgroupclause_expr(clause, aggregate->args));
  }
  AddExpr(scope, &expr->filter, reinterpret_cast<Node*>(aggregate->aggfilter));
  return expr;
}

ps::Expr* BuildWindow(QueryScope* scope, WindowFunc* window) {
  ps::Expr* expr = NewExpr(scope, ps::ExprKind::kWindow);
  NoteCall(scope, window->winfnoid);
  expr->function = FunctionName(scope, window->winfnoid);
  ListCell* cell;
  foreach (cell, window->args) AddExpr(scope, &expr->args, static_cast<Node*>(lfirst(cell)));
  AddExpr(scope, &expr->filter, reinterpret_cast<Node*>(window->aggfilter));
  return expr;
}

// Adds the left sides of a comparison with the output of a subquery, which is made of Params.
void AddLeftSides(QueryScope* scope, ExprList* list, Node* test) {
  if (test == nullptr) return;
  ListCell* cell;
  switch (nodeTag(test)) {
    case T_BoolExpr:
      foreach (cell, reinterpret_cast<BoolExpr*>(test)->args)
        AddLeftSides(scope, list, static_cast<Node*>(lfirst(cell)));
      return;
    case T_OpExpr:
      AddExpr(scope, list, static_cast<Node*>(linitial(reinterpret_cast<OpExpr*>(test)->args)));
      return;
    case T_RowCompareExpr:
      foreach (cell, reinterpret_cast<RowCompareExpr*>(test)->largs)
        AddExpr(scope, list, static_cast<Node*>(lfirst(cell)));
      return;
    default:
      AddExpr(scope, list, test);
  }
}

ps::Expr* BuildSubLink(QueryScope* scope, SubLink* link) {
  ps::Expr* expr = NewExpr(scope, ps::ExprKind::kSubquery);
  switch (link->subLinkType) {
    case EXISTS_SUBLINK:
      expr->use = ps::SubqueryUse::kExists;
      break;
    case ANY_SUBLINK:
    case ALL_SUBLINK:
      expr->use = ps::SubqueryUse::kMember;
      break;
    default:
      expr->use = ps::SubqueryUse::kValue;
  }
  AddLeftSides(scope, &expr->args, link->testexpr);
  expr->subquery = BuildQuery(scope->arena, AsQuery(link->subselect), scope);
  return expr;
}

struct MultiexprSearch {
  int id;
  SubLink* found;
};

bool FindMultiexpr(Node* node, void* context) {
  if (node == nullptr) return false;
  auto* search = static_cast<MultiexprSearch*>(context);
  if (IsA(node, SubLink)) {
    auto* link = reinterpret_cast<SubLink*>(node);
    if (link->subLinkType != MULTIEXPR_SUBLINK || link->subLinkId != search->id) return false;
    search->found = link;
    return true;
  }
  return WalkChildren(node, FindMultiexpr, context);
}

// SET (a, b) = (SELECT ...): each column is given by a Param that names the subquery in a junk target.
ps::Expr* BuildParam(QueryScope* scope, const Param* param) {
  if (param->paramkind != PARAM_MULTIEXPR) return NewExpr(scope, ps::ExprKind::kConstant);
  MultiexprSearch search = {param->paramid >> 16, nullptr};
  ListCell* cell;
  foreach (cell, scope->targets) {
    auto* target = lfirst_node(TargetEntry, cell);
    if (target->resjunk && FindMultiexpr(reinterpret_cast<Node*>(target->expr), &search)) break;
  }
  if (search.found == nullptr) return NewExpr(scope, ps::ExprKind::kConstant);
  return BuildSubLink(scope, search.found);
}

ps::Expr* BuildOperator(QueryScope* scope, OpExpr* op) {
  if (list_length(op->args) != 2) return BuildOther(scope, reinterpret_cast<Node*>(op));
  if (!IsEqualityOperator(op->opno)) {
    // Who is left out is asked about, too.
    if (IsInequalityOperator(op->opno)) return BuildDisguisedEquality(scope, op);
    return BuildOther(scope, reinterpret_cast<Node*>(op));
  }
  ps::Expr* expr = NewExpr(scope, ps::ExprKind::kEquality);
  expr->args.Add(BuildOperand(scope, static_cast<Node*>(linitial(op->args))));
  expr->args.Add(BuildOperand(scope, static_cast<Node*>(lsecond(op->args))));
  return expr;
}

ps::Expr* BuildBool(QueryScope* scope, BoolExpr* boolean) {
  if (boolean->boolop != AND_EXPR) return BuildOther(scope, reinterpret_cast<Node*>(boolean));
  const int told = scope->told;
  ps::Expr* expr = NewExpr(scope, ps::ExprKind::kAnd);
  ListCell* cell;
  foreach (cell, boolean->args) AddExpr(scope, &expr->args, static_cast<Node*>(lfirst(cell)));
  NoteChoice(scope, expr, told);
  return expr;
}

// True for a cast, of whatever form.
bool IsCast(Node* node) {
  switch (nodeTag(node)) {
    case T_RelabelType:
    case T_CoerceViaIO:
    case T_ArrayCoerceExpr:
    case T_CoerceToDomain:
    case T_CollateExpr:
      return true;
    case T_FuncExpr:
      return reinterpret_cast<FuncExpr*>(node)->funcformat == COERCE_EXPLICIT_CAST;
    default:
      return false;
  }
}

// Whether it gives several rows for one: how many, a count of them shows.
bool GivesRows(Node* node) {
  if (IsA(node, FuncExpr)) return reinterpret_cast<FuncExpr*>(node)->funcretset;
  return IsA(node, OpExpr) && reinterpret_cast<OpExpr*>(node)->opretset;
}

}  // namespace

// A cast is none: of what a cast runs a text says nothing.
void NoteCallOf(QueryScope* scope, const FuncExpr* call) {
  if (call->funcformat == COERCE_EXPLICIT_CAST || call->funcformat == COERCE_IMPLICIT_CAST) return;
  NoteCall(scope, call->funcid);
}

ps::Expr* BuildTold(QueryScope* scope, ps::Expr* expr) {
  if (expr->kind == ps::ExprKind::kConstant) return expr;
  ps::Expr* told = NewExpr(scope, ps::ExprKind::kOther);
  told->args.Add(expr);
  told->tells = scope->result->tells = true;
  return told;
}

void AddTold(QueryScope* scope, const SortGroupClause* clause, Node* sorted) {
  if (!ClauseTells(clause, sorted)) return;
  ps::Expr* told = BuildTold(scope, BuildExpr(scope, sorted));
  if (told->kind != ps::ExprKind::kConstant) scope->result->told.Add(told);
}

ps::Expr* BuildOther(QueryScope* scope, Node* node) {
  const int told = scope->told;
  ps::Expr* expr = NewExpr(scope, ps::ExprKind::kOther);
  AddChildren(scope, &expr->args, node);
  if (IsA(node, FuncExpr)) NoteCallOf(scope, reinterpret_cast<FuncExpr*>(node));
  expr->rows = GivesRows(node);
  const bool tells = NodeTells(node);
  if (tells) NoteTold(scope, node);
  if (expr->args.empty())
    expr->kind = ps::ExprKind::kConstant;
  else if (tells || expr->rows)
    expr->tells = scope->result->tells = true;
  if (expr->kind == ps::ExprKind::kOther && Chooses(node)) NoteChoice(scope, expr, told);
  expr->cast = expr->args.size == 1 && IsCast(node);
  if (expr->kind == ps::ExprKind::kOther) MarkOther(scope, expr, node);
  return expr;
}

// Anybody may make an operator of that name, with any function; a member of an operator family only a superuser.
bool IsEqualityOperator(Oid opno) {
  HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(opno));
  if (!HeapTupleIsValid(tuple)) return false;
  auto* form = reinterpret_cast<Form_pg_operator>(GETSTRUCT(tuple));
  const bool named = strcmp(NameStr(form->oprname), "=") == 0;
  const bool builtin = form->oprnamespace == PG_CATALOG_NAMESPACE;
  ReleaseSysCache(tuple);
  return named && (builtin || IsOrderingOperator(opno));
}

bool IsInequalityOperator(Oid opno) {
  const Oid negator = get_negator(opno);
  return OidIsValid(negator) && IsEqualityOperator(negator);
}

ps::Expr* BuildExpr(QueryScope* scope, Node* node) {
  check_stack_depth();
  if (Node* operand = ImplicitCastOperand(node)) return BuildExpr(scope, operand);
  switch (nodeTag(node)) {
    case T_Var: {
      auto* var = reinterpret_cast<Var*>(node);
      ps::Expr* column = BuildColumn(scope, var, var->varattno);
      return JsonTells(var->vartype) ? BuildTold(scope, column) : column;
    }
    case T_Param:
      return BuildParam(scope, reinterpret_cast<Param*>(node));
    case T_OpExpr:
      return BuildOperator(scope, reinterpret_cast<OpExpr*>(node));
    case T_DistinctExpr:
    case T_NullIfExpr:
      return BuildDisguisedEquality(scope, reinterpret_cast<OpExpr*>(node));
    case T_ScalarArrayOpExpr:
      return BuildArrayComparison(scope, reinterpret_cast<ScalarArrayOpExpr*>(node));
    case T_CaseExpr:
      return BuildCase(scope, reinterpret_cast<CaseExpr*>(node));
    case T_BoolExpr:
      return BuildBool(scope, reinterpret_cast<BoolExpr*>(node));
    case T_Aggref:
      return BuildAggregate(scope, reinterpret_cast<Aggref*>(node));
    case T_WindowFunc:
      return BuildWindow(scope, reinterpret_cast<WindowFunc*>(node));
    case T_SubLink:
      return BuildSubLink(scope, reinterpret_cast<SubLink*>(node));
    case T_FieldSelect:
      return BuildFieldSelect(scope, reinterpret_cast<FieldSelect*>(node));
    case T_GroupingFunc:
    case T_CurrentOfExpr:
      return NewExpr(scope, ps::ExprKind::kConstant);
    case T_TargetEntry:
      return BuildExpr(scope, reinterpret_cast<Node*>(reinterpret_cast<TargetEntry*>(node)->expr));
    case T_Query: {
      ps::Expr* expr = NewExpr(scope, ps::ExprKind::kSubquery);
      expr->subquery = BuildQuery(scope->arena, reinterpret_cast<::Query*>(node), scope);
      return expr;
    }
    default:
      return BuildOther(scope, node);
  }
}

void AddExpr(QueryScope* scope, ExprList* list, Node* node) {
  if (node == nullptr || IsA(node, Const)) return;
  ps::Expr* expr = BuildExpr(scope, node);
  if (expr->kind != ps::ExprKind::kConstant) list->Add(expr);
}

}  // namespace privacy_score
