/*
 * scope.cpp - the look-ups of scope.hpp. No recursion: queries may be nested to any depth.
 */
#include "core/statement/scope.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <unordered_set>
#include <utility>

#include <boost/functional/hash.hpp>

namespace privacy_score {

namespace {

constexpr std::size_t kMaxItemSets = 64;

// True for a column that appears in abstractions: of a table that is no catalog, and no system column.
bool IsBaseColumn(const Range& range, int column) {
  return range.kind == RangeKind::kRelation && range.relation != nullptr && !range.relation->catalog && column >= 0 &&
         column < range.relation->columns.size;
}

// The columns of `key` of a relation that are among the grouped columns of a copy of it.
bool CopyHasKey(const Relation& copy, const std::unordered_set<int>& grouped, const Relation& origin, const Key& key) {
  return std::all_of(key.columns, key.columns + key.size, [&](int column) {
    return std::any_of(grouped.begin(), grouped.end(), [&](int place) {
      for (const Origin* from : copy.origins->columns[place])
        if (from->relation == &origin && from->column == column) return true;
      return false;
    });
  });
}

// True when a group by these columns of a relation is one row of it, or of a table that it was copied from.
bool GroupsByKey(const Relation& relation, const std::unordered_set<int>& grouped) {
  for (const Key* key : relation.keys)
    if (key->size > 0 && std::all_of(key->columns, key->columns + key->size,
                                     [&grouped](int column) { return grouped.count(column) > 0; }))
      return true;
  if (relation.origins == nullptr) return false;
  for (const int place : grouped)
    for (const Origin* origin : relation.origins->columns[place])
      for (const Key* key : origin->relation->keys)
        if (key->size > 0 && CopyHasKey(relation, grouped, *origin->relation, *key)) return true;
  return false;
}

}  // namespace

bool Encloses(const Scope* outer, const Scope* inner) {
  while (inner != nullptr && inner != outer) inner = inner->parent;
  return inner != nullptr;
}

bool Scopes::Contains(int set, Item item) const {
  if (set == kAnyItem) return true;
  const auto& items = item_sets_[static_cast<std::size_t>(set)];
  return std::binary_search(items.begin(), items.end(), item);
}

Scope* Scopes::ScopeOf(const Query* query, Scope* parent) {
  if (query == nullptr) return nullptr;
  const auto [entry, is_new] = scopes_.try_emplace(query);
  Scope& scope = entry->second;
  if (is_new) {
    scope.query = query;
    scope.parent = parent;
    for (const Range* range : query->ranges) scope.ranges.push_back(range);
    for (const Expr* expr : query->outputs) scope.outputs.push_back(expr);
    for (const Cte* cte : query->ctes) scope.ctes.push_back(cte->query);
  }
  return &scope;
}

Scope* Outer(Scope* scope, int levels_up) {
  while (scope != nullptr && levels_up-- > 0) scope = scope->parent;
  return scope;
}

const Range* RangeOf(Item item) {
  if (item.scope == nullptr || item.range < 0) return nullptr;
  const auto index = static_cast<std::size_t>(item.range);
  return index < item.scope->ranges.size() ? item.scope->ranges[index] : nullptr;
}

Scope* Scopes::QueryOf(Item item, const Range& range) {
  if (range.kind == RangeKind::kSubquery) return ScopeOf(range.subquery, item.scope);
  if (range.kind != RangeKind::kCte) return nullptr;
  Scope* owner = Outer(item.scope, range.levels_up);
  if (owner == nullptr || range.cte < 0 || static_cast<std::size_t>(range.cte) >= owner->ctes.size()) return nullptr;
  return ScopeOf(owner->ctes[static_cast<std::size_t>(range.cte)], owner);
}

int LevelsOut(const Expr& aggregate) {
  int least = -1;
  std::vector<const Expr*> left;
  const auto add = [&left](const Expr& expr) {
    for (const ArenaList<Expr>* list : {&expr.args, &expr.order, &expr.filter})
      for (const Expr* arg : *list) left.push_back(arg);
  };
  add(aggregate);
  while (!left.empty()) {
    const Expr& expr = *left.back();
    left.pop_back();
    if (expr.kind == ExprKind::kSubquery) return 0;
    if (expr.kind == ExprKind::kColumn || expr.kind == ExprKind::kWholeRow)
      least = least < 0 ? expr.levels_up : std::min(least, expr.levels_up);
    add(expr);
  }
  return std::max(least, 0);
}

BareColumns Scopes::ResolveBare(Scope* scope, const Expr& column) {
  BareColumns result;
  std::vector<std::pair<Scope*, const Expr*>> exprs = {{scope, &column}};
  std::vector<std::pair<Scope*, int>> outputs;
  std::unordered_set<std::pair<Scope*, int>, boost::hash<std::pair<Scope*, int>>> seen;
  while (!exprs.empty() || !outputs.empty()) {
    if (!exprs.empty()) {
      const auto [at, expr] = exprs.back();
      exprs.pop_back();
      const Item item = {Outer(at, expr->levels_up), expr->range};
      const Range* range = expr->kind == ExprKind::kColumn ? RangeOf(item) : nullptr;
      if (range == nullptr) {
        result.bare = false;
        if (expr->kind != ExprKind::kColumn) result.ends.emplace_back(at, expr);
      } else if (IsBaseColumn(*range, expr->column)) {
        result.columns.push_back({item, expr->column});
      } else if (Scope* inner = QueryOf(item, *range)) {
        outputs.emplace_back(inner, expr->column);
      } else {
        result.bare = false;
        if (range->kind == RangeKind::kFunction)
          for (const Expr* arg : range->args) result.ends.emplace_back(item.scope, arg);
        else if (const Expr* value = range->kind == RangeKind::kValues ? ValuesOf(*range, expr->column) : nullptr)
          result.ends.emplace_back(item.scope, value);
      }
      continue;
    }
    const auto [inner, index] = outputs.back();
    outputs.pop_back();
    if (!seen.emplace(inner, index).second) continue;
    for (const Query* arm : inner->query->arms) outputs.emplace_back(ScopeOf(arm, inner), index);
    if (!inner->query->arms.empty()) continue;
    if (index < 0 || static_cast<std::size_t>(index) >= inner->outputs.size())
      result.bare = false;
    else
      exprs.emplace_back(inner, inner->outputs[static_cast<std::size_t>(index)]);
  }
  if (result.columns.empty()) result.bare = false;
  return result;
}

const Expr* Scopes::ValuesOf(const Range& range, int column) {
  const auto [entry, is_new] = values_.try_emplace(&range);
  std::vector<const Expr*>& columns = entry->second;
  if (is_new)
    for (const Expr* expr : range.args) columns.push_back(expr);
  const auto index = static_cast<std::size_t>(column);
  return column >= 0 && index < columns.size() ? columns[index] : nullptr;
}

bool Scopes::IsJoin(Scope* scope, const Expr& equality) {
  if (equality.args.size != 2) return false;
  const Expr& left = *equality.args.first;
  const Expr& right = *equality.args.last;
  if (left.kind != ExprKind::kColumn || right.kind != ExprKind::kColumn) return false;
  if (left.range == right.range && left.levels_up == right.levels_up) return false;
  for (const Expr* side : {&left, &right}) {
    const BareColumns resolved = ResolveBare(scope, *side);
    if (!resolved.bare) return false;
    for (const ItemColumn& base : resolved.columns)
      if (RangeOf(base.item)->relation->own) return false;
  }
  return true;
}

int Scopes::KeyedItems(Scope* scope) {
  if (scope->keyed_items != kUnknownSet) return scope->keyed_items;
  std::vector<ItemColumn> grouped;
  for (const Expr* expr : scope->query->group_by) {
    if (expr->kind != ExprKind::kColumn) continue;
    const BareColumns resolved = ResolveBare(scope, *expr);
    grouped.insert(grouped.end(), resolved.columns.begin(), resolved.columns.end());
  }
  std::unordered_map<const Range*, std::pair<Item, std::unordered_set<int>>> by_item;
  for (const ItemColumn& column : grouped) {
    auto& entry = by_item[RangeOf(column.item)];
    entry.first = column.item;
    entry.second.insert(column.column);
  }
  std::vector<Item> items;
  for (const auto& [range, entry] : by_item) {
    if (GroupsByKey(*range->relation, entry.second)) items.push_back(entry.first);
  }
  scope->keyed_items = InternItems(std::move(items));
  return scope->keyed_items;
}

// The number of a set of FROM items. Beyond kMaxItemSets it is the set of all: nested grouping by keys could make
// sets without end, and to reveal too much is the safe side.
int Scopes::InternItems(std::vector<Item> items) {
  std::sort(items.begin(), items.end());
  const auto known = std::find(item_sets_.begin(), item_sets_.end(), items);
  if (known != item_sets_.end()) return static_cast<int>(known - item_sets_.begin());
  if (item_sets_.size() >= kMaxItemSets) return kAnyItem;
  item_sets_.push_back(std::move(items));
  return static_cast<int>(item_sets_.size()) - 1;
}

int Scopes::CommonItems(int a, int b) {
  if (a == kAnyItem || a == b) return b;
  if (b == kAnyItem) return a;
  const auto& left = item_sets_[static_cast<std::size_t>(a)];
  const auto& right = item_sets_[static_cast<std::size_t>(b)];
  std::vector<Item> common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(common));
  return InternItems(std::move(common));
}

