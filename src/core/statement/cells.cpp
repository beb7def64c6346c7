/*
 * cells.cpp - see cells.hpp. No recursion: queries may be nested to any depth.
 */
#include "core/statement/cells.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

namespace privacy_score {

namespace {

using Place = std::pair<Scope*, const Expr*>;

// A walk over expressions and, where a column of a subquery or WITH query is met, on into its output.
class Follower {
 public:
  explicit Follower(Scopes& scopes) : scopes_(scopes) {}

  void Add(Scope* scope, const Expr* expr) { places_.emplace_back(scope, expr); }
  void Add(Scope* scope, const ArenaList<Expr>& exprs) {
    for (const Expr* expr : exprs) Add(scope, expr);
  }
  bool Next(Place* place) {
    if (places_.empty()) return false;
    *place = places_.back();
    places_.pop_back();
    return true;
  }
  // Goes on into what a column of an item that is no relation stands for; each once.
  void Enter(Item item, const Range& range, int column) {
    if (range.kind == RangeKind::kFunction) {
      if (entered_.insert({&range, 0}).second) Add(item.scope, range.args);
    } else if (range.kind == RangeKind::kValues) {
      const Expr* value = scopes_.ValuesOf(range, column);
      if (value != nullptr && entered_.insert({&range, column}).second) Add(item.scope, value);
    } else {
      AddOutput(scopes_.QueryOf(item, range), column);
    }
  }
  // Goes on into an output of a query, of a set operation that of every arm; each once.
  void AddOutput(Scope* scope, int column) {
    std::vector<Scope*> stack = {scope};
    while (!stack.empty()) {
      Scope* at = stack.back();
      stack.pop_back();
      if (at == nullptr || !entered_.insert({at->query, column}).second) continue;
      for (const Query* arm : at->query->arms) stack.push_back(scopes_.ScopeOf(arm, at));
      const auto index = static_cast<std::size_t>(column);
      if (at->query->arms.empty() && column >= 0 && index < at->outputs.size()) Add(at, at->outputs[index]);
    }
  }

 private:
  Scopes& scopes_;
  std::vector<Place> places_;
  std::set<std::pair<const void*, int>> entered_;
};

// Whether something below these expressions is picked by a window function, or with `by_chance` varies.
bool IsPicked(Scopes& scopes, Scope* scope, const ArenaList<Expr>& exprs, bool by_chance) {
  Follower follower(scopes);
  follower.Add(scope, exprs);
  for (Place place; follower.Next(&place);) {
    const auto [at, expr] = place;
    if (expr->kind == ExprKind::kWindow || (by_chance && expr->varies)) return true;
    if (expr->kind == ExprKind::kColumn) {
      const Item item = {Outer(at, expr->levels_up), expr->range};
      if (const Range* range = RangeOf(item)) follower.Enter(item, *range, expr->column);
    } else if (expr->kind == ExprKind::kSubquery) {
      if (by_chance && expr->subquery != nullptr) follower.AddOutput(scopes.ScopeOf(expr->subquery, at), 0);
    } else if (expr->kind != ExprKind::kAggregate) {
      follower.Add(at, expr->args);
    }
  }
  return false;
}

// What one side of a comparison is made of.
struct Side {
  std::vector<ItemColumn> columns;
  std::vector<ItemColumn> own;  // of relations that the role owns: they are as good as constants to the others
  bool outside = false;         // columns of a row outside of the level
  bool made = false;            // columns of rows that no relation has: of functions, VALUES, catalogs
  bool IsFixed() const { return columns.empty() && own.empty(); }
  std::vector<ItemColumn> All() const {
    std::vector<ItemColumn> all = columns;
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }
};

class Search {
 public:
  Search(Scopes& scopes, Scope* level) : scopes_(scopes), level_(level) {}

  std::vector<ItemColumn> Run();

 private:
  struct Node {
    ItemColumn column;
    std::size_t parent;
    bool pinned = false;
    std::vector<const Limit*> lower;
    std::vector<const Limit*> upper;
  };

  void AddQuery(Scope* scope);
  void AddAggregates(Scope* scope);
  void AddConjuncts(Scope* scope, const ArenaList<Expr>& exprs);
  void PinHidden(Scope* scope, const Expr* conjunct);
  void Compare(Scope* scope, const ArenaList<Expr>& exprs);
  void CompareMembers(Scope* scope, const Expr& expr);
  void Equate(const Side& left, const Side& right);
  void Bound(Scope* scope, const Expr& expr);
  Side Collect(Scope* scope, const ArenaList<Expr>& exprs);
  Side Collect(Scope* scope, const Expr* expr);
  Side Collect(Follower& follower);
  bool IsOutside(const Scope* scope) const { return scope != level_ && Encloses(scope, level_); }
  void Pin(const std::vector<ItemColumn>& columns) {
    for (const ItemColumn& column : columns) nodes_[NodeOf(column)].pinned = true;
  }
  void PinKeys(const std::vector<ItemColumn>& columns);
  std::size_t NodeOf(const ItemColumn& column);
  std::size_t RootOf(std::size_t node);

