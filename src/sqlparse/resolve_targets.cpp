/*
 * resolve_targets.cpp - select lists: stars and output names (parse_target.c).
 */
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

std::string_view LastText(NodeList list) {
  for (std::size_t i = list.size; i > 0; --i)
    if (!TextOf(list[i - 1]).empty()) return TextOf(list[i - 1]);
  return {};
}

std::string_view ValueFunctionName(PgQuery__SQLValueFunctionOp op) {
  switch (op) {
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE:
      return "current_date";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME_N:
      return "current_time";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP_N:
      return "current_timestamp";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME_N:
      return "localtime";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N:
      return "localtimestamp";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE:
      return "current_role";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_USER:
      return "current_user";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_USER:
      return "user";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_SESSION_USER:
      return "session_user";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG:
      return "current_catalog";
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_SCHEMA:
      return "current_schema";
    default:
      return {};
  }
}

std::string_view XmlName(PgQuery__XmlExprOp op) {
  switch (op) {
    case PG_QUERY__XML_EXPR_OP__IS_XMLCONCAT:
      return "xmlconcat";
    case PG_QUERY__XML_EXPR_OP__IS_XMLELEMENT:
      return "xmlelement";
    case PG_QUERY__XML_EXPR_OP__IS_XMLFOREST:
      return "xmlforest";
    case PG_QUERY__XML_EXPR_OP__IS_XMLPARSE:
      return "xmlparse";
    case PG_QUERY__XML_EXPR_OP__IS_XMLPI:
      return "xmlpi";
    case PG_QUERY__XML_EXPR_OP__IS_XMLROOT:
      return "xmlroot";
    default:
      return {};
  }
}

// The first entry of the select list of a subquery in an expression.
const PgQuery__ResTarget* FirstTarget(const Node* node) {
  if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) return nullptr;
  const PgQuery__SelectStmt* select = node->select_stmt;
  while (select->larg != nullptr) select = select->larg;
  if (select->n_target_list == 0 || select->target_list[0]->node_case != PG_QUERY__NODE__NODE_RES_TARGET)
    return nullptr;
  return select->target_list[0]->res_target;
}

}  // namespace

// The name the server gives an unnamed output (FigureColnameInternal), with how good a name it is: 0 none, 1 may be
// outdone by a name further out, 2 good.
std::string_view Resolver::OutputName(const Node* node, int* strength) {
  *strength = 2;
  if (node == nullptr) {
    *strength = 0;
    return "?column?";
  }
  RequireStack();
  std::string_view name;
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
      name = LastText({node->column_ref->fields, node->column_ref->n_fields});
      break;
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
      name = LastText({node->a_indirection->indirection, node->a_indirection->n_indirection});
      if (name.empty()) return OutputName(node->a_indirection->arg, strength);
      break;
    case PG_QUERY__NODE__NODE_FUNC_CALL:
      name = LastText({node->func_call->funcname, node->func_call->n_funcname});
      break;
    case PG_QUERY__NODE__NODE_A_EXPR:
      if (node->a_expr->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF) name = "nullif";
      break;
    case PG_QUERY__NODE__NODE_TYPE_CAST: {
      name = OutputName(node->type_cast->arg, strength);
      const PgQuery__TypeName* type = node->type_cast->type_name;
      if (*strength > 1 || type == nullptr) return name;
      *strength = 1;
      return LastText({type->names, type->n_names});
    }
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
      return OutputName(node->collate_clause->arg, strength);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
      name = OutputName(node->case_expr->defresult, strength);
      if (*strength > 1) return name;
      *strength = 1;
      return "case";
    case PG_QUERY__NODE__NODE_SUB_LINK:
      if (node->sub_link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK) return "exists";
      if (node->sub_link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK) return "array";
      if (const PgQuery__ResTarget* first = FirstTarget(node->sub_link->subselect)) {
        name = first->name;
        if (name.empty()) name = OutputName(first->val, strength);
        *strength = 2;
      }
      break;
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
      return "grouping";
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
      return "array";
    case PG_QUERY__NODE__NODE_ROW_EXPR:
      return "row";
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
      return "coalesce";
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
      return node->min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_LEAST ? "least" : "greatest";
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
      name = ValueFunctionName(node->sqlvalue_function->op);
      break;
    case PG_QUERY__NODE__NODE_XML_EXPR:
      name = XmlName(node->xml_expr->op);
      break;
    case PG_QUERY__NODE__NODE_XML_SERIALIZE:
      return "xmlserialize";
    default:
      break;
  }
  if (!name.empty()) return name;
  *strength = 0;
  return "?column?";
}

