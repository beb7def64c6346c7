/*
 * resolve_values.cpp - the constants that columns are compared with, as keyed hashes on the expressions of core.
 *
 * What src/backend/query/query_values.cpp does with an analysed query, from a text: a literal, a parameter, the
 * elements of a list or an array, or an expression of these, which stands for one value made of all its constants. An
 * abstraction never sees any of it. Done only where there is a key.
 */
#include <optional>
#include <string>

#include "core/base/array_text.hpp"
#include "core/base/constant_hash.hpp"
#include "core/statement/comparisons.hpp"
#include "sqlparse/builtin_functions.hpp"
#include "sqlparse/constants.hpp"
#include "sqlparse/parser_versions.hpp"
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

constexpr int kMostParametersOfValue = 64;

bool IsFull(const Expr* expr) { return expr->values.size >= static_cast<int>(kMostComparedValues); }

std::string_view LastName(NodeList names) {
  return names.size == 0 ? std::string_view() : TextOf(names[names.size - 1]);
}

}  // namespace

// What is below an expression: constants and functions folded, parameters listed.
struct Resolver::Parts {
  std::uint64_t hash = 0;
  int parameters[kMostParametersOfValue] = {};
  int parameter_count = 0;
};

// False at what is no constant: a column, a subquery, an aggregate.
bool Resolver::FindParts(const Node* node, Parts* parts) {
  RequireStack();
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
      parts->hash = FoldHash(parts->hash, HashOfLiteral(*limits_.key, *node->a_const, 0));
      return true;
    case PG_QUERY__NODE__NODE_PARAM_REF:
      if (parts->parameter_count == kMostParametersOfValue) return false;
      parts->parameters[parts->parameter_count++] = node->param_ref->number;
      parts->hash = FoldHash(parts->hash, 0);
      return true;
    case PG_QUERY__NODE__NODE_FUNC_CALL: {
      const std::string_view name = LastName({node->func_call->funcname, node->func_call->n_funcname});
      if (IsBuiltinAggregate(name) || node->func_call->over != nullptr) return false;
      parts->hash = FoldHash(parts->hash, NameHash(name));
      break;
    }
    case PG_QUERY__NODE__NODE_A_EXPR:
      parts->hash = FoldHash(parts->hash, NameHash(LastName({node->a_expr->name, node->a_expr->n_name})));
      break;
    case PG_QUERY__NODE__NODE_COLUMN_REF:
    case PG_QUERY__NODE__NODE_SUB_LINK:
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
    case PG_QUERY__NODE__NODE_CURRENT_OF_EXPR:
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT:
      return false;
    default:
      parts->hash = FoldHash(parts->hash, static_cast<std::uint64_t>(node->node_case));
  }
  for (const Node* child : ChildNodes(*node))
    if (!FindParts(child, parts)) return false;
  return true;
}

Value* Resolver::NewValue(Expr* expr) {
  CountNode();
  auto* value = arena_.New<Value>();
  expr->values.Add(value);
  return value;
}

// Adds the constant that a node is; false when it is none. NULL adds nothing: it equals nothing.
bool Resolver::AddValue(Expr* expr, const Node* node) {
  if (limits_.key == nullptr || node == nullptr) return false;
  node = WithoutCasts(node);
  if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
    if (!node->a_const->isnull && !IsFull(expr)) NewValue(expr)->hash = HashOfLiteral(*limits_.key, *node->a_const, 0);
    return true;
  }
  Parts parts;
  if (!FindParts(node, &parts)) return false;
  if (IsFull(expr)) return true;
  Value* value = NewValue(expr);
  if (node->node_case != PG_QUERY__NODE__NODE_PARAM_REF) value->hash = parts.hash;
  if (parts.parameter_count == 0) return true;
  auto* numbers = static_cast<int*>(arena_.Allocate(sizeof(int) * static_cast<std::size_t>(parts.parameter_count)));
  for (int i = 0; i < parts.parameter_count; ++i) numbers[i] = parts.parameters[i];
  value->parameters = numbers;
  value->parameter_count = parts.parameter_count;
  return true;
}