  Scopes& scopes_;
  Scope* level_;
  std::unordered_set<const Query*> seen_;
  std::vector<Scope*> queries_;
  std::map<std::pair<Item, int>, std::size_t> node_ids_;
  std::vector<Node> nodes_;
};

// Whether one column of the relation is a key of it, or refers to one, by itself.
bool IsKeyOf(const Relation& relation, int column) {
  for (const ArenaList<Key>* keys : {&relation.keys, &relation.references})
    for (const Key* key : *keys)
      if (key->size == 1 && key->columns[0] == column) return true;
  return false;
}

// The same of a column that may be a copy of one.
bool IsKey(const ItemColumn& column) {
  const Relation& relation = *RangeOf(column.item)->relation;
  if (IsKeyOf(relation, column.column)) return true;
  if (relation.origins == nullptr) return false;
  for (const Origin* origin : relation.origins->columns[column.column])
    if (IsKeyOf(*origin->relation, origin->column)) return true;
  return false;
}

// Adds the FROM items whose columns an expression names, by index and levels out.
void AddItems(const Expr& expr, std::set<std::pair<int, int>>& items) {
  std::vector<const Expr*> left = {&expr};
  while (!left.empty()) {
    const Expr* at = left.back();
    left.pop_back();
    if (at->kind == ExprKind::kColumn || at->kind == ExprKind::kWholeRow) items.emplace(at->levels_up, at->range);
    for (const Expr* arg : at->args) left.push_back(arg);
  }
}

// Whether both sides of an equality read the row of one FROM item.
bool ReadOneRow(const Expr& left, const Expr& right) {
  std::set<std::pair<int, int>> of_left;
  std::set<std::pair<int, int>> of_right;
  AddItems(left, of_left);
  AddItems(right, of_right);
  return std::any_of(of_left.begin(), of_left.end(), [&](const auto& item) { return of_right.count(item) > 0; });
}

std::vector<ItemColumn> Search::Run() {
  queries_.push_back(level_);
  while (!queries_.empty()) {
    Scope* scope = queries_.back();
    queries_.pop_back();
    if (scope != nullptr && seen_.insert(scope->query).second) AddQuery(scope);
  }
  for (Node& node : nodes_)
    for (const Limit* lower : node.lower)
      for (const Limit* upper : node.upper) {
        const bool known = lower->kind != Limit::kUnknown && upper->kind != Limit::kUnknown &&
                           (lower->kind == Limit::kParameter) == (upper->kind == Limit::kParameter);
        const bool same_parameter = lower->kind == Limit::kParameter && lower->parameter == upper->parameter;
        const bool open = !known || (lower->kind == Limit::kParameter && !same_parameter);
        if (open ? IsKey(node.column) : LeavesOne(*lower, *upper)) node.pinned = true;
      }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].pinned) nodes_[RootOf(i)].pinned = true;
  std::vector<ItemColumn> cells;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[RootOf(i)].pinned) cells.push_back(nodes_[i].column);
  return cells;
}

// What feeds a level: its own conditions, and the levels below.
void Search::AddQuery(Scope* scope) {
  const Query& query = *scope->query;
  for (const Query* arm : query.arms) queries_.push_back(scopes_.ScopeOf(arm, scope));
  for (std::size_t i = 0; i < scope->ranges.size(); ++i) {
    queries_.push_back(scopes_.QueryOf({scope, static_cast<int>(i)}, *scope->ranges[i]));
    Compare(scope, scope->ranges[i]->args);
  }
  AddConjuncts(scope, query.conditions);
  Compare(scope, query.having);
  if (scope == level_)
    AddAggregates(scope);
  else
    Compare(scope, query.outputs);
}

// Conditions inside of aggregates pick their rows as those of the level do.
void Search::AddAggregates(Scope* scope) {
  std::vector<const Expr*> left;
  for (const ArenaList<Expr>* list : {&scope->query->outputs, &scope->query->order_by})
    for (const Expr* expr : *list) left.push_back(expr);
  while (!left.empty()) {
    const Expr* expr = left.back();
    left.pop_back();
    if (expr->kind == ExprKind::kAggregate) {
      Compare(scope, expr->args);
      AddConjuncts(scope, expr->filter);
    } else if (expr->kind != ExprKind::kSubquery) {
      for (const ArenaList<Expr>* list : {&expr->args, &expr->filter})
        for (const Expr* arg : *list) left.push_back(arg);
    }
  }
}

