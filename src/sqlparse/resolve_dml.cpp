/*
 * resolve_dml.cpp - INSERT, UPDATE, DELETE and MERGE (analyze.c, parse_merge.c). The target is range 0.
 */
#include "sqlparse/parser_versions.hpp"
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

bool IsDefault(const Node* node) { return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_SET_TO_DEFAULT; }

// A VALUES clause alone, which the server takes apart instead of making it a subquery.
bool IsPlainValues(const PgQuery__SelectStmt& select) {
  return select.n_values_lists > 0 && select.n_sort_clause == 0 && select.limit_count == nullptr &&
         select.limit_offset == nullptr && select.n_locking_clause == 0 && select.with_clause == nullptr;
}

// The names of an INSERT column list.
std::vector<std::string_view> ColumnNames(NodeList list) {
  std::vector<std::string_view> names;
  for (const Node* node : list)
    if (node->node_case == PG_QUERY__NODE__NODE_RES_TARGET) names.push_back(node->res_target->name);
  return names;
}

}  // namespace

void Resolver::Assign(Level* level, int column, Expr* value) {
  Assignment* assignment = arena_.New<Assignment>();
  assignment->column = column;
  assignment->value = value;
  level->query->assignments.Add(assignment);
}

// The row before and after is the target's under another name, unless something else in sight has that name.
void Resolver::Returning(Level* level, NamespaceItem* target, const ReturningList& returning, Result* result) {
  for (const std::string_view name : {returning.before, returning.after}) {
    int levels_up = 0;
    if (name.empty() || (FindItem(level, {}, name, &levels_up) != nullptr && levels_up == 0)) continue;
    NamespaceItem* row = NewItem();
    *row = *target;
    row->alias = name;
    row->schema = {};
    row->columns_visible = false;
    row->relation_visible = true;
    level->names.push_back(row);
  }
  for (const Target& output : TargetList(level, returning.list, result)) {
    level->query->outputs.Add(output.expr);
    result->names.push_back(output.name);
  }
  result->query = level->query;
  result->arms = {{level->query, result->open_item, result->open}};
}

Result Resolver::Insert(Level* parent, const PgQuery__InsertStmt& insert) {
  Level level;
  level.parent = parent;
  NewQuery(&level, Command::kInsert);
  With(&level, insert.with_clause);
  NamespaceItem* target = TargetItem(&level, *insert.relation);
  InsertSource(&level, insert, target);
  level.names = {target};
  if (insert.on_conflict_clause != nullptr) OnConflict(&level, *insert.on_conflict_clause, target);
  level.names = {target};
  Result result;
  Returning(&level, target, ReturningOf(insert), &result);
  return result;
}

// The assignments of an INSERT, before its target is in sight.
void Resolver::InsertSource(Level* level, const PgQuery__InsertStmt& insert, NamespaceItem* target) {
  const std::vector<std::string_view> names = ColumnNames({insert.cols, insert.n_cols});
  const auto column_at = [&](std::size_t i) {
    if (names.empty()) return TargetColumnAt(*target, i);
    return i < names.size() ? TargetColumn(target, names[i]) : -1;
  };
  const Node* source = insert.select_stmt;
  if (source == nullptr || source->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) return;  // DEFAULT VALUES
  const PgQuery__SelectStmt& select = *source->select_stmt;
  if (!IsPlainValues(select)) {
    const Result result = Select(level, select, nullptr);
    Range* range = nullptr;
    const int index = AddRange(level, RangeKind::kSubquery, &range);
    range->subquery = result.query;
    const std::size_t columns = result.open && names.size() > result.names.size() ? names.size() : result.names.size();
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t output = i < result.names.size() ? i : result.names.size() - 1;
      Assign(level, result.open && names.empty() ? -1 : column_at(i), ColumnAt(index, static_cast<int>(output), 0));
    }
    return;
  }
  if (select.n_values_lists > 1) {
    std::size_t columns = 0;
    const int range = ValuesRange(level, {select.values_lists, select.n_values_lists}, &columns);
    for (std::size_t i = 0; i < columns; ++i) Assign(level, column_at(i), ColumnAt(range, static_cast<int>(i), 0));
    return;
  }
  if (select.values_lists[0]->node_case != PG_QUERY__NODE__NODE_LIST) return;
  const PgQuery__List& row = *select.values_lists[0]->list;
  for (std::size_t i = 0; i < row.n_items; ++i)
    Assign(level, column_at(i), IsDefault(row.items[i]) ? nullptr : Expression(level, row.items[i]));
}

