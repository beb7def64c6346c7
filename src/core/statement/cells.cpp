/*
 * cells.cpp - see cells.hpp. No recursion: queries may be nested to any depth.
 */
#include "core/statement/cells.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <unordered_set>
#include <utility>

#include "core/statement/column_classes.hpp"
#include "core/statement/value_follower.hpp"

namespace privacy_score {

namespace {

// Whether something below these expressions is picked by a window function, or with `by_chance` varies.
bool IsPicked(Scopes& scopes, Scope* scope, const ArenaList<Expr>& exprs, bool by_chance) {
  ValueFollower follower(scopes);
  follower.Add(scope, exprs);
  for (Place place; follower.Next(&place);) {
    const auto& [at, expr, within, input] = place;
    if (expr->kind == ExprKind::kWindow || (by_chance && expr->varies)) return true;
    if (expr->kind == ExprKind::kColumn) {
      const Item item = {Outer(at, expr->levels_up), expr->range};
      if (const Range* range = RangeOf(item)) follower.Enter(item, *range, expr->column);
    } else if (expr->kind == ExprKind::kSubquery) {
      if (by_chance && expr->subquery != nullptr) follower.AddOutput(scopes.ScopeOf(expr->subquery, at), 0);
    } else if (expr->kind != ExprKind::kAggregate) {
      follower.AddParts(place);
    }
  }
  return false;
}

// What one side of a comparison is made of.
struct Side {
  std::vector<ItemColumn> columns;
  std::vector<ItemColumn> own;     // of relations that the role owns: they are as good as constants to the others
  std::vector<ItemColumn> inputs;  // read by subqueries whose values it is made of
  bool outside = false;            // columns of a row outside of the level
  bool made = false;               // columns of rows that no relation has: of functions, VALUES, catalogs
  bool IsFixed() const { return columns.empty() && own.empty(); }
  std::vector<ItemColumn> All() const {
    std::vector<ItemColumn> all = columns;
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }
};

class CellSearch {
 public:
  CellSearch(Scopes& scopes, Scope* level) : scopes_(scopes), level_(level) {}

  std::vector<ItemColumn> Run();

 private:
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
  Side Collect(ValueFollower& follower);
  bool IsOutside(const Scope* scope) const { return scope != level_ && Encloses(scope, level_); }

  Scopes& scopes_;
  Scope* level_;
  std::unordered_set<const Query*> seen_;
  std::vector<Scope*> queries_;
  ColumnClasses classes_;
};

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

std::vector<ItemColumn> CellSearch::Run() {
  queries_.push_back(level_);
  while (!queries_.empty()) {
    Scope* scope = queries_.back();
    queries_.pop_back();
    if (scope != nullptr && seen_.insert(scope->query).second) AddQuery(scope);
  }
  const Side groups = Collect(level_, level_->query->group_by);
  classes_.Group(groups.All());
  classes_.Pin(groups.inputs);
  return classes_.Naming();
}

// What feeds a level: its own conditions, and the levels below.
void CellSearch::AddQuery(Scope* scope) {
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
void CellSearch::AddAggregates(Scope* scope) {
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
void CellSearch::AddConjuncts(Scope* scope, const ArenaList<Expr>& exprs) {
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
    if (side.outside || !side.own.empty()) classes_.Pin(side.columns);
    if (side.outside) classes_.Pin(side.own);
    // Of rows that the statement makes time series are ordinary: only keys.
    if (side.made) classes_.PinKeys(side.All());
    if (expr->kind == ExprKind::kEquality) continue;
    std::vector<ItemColumn> joined = side.columns;
    joined.insert(joined.end(), side.inputs.begin(), side.inputs.end());
    classes_.JoinByRange(std::move(joined));
  }
}

// A key that a condition reads otherwise than by a comparison or as it is: NOT (id - 7)::boolean.
void CellSearch::PinHidden(Scope* scope, const Expr* conjunct) {
  std::vector<std::pair<const Expr*, int>> left = {{conjunct, 0}};
  while (!left.empty()) {
    const auto [expr, depth] = left.back();
    left.pop_back();
    if (expr->kind == ExprKind::kColumn) {
      if (depth > 1) classes_.PinKeys(Collect(scope, expr).All());
    } else if (expr->kind == ExprKind::kAnd || (expr->kind == ExprKind::kOther && expr->pins == Pins::kNothing &&
                                                expr->limit == nullptr && !expr->null_test)) {
      for (const Expr* arg : expr->args) left.emplace_back(arg, depth + 1);
    }
  }
}

// Takes in every comparison below some expressions.
void CellSearch::Compare(Scope* scope, const ArenaList<Expr>& exprs) {
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
        classes_.PinKeys(left_side.All());
        classes_.PinKeys(right_side.All());
      } else {
        Equate(left_side, right_side);
      }
    } else if (expr->kind == ExprKind::kSubquery) {
      queries_.push_back(scopes_.ScopeOf(expr->subquery, scope));
      if (expr->use == SubqueryUse::kMember) CompareMembers(scope, *expr);
    } else if (expr->pins != Pins::kNothing) {
      const Side side = Collect(scope, expr->args);
      if (expr->pins == Pins::kColumn) {
        classes_.Pin(side.All());
        classes_.Pin(side.inputs);
      } else {
        classes_.PinKeys(side.All());
      }
    } else if (expr->limit != nullptr && !expr->args.empty()) {
      Bound(scope, *expr);
    }
  }
}

