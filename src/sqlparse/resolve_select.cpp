/*
 * resolve_select.cpp - SELECT, VALUES and set operations; grouping, ordering, windows (parse_clause.c, analyze.c).
 */
#include <algorithm>

#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

constexpr int kFrameRange = 0x2;  // FRAMEOPTION_RANGE

bool IsLeaf(const PgQuery__SelectStmt& select, bool is_top) {
  if (select.op <= PG_QUERY__SET_OPERATION__SETOP_NONE || select.larg == nullptr || select.rarg == nullptr) return true;
  return !is_top && (select.n_sort_clause > 0 || select.limit_count != nullptr || select.limit_offset != nullptr ||
                     select.n_locking_clause > 0 || select.with_clause != nullptr);
}

// The position from 0 that an ordinal names; -1 when the node is no ordinal.
int Ordinal(const Node* node) {
  if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_A_CONST || node->a_const->isnull) return -1;
  if (node->a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL) return -1;
  return node->a_const->ival->ival - 1;
}

// The name of a column reference without qualifier; empty for others.
std::string_view SimpleName(const Node* node) {
  if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_COLUMN_REF || node->column_ref->n_fields != 1)
    return {};
  return TextOf(node->column_ref->fields[0]);
}

const Node* SortNode(const Node* node) {
  return node->node_case == PG_QUERY__NODE__NODE_SORT_BY ? node->sort_by->node : node;
}

}  // namespace

// `recursive` is the WITH query that this is the text of, which learns its columns from the first arm.
Result Resolver::Select(Level* parent, const PgQuery__SelectStmt& select, CteInfo* recursive) {
  RequireStack();
  Level level;
  level.parent = parent;
  NewQuery(&level, Command::kSelect);
  With(&level, select.with_clause);
  Result result;
  if (!IsLeaf(select, true))
    result = SetOperation(&level, select, recursive);
  else if (select.n_values_lists > 0)
    result = Values(&level, select);
  else
    result = PlainSelect(&level, select);
  result.query = level.query;
  if (level.query->arms.empty()) result.arms = {{level.query, result.open_item, result.open}};
  return result;
}

Result Resolver::PlainSelect(Level* level, const PgQuery__SelectStmt& select) {
  Query* query = level->query;
  FromClause(level, {select.from_clause, select.n_from_clause});
  Result result;
  const std::vector<Target> targets = TargetList(level, {select.target_list, select.n_target_list}, &result);
  if (select.where_clause != nullptr) query->conditions.Add(Expression(level, select.where_clause));
  if (select.having_clause != nullptr) query->having.Add(Expression(level, select.having_clause));
  for (const Node* node : NodeList{select.sort_clause, select.n_sort_clause})
    query->order_by.Add(SortTarget(level, SortNode(node), targets, false));
  for (const Node* node : NodeList{select.group_clause, select.n_group_clause}) Group(level, node, targets);
  for (const Node* node : NodeList{select.distinct_clause, select.n_distinct_clause}) {
    if (node->node_case == PG_QUERY__NODE__NODE__NOT_SET) {  // a mere DISTINCT
      query->distinct = true;
      continue;
    }
    query->group_by.Add(SortTarget(level, node, targets, false));
    query->limit = true;
  }
  Limit(level, select);
  for (const Node* node : NodeList{select.window_clause, select.n_window_clause})
    if (node->node_case == PG_QUERY__NODE__NODE_WINDOW_DEF) Window(level, *node->window_def);
  for (const Target& target : targets) {
    query->outputs.Add(target.expr);
    result.names.push_back(target.name);
  }
  return result;
}

// An entry of ORDER BY, GROUP BY or DISTINCT ON (findTargetlistEntrySQL92): an output by number or name, else an
// expression. GROUP BY prefers input columns.
Expr* Resolver::SortTarget(Level* level, const Node* node, const std::vector<Target>& targets, bool is_group) {
  const int ordinal = Ordinal(node);
  if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < targets.size())
    return Clone(targets[static_cast<std::size_t>(ordinal)].expr);
  const std::string_view name = SimpleName(node);
  if (!name.empty()) {
    bool is_input = false;
    if (is_group)
      for (const NamespaceItem* item : level->names)
        if (item->columns_visible && FindColumn(*item, name) >= 0) is_input = true;
    if (!is_input)
      for (const Target& target : targets)
        if (target.name == name) return Clone(target.expr);
  }
  return Expression(level, node);
}

void Resolver::Group(Level* level, const Node* node, const std::vector<Target>& targets) {
  RequireStack();
  if (node->node_case == PG_QUERY__NODE__NODE_GROUPING_SET) {
    for (const Node* part : NodeList{node->grouping_set->content, node->grouping_set->n_content})
      Group(level, part, targets);
  } else if (node->node_case == PG_QUERY__NODE__NODE_ROW_EXPR &&
             node->row_expr->row_format == PG_QUERY__COERCION_FORM__COERCE_IMPLICIT_CAST) {
    for (const Node* part : NodeList{node->row_expr->args, node->row_expr->n_args}) Group(level, part, targets);
  } else {
    level->query->group_by.Add(SortTarget(level, node, targets, true));
  }
}