// Adds the constants among the elements of an array.
void Resolver::AddElements(Expr* expr, const Node* node) {
  if (limits_.key == nullptr || node == nullptr) return;
  RequireStack();
  node = WithoutCasts(node);
  if (node->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR) {
    for (const Node* element : NodeList{node->a_array_expr->elements, node->a_array_expr->n_elements})
      if (element->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR)
        AddElements(expr, element);
      else
        AddValue(expr, element);
  } else if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
    if (node->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL) return;
    const std::optional<ArrayElements> elements = ReadArrayText(node->a_const->sval->sval);
    if (!elements) return;
    for (const std::optional<std::string>& value : elements->values)
      if (value && !IsFull(expr)) NewValue(expr)->hash = ConstantHash(*limits_.key, std::string_view(*value));
  } else {
    const int before = expr->values.size;
    AddValue(expr, node);
    if (node->node_case == PG_QUERY__NODE__NODE_PARAM_REF && expr->values.size > before)
      expr->values.last->elements = true;
  }
}

// The same as AddValue(), and of unnest() the elements.
bool Resolver::AddValues(Expr* expr, const Node* node) {
  if (limits_.key == nullptr || node == nullptr) return false;
  const bool is_unnest = node->node_case == PG_QUERY__NODE__NODE_FUNC_CALL && node->func_call->n_args == 1 &&
                         LastName({node->func_call->funcname, node->func_call->n_funcname}) == "unnest";
  if (!is_unnest) return AddValue(expr, node);
  const int before = expr->values.size;
  AddElements(expr, node->func_call->args[0]);
  return expr->values.size > before;
}

Expr* Resolver::Operand(Level* level, const Node* node) {
  Expr* expr = Expression(level, node);
  if (expr->kind == ExprKind::kConstant) AddValues(expr, node);
  return expr;
}

// An equality in disguise: <>, IS DISTINCT FROM, NULLIF, = ANY (array) and the like. Who is left out is asked about,
// too.
void Resolver::AddOperatorValues(Expr* comparison, const PgQuery__AExpr& expr) {
  if (limits_.key == nullptr || comparison->kind != ExprKind::kOther) return;
  const std::string_view name = LastName({expr.name, expr.n_name});
  bool of_array = false;
  switch (expr.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL:
      of_array = true;
      if (name != "=" && name != "<>") return;
      break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
      if (name != "<>" || expr.lexpr == nullptr) return;
      break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
      break;
    default:
      return;
  }
  comparison->compares = true;
  AddValue(comparison, expr.lexpr);
  if (of_array)
    AddElements(comparison, expr.rexpr);
  else
    AddValue(comparison, expr.rexpr);
}

// x IN (list), x NOT IN (list). Of (x, y) IN ((1, 2), (3, 4)) each column is compared with its own.
void Resolver::AddListValues(Expr* comparison, Expr* left, const Node* node, NodeList list) {
  if (limits_.key == nullptr || comparison->kind != ExprKind::kOther || node == nullptr) return;
  if (node->node_case != PG_QUERY__NODE__NODE_ROW_EXPR) {
    comparison->compares = true;
    AddValue(comparison, node);
    for (const Node* element : list) AddValue(comparison, element);
    return;
  }
  if (left->kind != ExprKind::kOther || left->args.size != static_cast<int>(node->row_expr->n_args)) return;
  // Columns alone: what is below an expression is compared with nothing.
  ArenaList<Expr> columns;
  int at = 0;
  for (const Expr* column : left->args) {
    Expr* column_comparison = NewExpr(ExprKind::kOther);
    column_comparison->compares = true;
    column_comparison->pins = comparison->pins;
    column_comparison->args.Add(Clone(column));
    for (const Node* row : list)
      if (row->node_case == PG_QUERY__NODE__NODE_ROW_EXPR && row->row_expr->n_args > static_cast<std::size_t>(at))
        AddValue(column_comparison, row->row_expr->args[at]);
    columns.Add(column_comparison);
    ++at;
  }
  left->args = columns;
}

void Resolver::AddCaseValues(Expr* comparison, const PgQuery__CaseExpr& expr) {
  if (limits_.key == nullptr || expr.arg == nullptr || comparison->kind != ExprKind::kOther) return;
  comparison->compares = WithoutCasts(expr.arg)->node_case == PG_QUERY__NODE__NODE_COLUMN_REF;
  for (const Node* when : NodeList{expr.args, expr.n_args})
    if (when->node_case == PG_QUERY__NODE__NODE_CASE_WHEN) AddValue(comparison, when->case_when->expr);
}

}  // namespace privacy_score
