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

bool OnlyExplains(const Node& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_EXPLAIN_STMT) return false;
  bool runs = false;
  for (const Node* option : NodeList{node.explain_stmt->options, node.explain_stmt->n_options})
    if (option->node_case == PG_QUERY__NODE__NODE_DEF_ELEM && std::string_view(option->def_elem->defname) == "analyze")
      runs = IsOn(*option->def_elem);
  return !runs;
}

}  // namespace privacy_score
