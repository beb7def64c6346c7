/*
 * resolve_expr.cpp - expressions. Most kinds only pass on what their arguments read.
 */
#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/base/array_text.hpp"
#include "core/base/keyed_hash.hpp"
#include "core/statement/abstraction.hpp"
#include "core/statement/scope.hpp"
#include "sqlparse/parser_versions.hpp"
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

bool IsRow(const Node* node) { return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_ROW_EXPR; }

// Whether some arguments decide which others are evaluated; those of BETWEEN are compared one after the other.
bool Chooses(const Node& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
    case PG_QUERY__NODE__NODE_CASE_EXPR:
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
      return true;
    default:
      return node.node_case == PG_QUERY__NODE__NODE_A_EXPR &&
             (IsRow(node.a_expr->lexpr) || (node.a_expr->kind >= PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN &&
                                            node.a_expr->kind <= PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM));
  }
}

NodeList RowOf(const Node* node) { return {node->row_expr->args, node->row_expr->n_args}; }

bool IsOrder(std::string_view name) { return name == "<" || name == "<=" || name == ">" || name == ">="; }

bool IsDate(const PgQuery__TypeName* type) {
  return type != nullptr && type->n_names > 0 && type->n_array_bounds == 0 &&
         TextOf(type->names[type->n_names - 1]) == "date";
}

// The number that a literal is, or a hash of its text.
void ReadLiteral(const PgQuery__AConst& literal, Limit* limit) {
  std::string_view text;
  limit->kind = Limit::kNumber;
  switch (literal.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
      limit->number = literal.ival->ival;
      return;
    case PG_QUERY__A__CONST__VAL_FVAL:
      text = literal.fval->fval;
      break;
    case PG_QUERY__A__CONST__VAL_SVAL:
      text = literal.sval->sval;
      break;
    default:
      limit->kind = Limit::kUnknown;
      return;
  }
  char* end = nullptr;
  limit->number = std::strtod(text.data(), &end);
  if (!text.empty() && end == text.data() + text.size()) return;
  limit->kind = Limit::kText;
  limit->hash = NameHash(text);
}

// The names and numbers that a literal, a list or an ARRAY of literals are; false when something else is among them. A
// cast to text or name leaves a name what it is, unless it is longer than a name can be; what is cast to regclass has a
// = put before it.
bool LiteralsOf(const Node* node, std::vector<std::string>* literals) {
  constexpr std::size_t kLongestName = 63;
  if (node == nullptr) return false;
  NodeList list = {nullptr, 0};
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_LIST:
      list = {node->list->items, node->list->n_items};
      break;
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
      list = {node->a_array_expr->elements, node->a_array_expr->n_elements};
      break;
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
      const PgQuery__TypeName* type = node->type_cast->type_name;
      if (type == nullptr || type->n_names == 0 || type->n_array_bounds > 0) return false;
      const std::string_view name = TextOf(type->names[type->n_names - 1]);
      const std::size_t before = literals->size();
      if (name == "regclass") {
        if (!LiteralsOf(node->type_cast->arg, literals) || literals->size() != before + 1) return false;
        literals->back().insert(0, 1, '=');
        return true;
      }
      return (name == "text" || name == "name") && LiteralsOf(node->type_cast->arg, literals);
    }
    case PG_QUERY__NODE__NODE_A_CONST:
      if (node->a_const->isnull) return false;
      if (node->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL) {
        literals->push_back(std::to_string(node->a_const->ival->ival));
        return true;
      }
      if (node->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL) return false;
      literals->emplace_back(node->a_const->sval->sval);
      return literals->back().size() <= kLongestName;
    default:
      return false;
  }
  for (const Node* element : list)
    if (!LiteralsOf(element, literals)) return false;
  return list.size > 0;
}

bool ArrayOf(const Node* node, std::vector<std::string>* elements) {
  elements->clear();
  return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_A_ARRAY_EXPR && LiteralsOf(node, elements);
}