bool Scopes::IsPlainKey(Scope* scope, const Expr& key) {
  switch (key.kind) {
    case ExprKind::kConstant:
    case ExprKind::kAggregate:
    case ExprKind::kWindow:
      return true;
    case ExprKind::kWholeRow: {
      const Range* range = RangeOf({Outer(scope, key.levels_up), key.range});
      return range != nullptr && range->kind == RangeKind::kRelation;
    }
    case ExprKind::kColumn:
      break;
    default:
      return false;
  }
  const BareColumns bare = ResolveBare(scope, key);
  const auto relation_of = [](const ItemColumn& column) { return RangeOf(column.item)->relation; };
  for (const ItemColumn& column : bare.columns)
    if (!bare.ends.empty() || relation_of(column) != relation_of(bare.columns.front())) return false;
  return std::all_of(bare.ends.begin(), bare.ends.end(), [](const auto& end) {
    const ExprKind kind = end.second->kind;
    return kind == ExprKind::kConstant || kind == ExprKind::kAggregate || kind == ExprKind::kWindow;
  });
}

int Scopes::WidthOf(Scope* scope) {
  while (scope != nullptr && !scope->query->arms.empty()) scope = ScopeOf(scope->query->arms.first, scope);
  return scope == nullptr ? 0 : static_cast<int>(scope->outputs.size());
}