// (a, b) IN (SELECT x, y ...): each left side and output are equal. Of a query that picks rows the output is as good
// as a constant.
void CellSearch::CompareMembers(Scope* scope, const Expr& expr) {
  Scope* inner = scopes_.ScopeOf(expr.subquery, scope);
  if (inner == nullptr) return;
  const bool picks = inner->query->limit || PicksRows(scopes_, inner);
  int index = 0;
  for (const Expr* left : expr.args) {
    ValueFollower follower(scopes_);
    follower.AddOutput(inner, index++);
    Equate(Collect(scope, left), picks ? Side() : Collect(follower));
  }
}

void CellSearch::Equate(const Side& left, const Side& right) {
  if (left.IsFixed()) classes_.Pin(right.own);
  if (right.IsFixed()) classes_.Pin(left.own);
  if (left.IsFixed() && left.inputs.empty()) classes_.Pin(right.inputs);
  if (right.IsFixed() && right.inputs.empty()) classes_.Pin(left.inputs);
  if (left.columns.empty() || right.columns.empty()) {
    classes_.Pin(left.columns);
    classes_.Pin(right.columns);
    return;
  }
  if (left.columns.size() > 1 || right.columns.size() > 1) return;
  classes_.Equate(left.columns.front(), right.columns.front());
}

// A range. What is not a bare column may be turned so that one side is enough: abs(id - 7) < 1.
void CellSearch::Bound(Scope* scope, const Expr& expr) {
  const Expr* first = expr.args.first;
  const Expr* end = expr.args.size > 1 ? expr.args.last : nullptr;
  if (end != nullptr && !ReadsRow(*first)) std::swap(first, end);
  const Side bounded = Collect(scope, first);
  if (end != nullptr && !Collect(scope, end).IsFixed()) return;
  while (first->cast && first->args.size == 1) first = first->args.first;
  if (first->kind != ExprKind::kColumn) classes_.PinKeys(bounded.All());
  for (const ItemColumn& column : bounded.All()) classes_.Bound(column, expr.limit);
}

Side CellSearch::Collect(Scope* scope, const ArenaList<Expr>& exprs) {
  ValueFollower follower(scopes_);
  follower.Add(scope, exprs);
  return Collect(follower);
}

Side CellSearch::Collect(Scope* scope, const Expr* expr) {
  ValueFollower follower(scopes_);
  follower.Add(scope, expr);
  return Collect(follower);
}

// Aggregates and window functions are no columns of a row. The value of a subquery is one for all rows unless it reads
// one of them, so what stands in its own FROM is no column either.
Side CellSearch::Collect(ValueFollower& follower) {
  Side side;
  for (Place place; follower.Next(&place);) {
    const auto& [scope, expr, within, input] = place;
    if (scope == nullptr || expr->time_part != TimePart::kNone) continue;
    side.made = side.made || expr->rows;
    switch (expr->kind) {
      case ExprKind::kColumn:
      case ExprKind::kWholeRow: {
        const Item item = {Outer(scope, expr->levels_up), expr->range};
        const Range* range = RangeOf(item);
        if (range == nullptr || (within != nullptr && Encloses(within, item.scope))) break;
        const bool whole = expr->kind == ExprKind::kWholeRow;
        if (range->relation == nullptr) {
          const Scope* inner = scopes_.QueryOf(item, *range);
          side.made = side.made || inner == nullptr || !inner->query->arms.empty();
          follower.Enter(item, *range, whole ? 0 : expr->column, input);
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
        std::vector<ItemColumn>& columns = input ? side.inputs : range->relation->own ? side.own : side.columns;
        for (int i = whole ? 0 : expr->column; i < end && i >= 0; ++i) columns.push_back({item, i});
        break;
      }
      case ExprKind::kSubquery:
        if (expr->use == SubqueryUse::kValue && expr->subquery != nullptr) follower.AddValue(place);
        break;
      case ExprKind::kEquality:
      case ExprKind::kAnd:
      case ExprKind::kOther:
        follower.AddParts(place);
        break;
      default:
        break;
    }
  }
  return side;
}

}  // namespace

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

std::vector<ItemColumn> FindCells(Scopes& scopes, Scope* level) { return CellSearch(scopes, level).Run(); }

}  // namespace privacy_score
