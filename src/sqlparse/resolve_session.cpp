/*
 * resolve_session.cpp - which temporary tables a statement makes and drops (session_tables.hpp).
 */
#include "core/base/names.hpp"
#include "core/statement/flow.hpp"
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

constexpr unsigned kLikeIndexes = 1U << 6U;  // CREATE_TABLE_LIKE_INDEXES

bool IsTemporary(const PgQuery__RangeVar& table) {
  return std::string_view(table.relpersistence) == "t" || std::string_view(table.schemaname) == "pg_temp";
}

// Whether a name may be one of a temporary table: it has no schema, or that.
bool MayBeTemporary(std::string_view schema) { return schema.empty() || schema == "pg_temp"; }

CatalogRelation NewSessionTable(std::string_view name) {
  CatalogRelation table;
  table.canonical = "pg_temp." + QuoteName(name);
  table.own = true;
  return table;
}

void AddColumn(CatalogRelation* table, std::string_view name) {
  table->columns.push_back(QuoteName(name));
  table->raw_names.emplace_back(name);
}

// Adds a primary key or unique constraint of these columns.
void AddKey(CatalogRelation* table, const PgQuery__Constraint& constraint,
            const std::vector<std::string_view>& columns) {
  if (constraint.contype != PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY &&
      constraint.contype != PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE)
    return;
  if (constraint.deferrable) return;
  std::vector<int> key;
  for (const std::string_view column : columns)
    for (std::size_t i = 0; i < table->raw_names.size(); ++i)
      if (table->raw_names[i] == column) key.push_back(static_cast<int>(i));
  if (!key.empty() && key.size() == columns.size()) table->keys.push_back(std::move(key));
}

// What SELECT INTO names; null for other queries. Of a set operation the first arm has it.
const PgQuery__IntoClause* IntoOf(const PgQuery__SelectStmt& select) {
  const PgQuery__SelectStmt* first = &select;
  while (first->larg != nullptr) first = first->larg;
  return first->into_clause;
}

}  // namespace

// CREATE TEMP TABLE with its columns. Of one that takes columns from a type or a parent nothing is known.
void Resolver::NoteCreated(const PgQuery__CreateStmt& create) {
  if (create.relation == nullptr || !IsTemporary(*create.relation)) return;
  const bool is_known = create.n_inh_relations == 0 && create.of_typename == nullptr && create.partbound == nullptr;
  CatalogRelation table = NewSessionTable(create.relation->relname);
  const NodeList elements = {create.table_elts, create.n_table_elts};
  for (const Node* element : elements) {
    if (element->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF) AddColumn(&table, element->column_def->colname);
    if (element->node_case != PG_QUERY__NODE__NODE_TABLE_LIKE_CLAUSE) continue;
    const CatalogRelation* like = FindRelation(*element->table_like_clause->relation);
    if (like == nullptr) return;
    const int first = static_cast<int>(table.columns.size());
    for (const std::string& name : like->raw_names) AddColumn(&table, name);
    if ((element->table_like_clause->options & kLikeIndexes) == 0) continue;
    for (std::vector<int> key : like->keys) {
      for (int& column : key) column += first;
      table.keys.push_back(std::move(key));
    }
  }
  for (const Node* element : elements) {
    if (element->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
      AddKey(&table, *element->constraint, TextsOf({element->constraint->keys, element->constraint->n_keys}));
    if (element->node_case != PG_QUERY__NODE__NODE_COLUMN_DEF) continue;
    for (const Node* node : NodeList{element->column_def->constraints, element->column_def->n_constraints})
      if (node->node_case == PG_QUERY__NODE__NODE_CONSTRAINT)
        AddKey(&table, *node->constraint, {element->column_def->colname});
  }
  if (is_known)
    session_->Add(create.relation->relname, std::move(table));
  else
    session_->Remove(create.relation->relname);
}

// CREATE TEMP TABLE AS and SELECT INTO TEMP: the columns are those of the query, of which the protected ones are known.
void Resolver::NoteFilled(const PgQuery__IntoClause* into, const Statement& statement) {
  if (into == nullptr || into->rel == nullptr || !IsTemporary(*into->rel)) return;
  CatalogRelation table = NewSessionTable(into->rel->relname);
  for (const std::string_view name : top_.names) AddColumn(&table, name);
  const std::vector<std::string_view> names = TextsOf({into->col_names, into->n_col_names});
  for (std::size_t i = 0; i < names.size() && i < table.columns.size(); ++i) {
    table.columns[i] = QuoteName(names[i]);
    table.raw_names[i] = names[i];
  }
  const auto outputs = FollowOutputs(statement);
  if (top_.open || outputs.empty() || outputs.size() != table.columns.size()) {
    session_->Remove(into->rel->relname);
    return;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (const BaseColumn& base : outputs[i])
      if (protected_.count(base.relation->name) > 0)
        table.origins.push_back({static_cast<int>(i), std::string(base.relation->name),
                                 std::string(base.relation->columns.At(base.column)->name), false});
  session_->Add(into->rel->relname, std::move(table));
}

void Resolver::NoteDropped(const PgQuery__DropStmt& drop) {
  if (drop.remove_type != PG_QUERY__OBJECT_TYPE__OBJECT_TABLE) return;
  for (const Node* object : NodeList{drop.objects, drop.n_objects}) {
    if (object->node_case != PG_QUERY__NODE__NODE_LIST) continue;
    const std::vector<std::string_view> parts = TextsOf({object->list->items, object->list->n_items});
    if (!parts.empty() && (parts.size() == 1 || parts[parts.size() - 2] == "pg_temp")) session_->Remove(parts.back());
  }
}

// Takes in what a statement of the session does to its temporary tables. One whose columns change is forgotten.
void Resolver::NoteSession(const Node& raw, const Statement& statement) {
  if (OnlyExplains(raw)) return;
  const Node* node = raw.node_case == PG_QUERY__NODE__NODE_EXPLAIN_STMT ? raw.explain_stmt->query : &raw;
  if (node == nullptr) return;
  const auto forget = [this](const PgQuery__RangeVar* table) {
    if (table != nullptr && MayBeTemporary(table->schemaname)) session_->Remove(table->relname);
  };
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_CREATE_STMT:
      NoteCreated(*node->create_stmt);
      break;
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
      NoteFilled(node->create_table_as_stmt->into, statement);
      break;
    case PG_QUERY__NODE__NODE_SELECT_STMT:
      NoteFilled(IntoOf(*node->select_stmt), statement);
      break;
    case PG_QUERY__NODE__NODE_DROP_STMT:
      NoteDropped(*node->drop_stmt);
      break;
    case PG_QUERY__NODE__NODE_DISCARD_STMT:
      if (node->discard_stmt->target == PG_QUERY__DISCARD_MODE__DISCARD_ALL ||
          node->discard_stmt->target == PG_QUERY__DISCARD_MODE__DISCARD_TEMP)
        session_->Clear();
      break;
    case PG_QUERY__NODE__NODE_ALTER_TABLE_STMT:
      forget(node->alter_table_stmt->relation);
      break;
    case PG_QUERY__NODE__NODE_RENAME_STMT:
      forget(node->rename_stmt->relation);
      break;
    default:
      break;
  }
}

}  // namespace privacy_score