// DO UPDATE sees the target and EXCLUDED.
void Resolver::OnConflict(Level* level, const PgQuery__OnConflictClause& conflict, NamespaceItem* target) {
  if (conflict.action != PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_UPDATE) return;
  Range* range = nullptr;
  NamespaceItem* excluded = NewItem();
  excluded->range = AddRange(level, RangeKind::kExcluded, &range);
  excluded->alias = "excluded";
  excluded->columns_visible = false;
  excluded->open = true;
  for (const NamespaceColumn& column : target->columns) excluded->columns.push_back({column.name});
  level->names = {target, excluded};
  SetClauses(level, target, {conflict.target_list, conflict.n_target_list});
  if (conflict.where_clause != nullptr) level->query->having.Add(Expression(level, conflict.where_clause));
}

// SET column = value, SET (a, b) = (x, y), SET (a, b) = (SELECT ...).
void Resolver::SetClauses(Level* level, NamespaceItem* target, NodeList list) {
  for (const Node* node : list) {
    if (node->node_case != PG_QUERY__NODE__NODE_RES_TARGET) continue;
    const Node* value = node->res_target->val;
    if (value != nullptr && value->node_case == PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF) {
      const PgQuery__MultiAssignRef& multiple = *value->multi_assign_ref;
      const Node* source = multiple.source;
      const auto position = static_cast<std::size_t>(multiple.colno - 1);
      if (source != nullptr && source->node_case == PG_QUERY__NODE__NODE_ROW_EXPR)
        value = position < source->row_expr->n_args ? source->row_expr->args[position] : nullptr;
      else if (position > 0)
        value = nullptr;  // the subquery feeds all columns, but it is read once
    }
    Assign(level, TargetColumn(target, node->res_target->name),
           value == nullptr || IsDefault(value) ? nullptr : Expression(level, value));
  }
}

Result Resolver::Update(Level* parent, const PgQuery__UpdateStmt& update) {
  Level level;
  level.parent = parent;
  NewQuery(&level, Command::kUpdate);
  With(&level, update.with_clause);
  NamespaceItem* target = TargetItem(&level, *update.relation);
  target->lateral_only = true;
  level.names.push_back(target);
  FromClause(&level, {update.from_clause, update.n_from_clause});
  SetClauses(&level, target, {update.target_list, update.n_target_list});
  if (update.where_clause != nullptr) level.query->conditions.Add(Expression(&level, update.where_clause));
  Result result;
  Returning(&level, target, ReturningOf(update), &result);
  return result;
}

Result Resolver::Delete(Level* parent, const PgQuery__DeleteStmt& remove) {
  Level level;
  level.parent = parent;
  NewQuery(&level, Command::kDelete);
  With(&level, remove.with_clause);
  NamespaceItem* target = TargetItem(&level, *remove.relation);
  target->lateral_only = true;
  level.names.push_back(target);
  FromClause(&level, {remove.using_clause, remove.n_using_clause});
  if (remove.where_clause != nullptr) level.query->conditions.Add(Expression(&level, remove.where_clause));
  Result result;
  Returning(&level, target, ReturningOf(remove), &result);
  return result;
}

// WHEN NOT MATCHED sees the source only.
Result Resolver::Merge(Level* parent, const PgQuery__MergeStmt& merge) {
  Level level;
  level.parent = parent;
  NewQuery(&level, Command::kMerge);
  With(&level, merge.with_clause);
  NamespaceItem* target = TargetItem(&level, *merge.relation);
  std::vector<NamespaceItem*> source;
  From(&level, merge.source_relation, &source);
  for (NamespaceItem* item : source) item->lateral_only = false;
  std::vector<NamespaceItem*> both = source;
  both.insert(both.begin(), target);
  level.names = both;
  if (merge.join_condition != nullptr) level.query->conditions.Add(Expression(&level, merge.join_condition));
  for (const Node* node : NodeList{merge.merge_when_clauses, merge.n_merge_when_clauses}) {
    if (node->node_case != PG_QUERY__NODE__NODE_MERGE_WHEN_CLAUSE) continue;
    const PgQuery__MergeWhenClause& when = *node->merge_when_clause;
    const MergeMatch match = MatchOf(when);
    level.names = match == MergeMatch::kBoth ? both : match == MergeMatch::kSource ? source : std::vector{target};
    if (when.condition != nullptr) level.query->having.Add(Expression(&level, when.condition));
    const NodeList targets = {when.target_list, when.n_target_list};
    if (when.command_type == PG_QUERY__CMD_TYPE__CMD_UPDATE) SetClauses(&level, target, targets);
    if (when.command_type != PG_QUERY__CMD_TYPE__CMD_INSERT) continue;
    const std::vector<std::string_view> names = ColumnNames(targets);
    for (std::size_t i = 0; i < when.n_values; ++i) {
      const int column = names.empty()      ? TargetColumnAt(*target, i)
                         : i < names.size() ? TargetColumn(target, names[i])
                                            : -1;
      Assign(&level, column, IsDefault(when.values[i]) ? nullptr : Expression(&level, when.values[i]));
    }
  }
  level.names = both;
  Result result;
  Returning(&level, target, ReturningOf(merge), &result);
  return result;
}

}  // namespace privacy_score
