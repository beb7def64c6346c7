/*
 * parser_versions.cpp - see parser_versions.hpp.
 */
#include "sqlparse/parser_versions.hpp"

#include <pg_query.h>

#include "sqlparse/analyse.hpp"

namespace privacy_score {

const int kGrammarVersion = PG_VERSION_NUM;

namespace {

// The descriptors are data that unpacking has left in each message; nothing of protobuf-c is called.
void CollectNodes(const ProtobufCMessage& message, const void* of_node, std::vector<Node*>* nodes) {
  const char* bytes = reinterpret_cast<const char*>(&message);
  for (unsigned i = 0; i < message.descriptor->n_fields; ++i) {
    const ProtobufCFieldDescriptor& field = message.descriptor->fields[i];
    if (field.type != PROTOBUF_C_TYPE_MESSAGE) continue;
    const bool is_choice = (field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    if (is_choice && *reinterpret_cast<const uint32_t*>(bytes + field.quantifier_offset) != field.id) continue;
    std::size_t count = 1;
    auto* members = reinterpret_cast<ProtobufCMessage* const*>(bytes + field.offset);
    if (field.label == PROTOBUF_C_LABEL_REPEATED) {
      count = *reinterpret_cast<const std::size_t*>(bytes + field.quantifier_offset);
      members = *reinterpret_cast<ProtobufCMessage* const* const*>(bytes + field.offset);
    }
    for (std::size_t k = 0; k < count; ++k) {
      if (members[k] == nullptr) continue;
      if (field.descriptor == of_node)
        nodes->push_back(reinterpret_cast<Node*>(members[k]));
      else
        CollectNodes(*members[k], of_node, nodes);
    }
  }
}

template <typename Statement>
ReturningList Returned(const Statement& statement) {
#if PG_VERSION_NUM >= 180000
  if (statement.returning_clause == nullptr) return {};
  const PgQuery__ReturningClause& clause = *statement.returning_clause;
  ReturningList returning = {{clause.exprs, clause.n_exprs}, "old", "new"};
  for (const Node* node : NodeList{clause.options, clause.n_options}) {
    if (node->node_case != PG_QUERY__NODE__NODE_RETURNING_OPTION) continue;
    const PgQuery__ReturningOption& option = *node->returning_option;
    const bool is_old = option.option == PG_QUERY__RETURNING_OPTION_KIND__RETURNING_OPTION_OLD;
    (is_old ? returning.before : returning.after) = option.value;
  }
  return returning;
#else
  return {{statement.returning_list, statement.n_returning_list}, {}, {}};
#endif
}

#if PG_VERSION_NUM >= 170000
void CollectJsonColumns(NodeList list, std::vector<std::string_view>* columns) {
  for (const Node* node : list) {
    if (node->node_case != PG_QUERY__NODE__NODE_JSON_TABLE_COLUMN) continue;
    const PgQuery__JsonTableColumn& column = *node->json_table_column;
    if (column.coltype == PG_QUERY__JSON_TABLE_COLUMN_TYPE__JTC_NESTED)
      CollectJsonColumns({column.columns, column.n_columns}, columns);
    else
      columns->push_back(column.name);
  }
}
#endif

}  // namespace

std::vector<Node*> ChildNodes(const Node& node) {
  std::vector<Node*> nodes;
  CollectNodes(node.base, node.base.descriptor, &nodes);
  return nodes;
}

ReturningList ReturningOf(const PgQuery__InsertStmt& statement) { return Returned(statement); }
ReturningList ReturningOf(const PgQuery__UpdateStmt& statement) { return Returned(statement); }
ReturningList ReturningOf(const PgQuery__DeleteStmt& statement) { return Returned(statement); }

ReturningList ReturningOf(const PgQuery__MergeStmt& statement) {
#if PG_VERSION_NUM >= 170000
  return Returned(statement);
#else
  (void)statement;
  return {};
#endif
}

MergeMatch MatchOf(const PgQuery__MergeWhenClause& clause) {
#if PG_VERSION_NUM >= 170000
  switch (clause.match_kind) {
    case PG_QUERY__MERGE_MATCH_KIND__MERGE_WHEN_NOT_MATCHED_BY_SOURCE:
      return MergeMatch::kTarget;
    case PG_QUERY__MERGE_MATCH_KIND__MERGE_WHEN_NOT_MATCHED_BY_TARGET:
      return MergeMatch::kSource;
    default:
      return MergeMatch::kBoth;
  }
#else
  return clause.matched ? MergeMatch::kBoth : MergeMatch::kSource;
#endif
}

bool IsJsonTable(const Node& node, const PgQuery__Alias** alias, std::vector<std::string_view>* columns) {
#if PG_VERSION_NUM >= 170000
  if (node.node_case != PG_QUERY__NODE__NODE_JSON_TABLE) return false;
  *alias = node.json_table->alias;
  CollectJsonColumns({node.json_table->columns, node.json_table->n_columns}, columns);
  return true;
#else
  (void)node;
  (void)alias;
  (void)columns;
  return false;
#endif
}

}  // namespace privacy_score