// A condition, of whatever kind, between rows of the level and a row from elsewhere picks them once for each of these.
void Search::AddConjuncts(Scope* scope, const ArenaList<Expr>& exprs) {
  Compare(scope, exprs);
  std::vector<const Expr*> left;
  for (const Expr* expr : exprs) left.push_back(expr);
  while (!left.empty()) {
    const Expr* expr = left.back();
    left.pop_back();
    if (expr->kind == ExprKind::kAnd) {
      for (const Expr* arg : expr->args) left.push_back(arg);
      continue;
    }
    PinHidden(scope, expr);
    const Side side = Collect(scope, expr);
    if (side.outside || !side.own.empty()) Pin(side.columns);
    if (side.outside) Pin(side.own);
    // Of rows that the statement makes time series are ordinary: only keys.
    if (side.made) PinKeys(side.All());
  }
}

// A key that a condition reads otherwise than by a comparison or as it is: NOT (id - 7)::boolean.
void Search::PinHidden(Scope* scope, const Expr* conjunct) {
  std::vector<std::pair<const Expr*, int>> left = {{conjunct, 0}};
  while (!left.empty()) {
    const auto [expr, depth] = left.back();
    left.pop_back();
    if (expr->kind == ExprKind::kColumn) {
      if (depth > 1) PinKeys(Collect(scope, expr).All());
    } else if (expr->kind == ExprKind::kAnd || (expr->kind == ExprKind::kOther && expr->pins == Pins::kNothing &&
                                                expr->limit == nullptr && !expr->null_test)) {
      for (const Expr* arg : expr->args) left.emplace_back(arg, depth + 1);
    }
  }
}

// Takes in every comparison below some expressions.
void Search::Compare(Scope* scope, const ArenaList<Expr>& exprs) {
  std::vector<const Expr*> left;
  for (const Expr* expr : exprs) left.push_back(expr);
  while (!left.empty()) {
    const Expr* expr = left.back();
    left.pop_back();
    for (const ArenaList<Expr>* list : {&expr->args, &expr->order, &expr->filter})
      for (const Expr* arg : *list) left.push_back(arg);
    if (expr->kind == ExprKind::kEquality && expr->args.size == 2) {
      const Side left_side = Collect(scope, expr->args.first);
      const Side right_side = Collect(scope, expr->args.last);
      if (ReadOneRow(*expr->args.first, *expr->args.last)) {
        // What stands on both sides may cancel out: id + age = age + 7.
        PinKeys(left_side.All());
        PinKeys(right_side.All());
      } else {
        Equate(left_side, right_side);
      }
    } else if (expr->kind == ExprKind::kSubquery) {
      queries_.push_back(scopes_.ScopeOf(expr->subquery, scope));
      if (expr->use == SubqueryUse::kMember) CompareMembers(scope, *expr);
    } else if (expr->pins != Pins::kNothing) {
      const Side side = Collect(scope, expr->args);
      if (expr->pins == Pins::kColumn)
        Pin(side.All());
      else
        PinKeys(side.All());
    } else if (expr->limit != nullptr && !expr->args.empty()) {
      Bound(scope, *expr);
    }
  }
}

// (a, b) IN (SELECT x, y ...): each left side and output are equal. Of a query that picks rows the output is as good
// as a constant.
void Search::CompareMembers(Scope* scope, const Expr& expr) {
  Scope* inner = scopes_.ScopeOf(expr.subquery, scope);
  if (inner == nullptr) return;
  const bool picks = inner->query->limit || PicksRows(scopes_, inner);
  int index = 0;
  for (const Expr* left : expr.args) {
    Follower follower(scopes_);
    follower.AddOutput(inner, index++);
    Equate(Collect(scope, left), picks ? Side() : Collect(follower));
  }
}

void Search::Equate(const Side& left, const Side& right) {
  if (left.IsFixed()) Pin(right.own);
  if (right.IsFixed()) Pin(left.own);
  if (left.columns.empty() || right.columns.empty()) {
    Pin(left.columns);
    Pin(right.columns);
    return;
  }
  if (left.columns.size() > 1 || right.columns.size() > 1) return;
  const std::size_t root = RootOf(NodeOf(left.columns.front()));
  nodes_[RootOf(NodeOf(right.columns.front()))].parent = root;
}

// A range. What is not a bare column may be turned so that one side is enough: abs(id - 7) < 1.
void Search::Bound(Scope* scope, const Expr& expr) {
  const Side bounded = Collect(scope, expr.args.first);
  if (expr.args.size > 1 && !Collect(scope, expr.args.last).IsFixed()) return;
  const Expr* first = expr.args.first;
  while (first->cast && first->args.size == 1) first = first->args.first;
  if (first->kind != ExprKind::kColumn) PinKeys(bounded.All());
  for (const ItemColumn& column : bounded.All()) {
    Node& node = nodes_[NodeOf(column)];
    (expr.limit->lower ? node.lower : node.upper).push_back(expr.limit);
  }
}