// The elements of the text of an array: '{a, b}'. False where it has quotes, arrays within, or NULL.
bool ElementsOf(const Node* node, std::vector<std::string>* elements) {
  if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_A_CONST || node->a_const->isnull ||
      node->a_const->val_case != PG_QUERY__A__CONST__VAL_SVAL)
    return false;
  std::optional<ArrayElements> read = ReadArrayText(node->a_const->sval->sval);
  if (!read || read->values.empty() || read->quoted || read->nested) return false;
  for (std::optional<std::string>& value : read->values) {
    if (!value) return false;
    elements->push_back(std::move(*value));
  }
  return true;
}

// Whether an operator may be the server's own: it has no schema, or pg_catalog.
bool IsUnqualified(const PgQuery__AExpr& expr) {
  return expr.n_name == 1 || (expr.n_name == 2 && TextOf(expr.name[0]) == "pg_catalog");
}

bool IsEqualSign(const PgQuery__AExpr& expr) { return expr.n_name > 0 && TextOf(expr.name[expr.n_name - 1]) == "="; }

// x LIKE pattern, x ~ pattern and the like.
Pins PinsOfPattern(const PgQuery__AExpr& expr, std::string_view name, const Expr& operand) {
  if (expr.rexpr == nullptr) return Pins::kNothing;
  const Node* pattern = WithoutCasts(expr.rexpr);
  const bool literal =
      pattern->node_case == PG_QUERY__NODE__NODE_A_CONST && pattern->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL;
  return PinsOfPattern(name, operand.kind == ExprKind::kColumn, literal ? Pattern::kLiteral : Pattern::kUnknown,
                       literal ? std::string_view(pattern->a_const->sval->sval) : std::string_view());
}

// What a comparison other than = compares with the same for all rows.
Pins PinsOf(const PgQuery__AExpr& expr, const Expr& operand) {
  const std::string_view name = expr.n_name > 0 ? TextOf(expr.name[expr.n_name - 1]) : std::string_view();
  switch (expr.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL:
      // x < ALL (array) bounds it by one of many.
      if (name == "=" || IsOrder(name)) return Pins::kColumn;
      break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
      break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
      return Pins::kKey;
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR:
      return PinsOfPattern(expr, name, operand);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
      return Pins::kColumn;
    default:
      return Pins::kNothing;
  }
  if (name == "<>" || name == "<@" || name == "@>" || name == "&&") return Pins::kKey;
  return expr.kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP ? PinsOfPattern(expr, name, operand) : Pins::kNothing;
}

}  // namespace

Expr* Resolver::ColumnAt(int range, int column, int levels_up) {
  Expr* expr = NewExpr(ExprKind::kColumn);
  expr->range = range;
  expr->column = column;
  expr->levels_up = levels_up;
  return expr;
}

// An expression of which only the arguments matter; constants among them are dropped.
Expr* Resolver::Other(const std::vector<Expr*>& args) {
  Expr* other = nullptr;
  bool varies = false;
  for (Expr* arg : args) {
    if (arg == nullptr) continue;
    varies = varies || arg->varies;
    if (arg->kind == ExprKind::kConstant) continue;
    if (other == nullptr) other = NewExpr(ExprKind::kOther);
    other->args.Add(arg);
  }
  if (other == nullptr) other = NewExpr(ExprKind::kConstant);
  other->varies = varies;
  return other;
}

Expr* Resolver::OtherOf(Level* level, std::initializer_list<const Node*> nodes) {
  std::vector<Expr*> args;
  for (const Node* node : nodes)
    if (node != nullptr) args.push_back(Expression(level, node));
  return Other(args);
}

Expr* Resolver::OtherOf(Level* level, NodeList nodes) {
  std::vector<Expr*> args;
  for (const Node* node : nodes)
    if (node->node_case != PG_QUERY__NODE__NODE_A_CONST)  // long lists of constants take no memory
      args.push_back(Expression(level, node));
  return Other(args);
}

Expr* Resolver::Equality(Expr* left, Expr* right) {
  Expr* equality = NewExpr(ExprKind::kEquality);
  equality->args.Add(left);
  equality->args.Add(right);
  return equality;
}

