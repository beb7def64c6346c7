/*
 * resolve_from.cpp - the FROM clause (parse_clause.c: transformFromClauseItem): which ranges a query has, and which
 * names they bring into sight.
 */
#include <unordered_set>

#include "core/base/names.hpp"
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

void SetLateral(const std::vector<NamespaceItem*>& names, bool only) {
  for (NamespaceItem* item : names) item->lateral_only = only;
}

// The open items behind an item.
std::vector<NamespaceItem*> OpenItems(NamespaceItem* item) {
  if (item->range >= 0) return item->open ? std::vector<NamespaceItem*>{item} : std::vector<NamespaceItem*>{};
  return item->open_items;
}

}  // namespace

void Resolver::FromClause(Level* level, NodeList list) {
  for (const Node* node : list) {
    std::vector<NamespaceItem*> names;
    From(level, node, &names);
    SetLateral(names, true);
    level->names.insert(level->names.end(), names.begin(), names.end());
  }
  SetLateral(level->names, false);
}

// One FROM item; adds what it brings into sight to `names`. Null for none.
NamespaceItem* Resolver::From(Level* level, const Node* node, std::vector<NamespaceItem*>* names) {
  if (node == nullptr) return nullptr;
  RequireStack();
  NamespaceItem* item = nullptr;
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
      return FromJoin(level, *node->join_expr, names);
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
      return FromSample(level, *node->range_table_sample, names);
    case PG_QUERY__NODE__NODE_RANGE_VAR:
      item = FromTable(level, *node->range_var);
      break;
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
      item = FromSubquery(level, *node->range_subselect);
      break;
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
      item = FromFunction(level, *node->range_function);
      break;
    case PG_QUERY__NODE__NODE_RANGE_TABLE_FUNC:
      item = FromXmlTable(level, *node->range_table_func);
      break;
    default:
      item = FromOther(level, *node);
  }
  names->push_back(item);
  return item;
}

// Gives an item its alias and column aliases.
void Resolver::NameItem(NamespaceItem* item, const PgQuery__Alias* alias) {
  if (alias == nullptr) return;
  item->alias = alias->aliasname;
  item->schema = {};
  item->places.clear();
  item->placed = 0;
  for (std::size_t i = 0; i < alias->n_colnames; ++i) {
    const std::string_view name = TextOf(alias->colnames[i]);
    if (i < item->columns.size() && !item->columns[i].name.empty())
      item->columns[i].name = name;
    else if (item->unresolved != nullptr)
      item->columns.push_back({name, ColumnAt(item->range, AddMentioned(item->unresolved, QuoteName(name)), 0)});
    else if (item->open)
      item->columns.push_back({name, ColumnAt(item->range, 0, 0)});
  }
}

NamespaceItem* Resolver::FromTable(Level* level, const PgQuery__RangeVar& table) {
  NamespaceItem* item = *table.schemaname == '\0' ? CteItem(level, table) : nullptr;
  if (item == nullptr) {
    const CatalogRelation* entry = FindRelation(table);
    Query* view = entry != nullptr && entry->is_view ? View(*entry) : nullptr;
    item = RelationItem(level, table, entry);
    if (view != nullptr) {
      Range* range = level->query->ranges.last;
      range->kind = RangeKind::kSubquery;
      range->relation = nullptr;
      range->subquery = view;
      described_.NoteSubquery(view, level->query, item->range);
      item->is_base = false;
    }
  }
  NameItem(item, table.alias);
  return item;
}

