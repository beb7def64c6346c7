/*
 * query_values.cpp - constants of a Query, as keyed hashes on the expressions of core.
 *
 * Where a column is compared for equality, the other side is followed: a constant, a parameter, the elements of a list
 * or an array, or an expression of these, which stands for one value made of all its constants. The abstraction never
 * sees any of it.
 */
#include "backend/query/constants.hpp"
#include "backend/query/query_build.hpp"
#include "backend/query/value_recipes.hpp"

#include "backend/server/compat.hpp"

extern "C" {
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

#include "core/base/keyed_hash.hpp"

namespace privacy_score {

namespace ps = privacy_score;

namespace {

constexpr int kMostParametersOfValue = 64;

// What is below an expression: constants and functions folded, parameters listed.
struct Parts {
  uint64 hash;
  int parameters[kMostParametersOfValue];
  int parameter_count;
  ValueRecipes* recipes;  // takes the steps of the folding in the place of `hash`; null else
};

void Fold(Parts* parts, uint64 word) {
  if (parts->recipes != nullptr)
    AddFixedStep(parts->recipes, word);
  else
    parts->hash = ps::FoldHash(parts->hash, word);
}

void FoldConstant(Parts* parts, const Const* constant) {
  if (parts->recipes != nullptr)
    AddLiteralStep(parts->recipes, constant);
  else
    parts->hash = ps::FoldHash(parts->hash, HashOfConstant(constant, 0));
}

// Stops with true at what is no constant: a column, a subquery, an aggregate.
bool FindParts(Node* node, void* context) {
  if (node == nullptr) return false;
  auto* parts = static_cast<Parts*>(context);
  switch (nodeTag(node)) {
    case T_Const:
      FoldConstant(parts, reinterpret_cast<Const*>(node));
      return false;
    case T_Param: {
      auto* parameter = reinterpret_cast<Param*>(node);
      if (parameter->paramkind != PARAM_EXTERN || parts->parameter_count == kMostParametersOfValue) return true;
      parts->parameters[parts->parameter_count++] = parameter->paramid;
      Fold(parts, 0);
      return false;
    }
    case T_FuncExpr:
      Fold(parts, reinterpret_cast<FuncExpr*>(node)->funcid);
      break;
    case T_OpExpr:
      Fold(parts, reinterpret_cast<OpExpr*>(node)->opno);
      break;
    case T_Var:
    case T_Aggref:
    case T_WindowFunc:
    case T_GroupingFunc:
    case T_SubLink:
    case T_Query:
    case T_CaseTestExpr:
    case T_CurrentOfExpr:
      return true;
    default:
      Fold(parts, nodeTag(node));
  }
  return WalkChildren(node, FindParts, context);
}

ps::Value* NewValue(QueryScope* scope, ps::Expr* expr) {
  auto* value = scope->arena->New<ps::Value>();
  expr->values.Add(value);
  return value;
}

bool IsFull(const ps::Expr* expr) { return expr->values.size >= static_cast<int>(ps::kMostComparedValues); }

void AddParameters(QueryScope* scope, ps::Value* value, const int* numbers, int count) {
  auto* copy = static_cast<int*>(scope->arena->Allocate(sizeof(int) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i) copy[i] = numbers[i];
  value->parameters = copy;
  value->parameter_count = count;
}

// Adds the constant that `node` is; false when it is none. NULL adds nothing: it equals nothing.
bool AddValue(QueryScope* scope, ps::Expr* expr, Node* node) {
  node = WithoutCasts(node);
  if (IsA(node, Const)) {
    const auto* constant = reinterpret_cast<Const*>(node);
    if (!constant->constisnull && !IsFull(expr))
      NewValue(scope, expr)->hash =
          scope->recipes != nullptr ? LiteralRecipe(scope->recipes, constant) : HashOfConstant(constant, 0);
    return true;
  }
  Parts parts = {0, {}, 0, scope->recipes};
  if (scope->recipes != nullptr) BeginFolding(scope->recipes);
  if (FindParts(node, &parts)) return false;
  if (IsFull(expr)) return true;
  ps::Value* value = NewValue(scope, expr);
  if (!IsA(node, Param)) value->hash = scope->recipes != nullptr ? FoldedRecipe(scope->recipes) : parts.hash;
  if (parts.parameter_count > 0) AddParameters(scope, value, parts.parameters, parts.parameter_count);
  return true;
}

// Adds the constants among the elements of an array.
void AddElements(QueryScope* scope, ps::Expr* expr, Node* node) {
  check_stack_depth();
  node = WithoutCasts(node);
  if (IsA(node, ArrayExpr)) {
    ListCell* cell;
    foreach (cell, reinterpret_cast<ArrayExpr*>(node)->elements) {
      auto* element = static_cast<Node*>(lfirst(cell));
      if (IsA(element, ArrayExpr))
        AddElements(scope, expr, element);
      else
        AddValue(scope, expr, element);
    }
  } else if (IsA(node, Const)) {
    auto* constant = reinterpret_cast<Const*>(node);
    if (constant->constisnull) return;
    if (scope->recipes != nullptr) scope->recipes->failed = true;
    int count;
    const uint64* hashes = HashesOfElements(constant->consttype, constant->constvalue, &count);
    for (int i = 0; i < count && !IsFull(expr); ++i) NewValue(scope, expr)->hash = hashes[i];
  } else if (IsA(node, Param) && reinterpret_cast<Param*>(node)->paramkind == PARAM_EXTERN) {
    if (IsFull(expr)) return;
    ps::Value* value = NewValue(scope, expr);
    AddParameters(scope, value, &reinterpret_cast<Param*>(node)->paramid, 1);
    value->elements = true;
  } else {
    AddValue(scope, expr, node);
  }
}

}  // namespace

Node* WithoutCasts(Node* node) {
  for (;;) {
    switch (nodeTag(node)) {
      case T_RelabelType:
        node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
        break;
      case T_CoerceViaIO:
        node = reinterpret_cast<Node*>(reinterpret_cast<CoerceViaIO*>(node)->arg);
        break;
      case T_ArrayCoerceExpr:
        node = reinterpret_cast<Node*>(reinterpret_cast<ArrayCoerceExpr*>(node)->arg);
        break;
      case T_CoerceToDomain:
        node = reinterpret_cast<Node*>(reinterpret_cast<CoerceToDomain*>(node)->arg);
        break;
      case T_CollateExpr:
        node = reinterpret_cast<Node*>(reinterpret_cast<CollateExpr*>(node)->arg);
        break;
      case T_FuncExpr: {
        auto* call = reinterpret_cast<FuncExpr*>(node);
        const bool cast = call->funcformat == COERCE_EXPLICIT_CAST || call->funcformat == COERCE_IMPLICIT_CAST;
        if (!cast || call->args == NIL) return node;
        node = static_cast<Node*>(linitial(call->args));
        break;
      }
      default:
        return node;
    }
  }
}

bool AddValues(QueryScope* scope, ps::Expr* expr, Node* node) {
  auto* call = reinterpret_cast<FuncExpr*>(node);
  if (!IsA(node, FuncExpr) || call->funcid != F_UNNEST_ANYARRAY) return AddValue(scope, expr, node);
  const int before = expr->values.size;
  AddElements(scope, expr, static_cast<Node*>(linitial(call->args)));
  return expr->values.size > before;
}

ps::Expr* BuildOperand(QueryScope* scope, Node* node) {
  ps::Expr* expr = BuildExpr(scope, node);
  if (expr->kind == ps::ExprKind::kConstant) AddValues(scope, expr, node);
  return expr;
}

ps::Expr* BuildArrayComparison(QueryScope* scope, ScalarArrayOpExpr* comparison) {
  ps::Expr* expr = BuildOther(scope, reinterpret_cast<Node*>(comparison));
  const bool compares = IsEqualityOperator(comparison->opno) || IsInequalityOperator(comparison->opno);
  if (expr->kind == ps::ExprKind::kConstant || !compares) return expr;
  expr->compares = true;
  AddValue(scope, expr, static_cast<Node*>(linitial(comparison->args)));
  AddElements(scope, expr, static_cast<Node*>(lsecond(comparison->args)));
  return expr;
}

ps::Expr* BuildDisguisedEquality(QueryScope* scope, OpExpr* comparison) {
  ps::Expr* expr = BuildOther(scope, reinterpret_cast<Node*>(comparison));
  if (expr->kind == ps::ExprKind::kConstant) return expr;
  expr->compares = true;
  ListCell* cell;
  foreach (cell, comparison->args) AddValue(scope, expr, static_cast<Node*>(lfirst(cell)));
  return expr;
}

// CASE x WHEN 5 compares x with 5 by way of a placeholder for x: the comparison is added as a child of its own.
ps::Expr* BuildCase(QueryScope* scope, CaseExpr* node) {
  ps::Expr* expr = BuildOther(scope, reinterpret_cast<Node*>(node));
  if (node->arg == nullptr) return expr;
  auto* comparison = scope->arena->New<ps::Expr>();
  comparison->kind = ps::ExprKind::kOther;
  comparison->compares = IsA(WithoutCasts(reinterpret_cast<Node*>(node->arg)), Var);
  comparison->pins = ps::Pins::kColumn;
  AddExpr(scope, &comparison->args, reinterpret_cast<Node*>(node->arg));
  ListCell* cell;
  foreach (cell, node->args) {
    auto* condition = reinterpret_cast<OpExpr*>(lfirst_node(CaseWhen, cell)->expr);
    if (IsA(condition, OpExpr) && list_length(condition->args) == 2)
      AddValue(scope, comparison, static_cast<Node*>(lsecond(condition->args)));
  }
  if (!comparison->args.empty() && expr->kind == ps::ExprKind::kOther) expr->args.Add(comparison);
  return expr;
}

}  // namespace privacy_score