// A select list or RETURNING list with its stars expanded; `result` learns of stars that cannot be.
std::vector<Target> Resolver::TargetList(Level* level, NodeList list, Result* result) {
  std::vector<Target> targets;
  for (const Node* node : list) {
    if (node->node_case != PG_QUERY__NODE__NODE_RES_TARGET) continue;
    const PgQuery__ResTarget& target = *node->res_target;
    if (EndsInStar(target.val)) {
      ExpandStar(level, target.val, &targets, result);
      continue;
    }
    Expr* expr = level->parent == nullptr ? Expression(level, target.val) : Operand(level, target.val);
    int strength = 0;
    const std::string_view name =
        *target.name != '\0' ? std::string_view(target.name) : OutputName(target.val, &strength);
    targets.push_back({name, expr});
  }
  return targets;
}

// *, table.*, schema.table.*, (row).*
void Resolver::ExpandStar(Level* level, const Node* node, std::vector<Target>* targets, Result* result) {
  int levels_up = 0;
  NamespaceItem* item = nullptr;
  if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
    std::vector<std::string_view> parts = TextsOf({node->column_ref->fields, node->column_ref->n_fields});
    parts.pop_back();
    if (parts.empty()) {
      const std::vector<NamespaceItem*> names = level->names;  // strays may be added
      for (NamespaceItem* each : names)
        if (each->columns_visible && !each->lateral_only) ExpandItem(level, level, each, targets, result);
      return;
    }
    const std::size_t size = parts.size();
    item = FindItem(level, size > 1 ? parts[size - 2] : std::string_view(), parts[size - 1], &levels_up);
    if (item == nullptr) return;
  } else {
    Expr* row = Indirection(level, *node->a_indirection);
    if (row->kind == ExprKind::kWholeRow) {
      levels_up = row->levels_up;
      item = ItemOfRange(level, row->range, levels_up);
    }
    if (item == nullptr) {  // of another row: how many columns is not known
      targets->push_back({{}, row});
      result->MarkOpen(nullptr);
      return;
    }
  }
  Level* at = level;
  for (int i = 0; i < levels_up; ++i) at = at->parent;
  ExpandItem(at, level, item, targets, result);
}

// All columns of an item that belongs to level `at`.
void Resolver::ExpandItem(Level* at, Level* level, NamespaceItem* item, std::vector<Target>* targets, Result* result) {
  int levels_up = 0;
  for (const Level* i = level; i != at; i = i->parent) ++levels_up;
  if (item->unresolved != nullptr && item->range >= 0) {
    targets->push_back({{}, WholeRow(item, levels_up)});
    result->MarkOpen(levels_up == 0 ? item : nullptr);
    return;
  }
  for (std::size_t i = 0; i < item->columns.size(); ++i)
    targets->push_back({item->columns[i].name, ColumnOf(*item, static_cast<int>(i), levels_up)});
  if (item->range >= 0) {
    if (!item->open) return;
    if (item->arms.size() > 1) targets->push_back({{}, WholeRow(item, levels_up)});  // arms may differ in what is known
    result->MarkOpen(levels_up == 0 ? item : nullptr);
    return;
  }
  for (NamespaceItem* open : item->open_items) {
    if (open->unresolved != nullptr) targets->push_back({{}, WholeRow(open, levels_up)});
    result->MarkOpen(levels_up == 0 ? open : nullptr);
  }
}

}  // namespace privacy_score