// A new range and item of a table: resolved when `entry` is given, else as written.
NamespaceItem* Resolver::RelationItem(Level* level, const PgQuery__RangeVar& table, const CatalogRelation* entry) {
  Range* range = nullptr;
  NamespaceItem* item = NewItem();
  item->range = AddRange(level, RangeKind::kRelation, &range);
  item->alias = table.relname;
  item->schema = table.schemaname;
  item->is_base = true;
  if (entry == nullptr) {
    range->relation = item->unresolved = UnresolvedOf(table);
    item->open = true;
    return item;
  }
  // INSERT and COPY concern the table alone.
  const Command command = level->query->command;
  const bool with_children = table.inh && command != Command::kInsert && command != Command::kCopy;
  const Statistics* statistics = nullptr;
  if (described_.wanted() && entry->catalog && SplitName(entry->canonical).schema == "pg_catalog")
    statistics = StatisticsOf(UnquoteName(SplitName(entry->canonical).name));
  range->relation = statistics != nullptr ? NewTable(*entry) : TableOf(*entry, with_children);
  if (statistics != nullptr) described_.NoteRange(level->query, item->range, statistics, range->relation);
  for (const std::string& name : entry->raw_names) item->columns.push_back({name});
  const std::string_view schema = SplitName(entry->canonical).schema;
  if (item->schema.empty() && schema.find('"') == std::string_view::npos) item->schema = schema;
  return item;
}

// The WITH query of that name; null when there is none in sight.
NamespaceItem* Resolver::CteItem(Level* level, const PgQuery__RangeVar& table) {
  int levels_up = 0;
  for (Level* at = level; at != nullptr; at = at->parent, ++levels_up) {
    for (std::size_t i = 0; i < at->ctes.size(); ++i) {
      if (at->ctes[i]->name != table.relname) continue;
      if (at->ctes[i]->waiting != nullptr)  // under RECURSIVE
        AnalyseCte(at, at->ctes[i], true);
      Range* range = nullptr;
      NamespaceItem* item = NewItem();
      item->range = AddRange(level, RangeKind::kCte, &range);
      item->alias = table.relname;
      range->cte = static_cast<int>(i);
      range->levels_up = levels_up;
      FillFromResult(item, at->ctes[i]->result);
      return item;
    }
  }
  return nullptr;
}

// The columns of an item that shows what a query returns.
void Resolver::FillFromResult(NamespaceItem* item, const Result& result) {
  for (const std::string_view name : result.names) item->columns.push_back({name});
  item->open = result.open;
  if (result.open) item->arms = result.arms;
}

// The query of a view, analysed anew for each place; null when its text is no query.
Query* Resolver::View(const CatalogRelation& view) {
  RequireStack();
  ViewText text(this);
  const PgQuery__SelectStmt* select = ParseView(view);
  return select == nullptr ? nullptr : Select(nullptr, *select, nullptr).query;
}

NamespaceItem* Resolver::FromSubquery(Level* level, const PgQuery__RangeSubselect& subquery) {
  const bool lateral = level->lateral_active;
  level->lateral_active = subquery.lateral;
  const Result result = Any(level, subquery.subquery, nullptr);
  level->lateral_active = lateral;
  Range* range = nullptr;
  NamespaceItem* item = NewItem();
  item->range = AddRange(level, RangeKind::kSubquery, &range);
  range->subquery = result.query;
  described_.NoteSubquery(result.query, level->query, item->range);
  FillFromResult(item, result);
  NameItem(item, subquery.alias);
  return item;
}

// TABLESAMPLE: what its arguments read decides how many rows come, as a filter does.
NamespaceItem* Resolver::FromSample(Level* level, const PgQuery__RangeTableSample& sample,
                                    std::vector<NamespaceItem*>* names) {
  NamespaceItem* item = From(level, sample.relation, names);
  const bool lateral = level->lateral_active;
  level->lateral_active = true;
  Expr* args = Other({OtherOf(level, {sample.args, sample.n_args}), Expression(level, sample.repeatable)});
  level->lateral_active = lateral;
  if (args->kind != ExprKind::kConstant) level->query->having.Add(args);
  if (Range* range = item == nullptr ? nullptr : level->query->ranges.At(item->range)) range->sampled = true;
  return item;
}