Expr* Resolver::Clone(const Expr* expr, int levels_up) {
  RequireStack();
  Expr* copy = NewExpr(expr->kind);
  *copy = *expr;
  copy->next = nullptr;
  if (copy->kind == ExprKind::kColumn || copy->kind == ExprKind::kWholeRow) copy->levels_up += levels_up;
  for (ArenaList<Expr> Expr::*list : {&Expr::args, &Expr::order, &Expr::filter}) {
    copy->*list = ArenaList<Expr>();
    for (const Expr* arg : expr->*list) (copy->*list).Add(Clone(arg, levels_up));
  }
  return copy;
}

Expr* Resolver::Expression(Level* level, const Node* node) {
  if (node == nullptr) return NewExpr(ExprKind::kConstant);
  RequireStack();
  const int told = told_calls_;
  Expr* expr = Plain(level, node);
  if (!Chooses(*node) || (expr->kind != ExprKind::kOther && expr->kind != ExprKind::kAnd)) return expr;
  expr->chooses = level->query->chooses = true;
  expr->runs_told = told_calls_ != told;
  return expr;
}

Expr* Resolver::Plain(Level* level, const Node* node) {
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
      return ColumnReference(level, *node->column_ref);
    case PG_QUERY__NODE__NODE_A_EXPR:
      return Operator(level, *node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
      return Boolean(level, *node->bool_expr);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
      return Call(level, *node->func_call);
    case PG_QUERY__NODE__NODE_SUB_LINK:
      return SubLink(level, *node->sub_link);
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
      return Indirection(level, *node->a_indirection);
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
      Expr* cast = OtherOf(level, {node->type_cast->arg});
      cast->cast = cast->kind == ExprKind::kOther;
      if (cast->cast && IsDate(node->type_cast->type_name)) cast->time_part = TimePart::kAny;
      return cast;
    }
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
      return OtherOf(level, {node->collate_clause->arg});
    case PG_QUERY__NODE__NODE_NULL_TEST: {
      Expr* test = OtherOf(level, {node->null_test->arg});
      test->null_test = true;
      return test;
    }
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
      return OtherOf(level, {node->boolean_test->arg});
    case PG_QUERY__NODE__NODE_NAMED_ARG_EXPR:
      return Expression(level, node->named_arg_expr->arg);
    case PG_QUERY__NODE__NODE_RES_TARGET:
      return Expression(level, node->res_target->val);
    case PG_QUERY__NODE__NODE_XML_EXPR:
      return Xml(level, *node->xml_expr);
    case PG_QUERY__NODE__NODE_XML_SERIALIZE:
      return OtherOf(level, {node->xml_serialize->expr});
    case PG_QUERY__NODE__NODE_SORT_BY:
      return Expression(level, node->sort_by->node);
    case PG_QUERY__NODE__NODE_A_INDICES:
      return OtherOf(level, {node->a_indices->lidx, node->a_indices->uidx});
    case PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF:
      return Expression(level, node->multi_assign_ref->source);
    case PG_QUERY__NODE__NODE_ROW_EXPR:
      return OtherOf(level, RowOf(node));
    case PG_QUERY__NODE__NODE_LIST:
      return OtherOf(level, {node->list->items, node->list->n_items});
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
      return OtherOf(level, {node->a_array_expr->elements, node->a_array_expr->n_elements});
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
      return OtherOf(level, {node->coalesce_expr->args, node->coalesce_expr->n_args});
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
      return OtherOf(level, {node->min_max_expr->args, node->min_max_expr->n_args});
    case PG_QUERY__NODE__NODE_CASE_EXPR:
      return Case(level, *node->case_expr);
    case PG_QUERY__NODE__NODE_CASE_WHEN:
      return OtherOf(level, {node->case_when->expr, node->case_when->result});
    case PG_QUERY__NODE__NODE_A_CONST:
    case PG_QUERY__NODE__NODE_PARAM_REF:
    case PG_QUERY__NODE__NODE_STRING:
    case PG_QUERY__NODE__NODE_INTEGER:
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT:
    case PG_QUERY__NODE__NODE_CURRENT_OF_EXPR:
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
      return NewExpr(ExprKind::kConstant);
    default: {  // kinds that the grammar of a later version brings, such as JSON_VALUE
      const std::vector<Node*> children = ChildNodes(*node);
      return OtherOf(level, {children.data(), children.size()});
    }
  }
}

