/*
 * tree.cpp - see tree.hpp.
 */
#include "sqlparse/tree.hpp"

namespace privacy_score {

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

}  // namespace privacy_score