void Search::PinKeys(const std::vector<ItemColumn>& columns) {
  for (const ItemColumn& column : columns)
    if (IsKey(column)) Pin({column});
}

Side Search::Collect(Scope* scope, const ArenaList<Expr>& exprs) {
  Follower follower(scopes_);
  follower.Add(scope, exprs);
  return Collect(follower);
}

Side Search::Collect(Scope* scope, const Expr* expr) {
  Follower follower(scopes_);
  follower.Add(scope, expr);
  return Collect(follower);
}

// Aggregates and window functions are no columns of a row, and the value of a subquery is one for all rows unless it
// reads one of them.
Side Search::Collect(Follower& follower) {
  Side side;
  for (Place place; follower.Next(&place);) {
    const auto [scope, expr] = place;
    if (scope == nullptr || expr->time_part != TimePart::kNone) continue;
    side.made = side.made || expr->rows;
    switch (expr->kind) {
      case ExprKind::kColumn:
      case ExprKind::kWholeRow: {
        const Item item = {Outer(scope, expr->levels_up), expr->range};
        const Range* range = RangeOf(item);
        if (range == nullptr) break;
        const bool whole = expr->kind == ExprKind::kWholeRow;
        if (range->relation == nullptr) {
          const Scope* inner = scopes_.QueryOf(item, *range);
          side.made = side.made || inner == nullptr || !inner->query->arms.empty();
          follower.Enter(item, *range, whole ? 0 : expr->column);
          break;
        }
        if (range->relation->catalog) {
          side.made = true;
          break;
        }
        if (IsOutside(item.scope)) {
          side.outside = true;
          break;
        }
        const int end = whole ? range->relation->columns.size : expr->column + 1;
        for (int i = whole ? 0 : expr->column; i < end && i >= 0; ++i)
          (range->relation->own ? side.own : side.columns).push_back({item, i});
        break;
      }
      case ExprKind::kSubquery:
        if (expr->use == SubqueryUse::kValue && expr->subquery != nullptr)
          follower.AddOutput(scopes_.ScopeOf(expr->subquery, scope), 0);
        break;
      case ExprKind::kEquality:
      case ExprKind::kAnd:
      case ExprKind::kOther:
        follower.Add(scope, expr->args);
        break;
      default:
        break;
    }
  }
  return side;
}

std::size_t Search::NodeOf(const ItemColumn& column) {
  const auto [place, is_new] = node_ids_.emplace(std::make_pair(column.item, column.column), nodes_.size());
  if (is_new) nodes_.push_back({column, nodes_.size(), false, {}, {}});
  return place->second;
}

std::size_t Search::RootOf(std::size_t node) {
  while (nodes_[node].parent != node) node = nodes_[node].parent = nodes_[nodes_[node].parent].parent;
  return node;
}

}  // namespace

bool LeavesOne(const Limit& lower, const Limit& upper) {
  if (lower.kind != upper.kind) return false;
  switch (lower.kind) {
    case Limit::kNumber: {
      const double first = lower.strict ? std::floor(lower.number) + 1 : std::ceil(lower.number);
      const double last = upper.strict ? std::ceil(upper.number) - 1 : std::floor(upper.number);
      // What is outside of both may be one value, too: NOT (x <= 6 OR x >= 8).
      return first == last || first - last == 2 || lower.number == upper.number;
    }
    case Limit::kText:
      return lower.hash == upper.hash;
    case Limit::kParameter:
      return lower.parameter == upper.parameter;
    case Limit::kUnknown:
      break;
  }
  return false;
}

bool PicksRows(Scopes& scopes, Scope* level) {
  const Query& query = *level->query;
  if (IsPicked(scopes, level, query.group_by, true) || IsPicked(scopes, level, query.conditions, false)) return true;
  std::unordered_set<const Query*> seen = {&query};
  std::vector<Scope*> stack = {level};
  while (!stack.empty()) {
    Scope* scope = stack.back();
    stack.pop_back();
    if (scope != level && scope->query->limit) return true;
    const auto push = [&](Scope* inner) {
      if (inner != nullptr && seen.insert(inner->query).second) stack.push_back(inner);
    };
    for (const Query* arm : scope->query->arms) push(scopes.ScopeOf(arm, scope));
    for (std::size_t i = 0; i < scope->ranges.size(); ++i) {
      if (scope->ranges[i]->sampled) return true;
      push(scopes.QueryOf({scope, static_cast<int>(i)}, *scope->ranges[i]));
    }
    if (scope != level && IsPicked(scopes, scope, scope->query->conditions, false)) return true;
  }
  return false;
}

std::vector<ItemColumn> FindCells(Scopes& scopes, Scope* level) { return Search(scopes, level).Run(); }

}  // namespace privacy_score