// LIMIT and OFFSET reveal what subqueries in them read, and columns of outer levels. LIMIT ALL is none.
void Resolver::Limit(Level* level, const PgQuery__SelectStmt& select) {
  for (const Node* node : {select.limit_count, select.limit_offset}) {
    if (node != nullptr && !IsNullConstant(node)) level->query->limit = true;  // LIMIT ALL is a null constant
    Expr* expr = Expression(level, node);
    if (expr->kind != ExprKind::kConstant) level->query->having.Add(expr);
  }
}

// PARTITION BY, ORDER BY and frame of one window; what it inherits is there by itself.
void Resolver::Window(Level* level, const PgQuery__WindowDef& window) {
  for (const Node* node : NodeList{window.partition_clause, window.n_partition_clause})
    level->query->partition_by.Add(Expression(level, node));
  for (const Node* node : NodeList{window.order_clause, window.n_order_clause})
    level->query->window_order_by.Add(Expression(level, node));
  for (const Node* offset : {window.start_offset, window.end_offset}) {
    Expr* expr = Expression(level, offset);
    if (expr->kind != ExprKind::kConstant) level->query->having.Add(expr);
  }
  // RANGE n PRECEDING compares values with one another.
  if ((window.frame_options & kFrameRange) == 0 || (window.start_offset == nullptr && window.end_offset == nullptr))
    return;
  for (const Node* node : NodeList{window.order_clause, window.n_order_clause}) {
    Expr* expr = Expression(level, node);
    if (expr->kind != ExprKind::kConstant) level->query->having.Add(expr);
  }
}

// A kValues range of the lists; returns its index.
int Resolver::ValuesRange(Level* level, NodeList lists, std::size_t* columns) {
  // What is inserted is compared with nothing.
  const bool compared = limits_.key != nullptr && level->query->command != Command::kInsert;
  std::vector<std::vector<Expr*>> by_column;
  *columns = 0;
  for (const Node* node : lists) {
    if (node->node_case != PG_QUERY__NODE__NODE_LIST) continue;
    const NodeList row = {node->list->items, node->list->n_items};
    if (row.size > by_column.size()) by_column.resize(row.size);
    for (std::size_t i = 0; i < row.size; ++i)
      if (row[i]->node_case != PG_QUERY__NODE__NODE_A_CONST) by_column[i].push_back(Expression(level, row[i]));
  }
  *columns = by_column.size();
  Range* range = nullptr;
  const int index = AddRange(level, RangeKind::kValues, &range);
  for (std::size_t i = 0; i < by_column.size(); ++i) {
    Expr* column = Other(by_column[i]);
    range->args.Add(column);
    for (const Node* node : lists)
      if (compared && node->node_case == PG_QUERY__NODE__NODE_LIST && node->list->n_items > i)
        AddValues(column, node->list->items[i]);
  }
  return index;
}

Result Resolver::Values(Level* level, const PgQuery__SelectStmt& select) {
  std::size_t columns = 0;
  const int range = ValuesRange(level, {select.values_lists, select.n_values_lists}, &columns);
  Result result;
  std::vector<Target> targets;
  for (std::size_t i = 0; i < columns; ++i) {
    result.names.push_back(arena_.Copy("column" + std::to_string(i + 1)));
    targets.push_back({result.names.back(), ColumnAt(range, static_cast<int>(i), 0)});
    level->query->outputs.Add(targets.back().expr);
  }
  for (const Node* node : NodeList{select.sort_clause, select.n_sort_clause})
    level->query->order_by.Add(SortTarget(level, SortNode(node), targets, false));
  Limit(level, select);
  return result;
}

Result Resolver::SetOperation(Level* level, const PgQuery__SelectStmt& select, CteInfo* recursive) {
  Result result;
  Arms(level, select, recursive, true, &result);
  OrderOutputs(level, select, result);
  Limit(level, select);
  return result;
}

// Flattens a tree of set operations into its leaves; the first names the columns.
void Resolver::Arms(Level* level, const PgQuery__SelectStmt& select, CteInfo* recursive, bool is_top, Result* result) {
  RequireStack();
  if (!IsLeaf(select, is_top)) {
    if (select.op != PG_QUERY__SET_OPERATION__SETOP_UNION || !select.all) level->query->distinct = true;
    Arms(level, *select.larg, recursive, false, result);
    Arms(level, *select.rarg, recursive, false, result);
    return;
  }
  const Result arm = Select(level, select, nullptr);
  const bool is_first = level->query->arms.empty();
  level->query->arms.Add(arm.query);
  if (arm.open) result->open = true;
  result->arms.insert(result->arms.end(), arm.arms.begin(), arm.arms.end());
  if (!is_first) return;
  result->names = arm.names;
  if (recursive != nullptr) NameCte(recursive, *result);
}

// ORDER BY of a set operation, which can only name outputs.
void Resolver::OrderOutputs(Level* level, const PgQuery__SelectStmt& select, const Result& result) {
  for (const Node* node : NodeList{select.sort_clause, select.n_sort_clause}) {
    const Node* key = SortNode(node);
    int index = Ordinal(key);
    const std::string_view name = SimpleName(key);
    if (!name.empty()) {
      const auto found = std::find(result.names.begin(), result.names.end(), name);
      if (found != result.names.end()) index = static_cast<int>(found - result.names.begin());
    }
    if (index < 0) continue;
    Expr* output = NewExpr(ExprKind::kOutput);
    output->column = index;
    level->query->order_by.Add(output);
  }
}

}  // namespace privacy_score