// CASE x WHEN 5 compares x with 5.
Expr* Resolver::Case(Level* level, const PgQuery__CaseExpr& expr) {
  std::vector<Expr*> args = {OtherOf(level, {expr.arg})};
  args[0]->pins = Pins::kColumn;
  for (const Node* when : NodeList{expr.args, expr.n_args}) args.push_back(Expression(level, when));
  AddCaseValues(args[0], expr);
  args.push_back(Expression(level, expr.defresult));
  return Other(args);
}

void Resolver::NoteLiterals(const Expr* comparison, const Node* left, const Node* right) {
  if (!described_.wanted()) return;
  std::vector<std::string> literals;
  const auto found = [&](const Node* side) {
    literals.clear();
    return LiteralsOf(side, &literals);
  };
  if (found(right) || found(left)) described_.NoteLiterals(comparison, std::move(literals));
}

void Resolver::Pin(Expr* comparison, Pins pins, const Expr* left, const Expr* right) {
  if (comparison->kind == ExprKind::kOther && ReadsRow(*left) != ReadsRow(*right)) comparison->pins = pins;
}

// left < right and the like: bounds the side that reads a row.
Expr* Resolver::Limited(Level* level, std::string_view name, const Node* left, const Node* right) {
  Expr* left_side = Expression(level, left);
  Expr* comparison = Other({left_side, Expression(level, right)});
  if (comparison->kind != ExprKind::kOther) return comparison;
  const bool turned = !ReadsRow(*left_side);
  const Node* end = WithoutCasts(turned ? left : right);
  auto* limit = arena_.New<privacy_score::Limit>();
  limit->lower = (name[0] == '>') != turned;
  limit->strict = name.size() == 1;
  if (end->node_case == PG_QUERY__NODE__NODE_PARAM_REF) {
    limit->kind = privacy_score::Limit::kParameter;
    limit->parameter = end->param_ref->number;
  } else if (end->node_case == PG_QUERY__NODE__NODE_A_CONST && !end->a_const->isnull) {
    ReadLiteral(*end->a_const, limit);
  }
  comparison->limit = limit;
  return comparison;
}

// x BETWEEN a AND b: the two comparisons that it is.
Expr* Resolver::Between(Level* level, const PgQuery__AExpr& expr) {
  const bool is_pair = expr.rexpr != nullptr && expr.rexpr->node_case == PG_QUERY__NODE__NODE_LIST &&
                       expr.rexpr->list->n_items == 2 && expr.lexpr != nullptr;
  if (!is_pair) return OtherOf(level, {expr.lexpr, expr.rexpr});
  Expr* lower = Limited(level, ">=", expr.lexpr, expr.rexpr->list->items[0]);
  return Other({lower, Limited(level, "<=", expr.lexpr, expr.rexpr->list->items[1])});
}

Expr* Resolver::Operator(Level* level, const PgQuery__AExpr& expr) {
  switch (expr.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
      return InList(level, expr);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
      return Between(level, expr);
    default:
      break;
  }
  const bool equal = expr.kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP && IsEqualSign(expr);
  if (!equal || expr.lexpr == nullptr || expr.rexpr == nullptr) {
    const std::string_view name = expr.n_name > 0 ? TextOf(expr.name[expr.n_name - 1]) : std::string_view();
    const bool is_operator = expr.kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP;
    if (is_operator && expr.lexpr != nullptr && expr.rexpr != nullptr && IsOrder(name))
      return Limited(level, name, expr.lexpr, expr.rexpr);
    Expr* left = Expression(level, expr.lexpr);
    Expr* right = Expression(level, expr.rexpr);
    Expr* other = Other({left, right});
    if (other->kind != ExprKind::kOther) return other;
    Pin(other, PinsOf(expr, *left), left, right);
    AddOperatorValues(other, expr);
    std::vector<std::string> elements;
    if (expr.kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY && IsEqualSign(expr) && IsUnqualified(expr) &&
        described_.wanted() && (ElementsOf(expr.rexpr, &elements) || ArrayOf(expr.rexpr, &elements)))
      described_.NoteLiterals(other, std::move(elements));
    other->packs = is_operator && PacksValues(name);
    return other;
  }
  if (!IsRow(expr.lexpr)) {
    Expr* equality = Equality(Operand(level, expr.lexpr), Operand(level, expr.rexpr));
    if (IsUnqualified(expr)) NoteLiterals(equality, expr.lexpr, expr.rexpr);
    return equality;
  }
  if (!IsRow(expr.rexpr)) return OtherOf(level, {expr.lexpr, expr.rexpr});
  const NodeList left = RowOf(expr.lexpr);
  const NodeList right = RowOf(expr.rexpr);
  if (left.size != right.size) return OtherOf(level, {expr.lexpr, expr.rexpr});
  Expr* all = NewExpr(ExprKind::kAnd);
  for (std::size_t i = 0; i < left.size; ++i)
    all->args.Add(Equality(Operand(level, left[i]), Operand(level, right[i])));
  return left.size == 1 ? all->args.first : all;
}