// Adds what one side of a join shows, but for merged columns, to the join.
void Resolver::JoinSide(NamespaceItem* join, NamespaceItem* side, const std::vector<std::string_view>& merged) {
  if (join->columns.empty() && join->open_items.empty() && side->range < 0 && !side->relation_visible) {
    // A join without a name, of which nothing is in sight from now on: a chain of joins takes time in proportion.
    std::swap(join->columns, side->columns);
    std::swap(join->open_items, side->open_items);
    std::swap(join->places, side->places);
    std::swap(join->placed, side->placed);
    return;
  }
  const std::unordered_set<std::string_view> is_merged(merged.begin(), merged.end());
  for (std::size_t i = 0; i < side->columns.size(); ++i) {
    const std::string_view name = side->columns[i].name;
    if (!name.empty() && is_merged.count(name) > 0 && FindColumn(*side, name) == static_cast<int>(i)) continue;
    if (!name.empty() || side->unresolved == nullptr)
      join->columns.push_back({name, ColumnOf(*side, static_cast<int>(i), 0)});
  }
  const std::vector<NamespaceItem*> open = OpenItems(side);
  join->open_items.insert(join->open_items.end(), open.begin(), open.end());
}

NamespaceItem* Resolver::FromJoin(Level* level, const PgQuery__JoinExpr& join, std::vector<NamespaceItem*>* names) {
  std::vector<NamespaceItem*> mine;
  NamespaceItem* left = From(level, join.larg, &mine);
  SetLateral(mine, true);
  const std::size_t sight = level->names.size();
  level->names.insert(level->names.end(), mine.begin(), mine.end());
  NamespaceItem* right = From(level, join.rarg, &mine);
  level->names.resize(sight);
  if (left == nullptr || right == nullptr) return left != nullptr ? left : right;

  std::vector<std::string_view> merged = TextsOf({join.using_clause, join.n_using_clause});
  if (join.is_natural)
    for (const NamespaceColumn& column : left->columns)
      if (!column.name.empty() && FindColumn(*right, column.name) >= 0) merged.push_back(column.name);

  NamespaceItem* item = NewItem();
  for (const std::string_view name : merged) {
    Expr* left_column = ItemField(left, name, 0);
    Expr* right_column = ItemField(right, name, 0);
    if (left_column == nullptr) left_column = Stray(level, QuoteName(name));
    if (right_column == nullptr) right_column = Stray(level, QuoteName(name));
    level->query->conditions.Add(Equality(Clone(left_column), Clone(right_column)));
    if (join.jointype == PG_QUERY__JOIN_TYPE__JOIN_FULL)
      item->columns.push_back({name, Other({left_column, right_column})});
    else
      item->columns.push_back({name, join.jointype == PG_QUERY__JOIN_TYPE__JOIN_RIGHT ? right_column : left_column});
  }
  NamespaceItem* using_item = nullptr;
  if (join.join_using_alias != nullptr) {
    using_item = NewItem();
    using_item->alias = join.join_using_alias->aliasname;
    using_item->columns = item->columns;
    using_item->columns_visible = false;
  }
  if (join.quals != nullptr) {
    SetLateral(mine, false);
    std::vector<NamespaceItem*> outer = std::move(level->names);
    level->names = mine;
    Expr* condition = Expression(level, join.quals);
    level->query->conditions.Add(condition);
    if (join.jointype != PG_QUERY__JOIN_TYPE__JOIN_INNER) described_.NoteOuterJoin(condition);
    level->names = std::move(outer);
  }
  JoinSide(item, left, merged);
  JoinSide(item, right, merged);
  if (join.alias != nullptr) {
    NameItem(item, join.alias);
    mine.clear();
  } else {
    for (NamespaceItem* hidden : mine) hidden->columns_visible = false;
    item->relation_visible = false;
  }
  if (using_item != nullptr) mine.push_back(using_item);
  mine.push_back(item);
  names->insert(names->end(), mine.begin(), mine.end());
  return item;
}

}  // namespace privacy_score
