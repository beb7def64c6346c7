/*
 * resolve_target.cpp - the target of a writing statement. A simple view is written through, as the rewriter does: the
 * target is the table beneath, the view's columns are expressions over it, its WHERE is a condition but for INSERT.
 */
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

// The only FROM item of a view that is simple enough to be written through; null for others
// (view_query_is_auto_updatable).
const PgQuery__RangeVar* SimpleSource(const PgQuery__SelectStmt& select) {
  if (select.op > PG_QUERY__SET_OPERATION__SETOP_NONE || select.n_values_lists > 0 || select.n_distinct_clause > 0 ||
      select.n_group_clause > 0 || select.having_clause != nullptr || select.with_clause != nullptr ||
      select.limit_count != nullptr || select.limit_offset != nullptr || select.n_from_clause != 1 ||
      select.from_clause[0]->node_case != PG_QUERY__NODE__NODE_RANGE_VAR)
    return nullptr;
  return select.from_clause[0]->range_var;
}

bool IsPlain(const Expr& expr) {
  if (expr.kind == ExprKind::kAggregate || expr.kind == ExprKind::kWindow) return false;
  for (const Expr* arg : expr.args)
    if (!IsPlain(*arg)) return false;
  return true;
}

}  // namespace

// The target as range 0 of its query and as an item, which is not in sight yet.
NamespaceItem* Resolver::TargetItem(Level* level, const PgQuery__RangeVar& table) {
  RequireStack();
  const CatalogRelation* entry = FindRelation(table);
  NamespaceItem* item = entry != nullptr && entry->is_view ? ViewTarget(level, *entry) : nullptr;
  if (item == nullptr) {
    item = RelationItem(level, table, entry);
  } else {
    item->alias = table.relname;
    item->schema = table.schemaname;
  }
  NameItem(item, table.alias);
  level->query->target = 0;
  return item;
}

// Null when the view cannot be written through; nothing has changed then.
NamespaceItem* Resolver::ViewTarget(Level* level, const CatalogRelation& view) {
  ViewText text(this);
  const PgQuery__SelectStmt* select = ParseView(view);
  const PgQuery__RangeVar* source = select == nullptr ? nullptr : SimpleSource(*select);
  if (source == nullptr) return nullptr;
  const ArenaList<Range> ranges = level->query->ranges;
  const ArenaList<Expr> conditions = level->query->conditions;
  NamespaceItem* base = TargetItem(level, *source);
  std::vector<NamespaceItem*> outer = {base};
  std::swap(level->names, outer);
  Result result;
  const std::vector<Target> targets = TargetList(level, {select->target_list, select->n_target_list}, &result);
  if (select->where_clause != nullptr && level->query->command != Command::kInsert)
    level->query->conditions.Add(Expression(level, select->where_clause));
  std::swap(level->names, outer);

  NamespaceItem* item = NewItem();
  item->range = base->range;
  item->is_mapped = true;
  bool plain = !result.open;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    plain = plain && IsPlain(*targets[i].expr);
    const std::string_view name = i < view.raw_names.size() ? std::string_view(view.raw_names[i]) : targets[i].name;
    item->columns.push_back({name, targets[i].expr});
  }
  if (plain) return item;
  level->query->ranges = ranges;
  level->query->conditions = conditions;
  return nullptr;
}

// The column of the table that column `position` of the target stands for; -1 when it stands for none.
int Resolver::TargetColumnAt(const NamespaceItem& target, std::size_t position) {
  if (position >= target.columns.size()) return -1;
  const Expr* expr = target.columns[position].expr;
  if (expr == nullptr) return static_cast<int>(position);
  return expr->kind == ExprKind::kColumn && expr->range == target.range && expr->levels_up == 0 ? expr->column : -1;
}

int Resolver::TargetColumn(NamespaceItem* target, std::string_view name) {
  const int position = FindColumn(*target, name);
  if (position >= 0) return TargetColumnAt(*target, static_cast<std::size_t>(position));
  return target->open ? AddOpenColumn(target, name) : -1;
}

}  // namespace privacy_score