// x IN (list). As in the server a list of one is x = element, since its analysed form is.
Expr* Resolver::InList(Level* level, const PgQuery__AExpr& expr) {
  const bool is_list = expr.rexpr != nullptr && expr.rexpr->node_case == PG_QUERY__NODE__NODE_LIST;
  const NodeList list = is_list ? NodeList{expr.rexpr->list->items, expr.rexpr->list->n_items} : NodeList{nullptr, 0};
  if (list.size != 1 || !IsEqualSign(expr)) {
    Expr* left = Expression(level, expr.lexpr);
    Expr* right = Expression(level, expr.rexpr);
    Expr* other = Other({left, right});
    Pin(other, IsEqualSign(expr) ? Pins::kColumn : Pins::kKey, left, right);
    AddListValues(other, left, expr.lexpr, list);
    if (IsEqualSign(expr)) NoteLiterals(other, expr.lexpr, expr.rexpr);
    return other;
  }
  if (!IsRow(expr.lexpr) || !IsRow(list[0])) {
    Expr* equality = Equality(Operand(level, expr.lexpr), Operand(level, list[0]));
    NoteLiterals(equality, expr.lexpr, list[0]);
    return equality;
  }
  PgQuery__AExpr rows = expr;
  rows.kind = PG_QUERY__A__EXPR__KIND__AEXPR_OP;
  rows.rexpr = list[0];
  return Operator(level, rows);
}

Expr* Resolver::Boolean(Level* level, const PgQuery__BoolExpr& expr) {
  const NodeList args = {expr.args, expr.n_args};
  if (expr.boolop != PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR) {
    Expr* other = OtherOf(level, args);
    // What is not unlike it is it.
    if (expr.boolop == PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR && !other->args.empty() &&
        other->args.first->pins == Pins::kKey)
      other->args.first->pins = Pins::kColumn;
    return other;
  }
  Expr* all = NewExpr(ExprKind::kAnd);
  for (const Node* arg : args) {
    Expr* conjunct = Expression(level, arg);
    if (conjunct->kind != ExprKind::kConstant) all->args.Add(conjunct);
  }
  return all;
}

Expr* Resolver::SubLink(Level* level, const PgQuery__SubLink& link) {
  Expr* expr = NewExpr(ExprKind::kSubquery);
  if (IsRow(link.testexpr)) {
    for (const Node* node : RowOf(link.testexpr)) expr->args.Add(Expression(level, node));
  } else if (link.testexpr != nullptr) {
    expr->args.Add(Expression(level, link.testexpr));
  }
  switch (link.sub_link_type) {
    case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK:
      expr->use = SubqueryUse::kExists;
      break;
    case PG_QUERY__SUB_LINK_TYPE__ALL_SUBLINK:
    case PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK:
      expr->use = SubqueryUse::kMember;
      break;
    default:
      expr->use = SubqueryUse::kValue;
  }
  expr->subquery = Any(level, link.subselect, nullptr).query;
  return expr;
}

// (row).field, array[index], also mixed.
Expr* Resolver::Xml(Level* level, const PgQuery__XmlExpr& xml) {
  return Other({OtherOf(level, {xml.named_args, xml.n_named_args}), OtherOf(level, {xml.args, xml.n_args})});
}

}  // namespace privacy_score
