/*
 * tree.cpp - see tree.hpp.
 */
#include "sqlparse/tree.hpp"

#include <string>

namespace privacy_score {

namespace {

// Whether an option is on (defGetBoolean).
bool IsOn(const PgQuery__DefElem& option) {
  if (option.arg == nullptr) return true;
  if (option.arg->node_case == PG_QUERY__NODE__NODE_INTEGER) return option.arg->integer->ival != 0;
  std::string value(TextOf(option.arg));
  for (char& c : value)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return value != "false" && value != "off";
}

bool IsIntegerConstant(const Node* node) {
  return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_A_CONST && !node->a_const->isnull &&
         node->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL;
}

// Whether one of the WITH queries writes.
bool Writes(const PgQuery__WithClause* with) {
  if (with == nullptr) return false;
  for (const Node* node : NodeList{with->ctes, with->n_ctes})
    if (node->node_case != PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR || node->common_table_expr->ctequery == nullptr ||
        node->common_table_expr->ctequery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
      return true;
  return false;
}

}  // namespace

std::string_view TextOf(const Node* node) {
  if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_STRING) return {};
  return node->string->sval;
}

std::vector<std::string_view> TextsOf(NodeList list) {
  std::vector<std::string_view> texts;
  for (const Node* node : list) texts.push_back(TextOf(node));
  return texts;
}

bool IsStar(const Node* node) { return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_A_STAR; }

bool EndsInStar(const Node* node) {
  if (node == nullptr) return false;
  if (node->node_case == PG_QUERY__NODE__NODE_COLUMN_REF) {
    const PgQuery__ColumnRef& ref = *node->column_ref;
    return ref.n_fields > 0 && IsStar(ref.fields[ref.n_fields - 1]);
  }
  if (node->node_case == PG_QUERY__NODE__NODE_A_INDIRECTION) {
    const PgQuery__AIndirection& indirection = *node->a_indirection;
    return indirection.n_indirection > 0 && IsStar(indirection.indirection[indirection.n_indirection - 1]);
  }
  return false;
}

bool IsNullConstant(const Node* node) {
  return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_A_CONST && node->a_const->isnull;
}

const Node* WithoutCasts(const Node* node) {
  while (node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST && node->type_cast->arg != nullptr)
    node = node->type_cast->arg;
  return node;
}

bool OnlyExplains(const Node& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_EXPLAIN_STMT) return false;
  bool runs = false;
  for (const Node* option : NodeList{node.explain_stmt->options, node.explain_stmt->n_options})
    if (option->node_case == PG_QUERY__NODE__NODE_DEF_ELEM && std::string_view(option->def_elem->defname) == "analyze")
      runs = IsOn(*option->def_elem);
  return !runs;
}

bool IsLimitedToNothing(const Node& statement) {
  const Node* node = &statement;
  while (node != nullptr && node->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) {
    if (node->node_case == PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT)
      node = node->create_table_as_stmt->query;
    else if (node->node_case == PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT)
      node = node->declare_cursor_stmt->query;
    else if (node->node_case == PG_QUERY__NODE__NODE_PREPARE_STMT)
      node = node->prepare_stmt->query;
    else if (node->node_case == PG_QUERY__NODE__NODE_COPY_STMT)
      node = node->copy_stmt->query;
    else
      return false;
  }
  if (node == nullptr) return false;
  const PgQuery__SelectStmt& select = *node->select_stmt;
  return IsIntegerConstant(select.limit_count) && select.limit_count->a_const->ival->ival == 0 &&
         (select.limit_offset == nullptr || IsIntegerConstant(select.limit_offset)) &&
         select.limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_COUNT && select.n_locking_clause == 0 &&
         !Writes(select.with_clause);
}

}  // namespace privacy_score