std::vector<const Expr*> ExpressionsOf(const Query& query) {
  std::vector<const Expr*> found;
  std::vector<const Expr*> left;
  const auto add = [&left](const ArenaList<Expr>& exprs) {
    for (const Expr* expr : exprs) left.push_back(expr);
  };
  for (const ArenaList<Expr>* exprs : {&query.outputs, &query.conditions, &query.having, &query.group_by,
                                       &query.partition_by, &query.order_by, &query.window_order_by, &query.told})
    add(*exprs);
  for (const Range* range : query.ranges) add(range->args);
  for (const Assignment* assignment : query.assignments)
    if (assignment->value != nullptr) left.push_back(assignment->value);
  while (!left.empty()) {
    const Expr* expr = left.back();
    left.pop_back();
    found.push_back(expr);
    for (const ArenaList<Expr>* exprs : {&expr->args, &expr->order, &expr->filter}) add(*exprs);
  }
  return found;
}

bool ReadsRow(const Expr& operand) {
  std::vector<const Expr*> exprs = {&operand};
  std::vector<std::pair<const Query*, int>> queries;  // and how many levels down
  for (int depth = 0;;) {
    while (!exprs.empty()) {
      const Expr* expr = exprs.back();
      exprs.pop_back();
      const bool is_column = expr->kind == ExprKind::kColumn || expr->kind == ExprKind::kWholeRow;
      if (is_column && expr->levels_up == depth) return true;
      if (expr->subquery != nullptr) queries.emplace_back(expr->subquery, depth + 1);
      if (depth > 0) continue;
      for (const ArenaList<Expr>* list : {&expr->args, &expr->order, &expr->filter})
        for (const Expr* arg : *list) exprs.push_back(arg);
    }
    if (queries.empty()) return false;
    const Query* query = nullptr;
    std::tie(query, depth) = queries.back();
    queries.pop_back();
    exprs = ExpressionsOf(*query);
    for (const Query* arm : query->arms) queries.emplace_back(arm, depth + 1);
    for (const Range* range : query->ranges)
      if (range->subquery != nullptr) queries.emplace_back(range->subquery, depth + 1);
    for (const Cte* cte : query->ctes)
      if (cte->query != nullptr) queries.emplace_back(cte->query, depth + 1);
  }
}

}  // namespace privacy_score
