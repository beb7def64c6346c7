/*
 * resolve_utility.cpp - statements at the top: a query, or a utility statement with a query within.
 */
#include "sqlparse/resolver.hpp"

namespace privacy_score {

// The query that a statement stands for; null for one that has none.
Query* Resolver::Utility(const Node* node) {
  if (node == nullptr) return nullptr;
  RequireStack();
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
      return Utility(node->explain_stmt->query);
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
      return Utility(node->create_table_as_stmt->query);
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
      return Utility(node->declare_cursor_stmt->query);
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
      return Utility(node->prepare_stmt->query);
    case PG_QUERY__NODE__NODE_COPY_STMT:
      return Copy(*node->copy_stmt);
    default:
      top_ = Any(nullptr, node, nullptr);
      return top_.query;
  }
}

// A query of any kind, also as a WITH query; no query for other nodes.
Result Resolver::Any(Level* parent, const Node* node, CteInfo* recursive) {
  if (node == nullptr) return {};
  RequireStack();
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
      return Select(parent, *node->select_stmt, recursive);
    case PG_QUERY__NODE__NODE_INSERT_STMT:
      return Insert(parent, *node->insert_stmt);
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
      return Update(parent, *node->update_stmt);
    case PG_QUERY__NODE__NODE_DELETE_STMT:
      return Delete(parent, *node->delete_stmt);
    case PG_QUERY__NODE__NODE_MERGE_STMT:
      return Merge(parent, *node->merge_stmt);
    default:
      return {};
  }
}

// COPY table TO reads all or the listed columns, COPY table FROM is an INSERT of them.
Query* Resolver::Copy(const PgQuery__CopyStmt& copy) {
  if (copy.query != nullptr) return Utility(copy.query);
  if (copy.relation == nullptr) return nullptr;
  const std::vector<std::string_view> listed = TextsOf({copy.attlist, copy.n_attlist});
  Level level;
  NewQuery(&level, copy.is_from ? Command::kInsert : Command::kCopy);
  if (copy.is_from) {
    NamespaceItem* target = TargetItem(&level, *copy.relation);
    level.names = {target};
    for (const std::string_view name : listed) Assign(&level, TargetColumn(target, name), nullptr);
    if (listed.empty())
      for (std::size_t i = 0; i < target->columns.size(); ++i) Assign(&level, TargetColumnAt(*target, i), nullptr);
    if (copy.where_clause != nullptr) level.query->conditions.Add(Expression(&level, copy.where_clause));
    return level.query;
  }
  NamespaceItem* item = RelationItem(&level, *copy.relation, FindRelation(*copy.relation));
  level.names = {item};
  for (const std::string_view name : listed) {
    Expr* column = ItemField(item, name, 0);
    level.query->outputs.Add(column != nullptr ? column : NewExpr(ExprKind::kConstant));
  }
  if (listed.empty()) level.query->outputs.Add(WholeRow(item, 0));
  return level.query;
}

}  // namespace privacy_score
