/*
 * flow_rows.cpp - what a statement tells besides the values that it shows: aggregates over few rows, how many rows
 * come, in which order (see flow_walk.hpp).
 */
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "core/base/sort_unique.hpp"
#include "core/statement/cells.hpp"
#include "core/statement/flow_walk.hpp"

namespace privacy_score {

// What aggregates show of their arguments is projected.
void Walk::ShowArguments() {
  for (const Use& use : uses_)
    for (const BaseColumn& column : use.columns)
      if (use.exposed && use.shows) EmitName(*column.relation, column.column, Of(Mark::kProjected));
}

// Whether an output flows into one of these.
bool Walk::IsUsed(const Scope* scope, int output, std::initializer_list<Mark> marks) const {
  return std::any_of(marks.begin(), marks.end(), [&](Mark mark) {
    return entered_.count({&scope->query->distinct, output, Of(mark)}) > 0 ||
           entered_.count({&scope->query->distinct, kAll, Of(mark)}) > 0;
  });
}

// How many rows come tells of columns that nobody uses, too: a set operation tests them for membership, DISTINCT counts
// them. (What a function that returns a set is given it tells: Expr::tells.)
void Walk::ShowNumbersOfRows() {
  for (std::size_t i = 0; i < counting_.size(); ++i) {
    Scope* scope = counting_[i];
    const int width = scopes_.WidthOf(scope);
    if (!scope->query->arms.empty()) {
      for (int output = 0; output < width; ++output)
        if (!IsUsed(scope, output, {Mark::kProjected, Mark::kFilter, Mark::kGroup, Mark::kLimit}))
          PushFollow(scope, output, Of(Mark::kFilter));
      Drain();
      continue;
    }
    Context under = Of(Mark::kUnderAggregate);
    under.function = static_cast<int>(flow_.functions.size());
    flow_.functions.push_back({"count", {}});
    Use use;
    use.level = scope;
    use.exposed = use.hides = true;
    use.shows = PicksRows(scopes_, scope);
    uses_.push_back(std::move(use));
    for (int output = 0; output < width; ++output)
      if (!IsUsed(scope, output,
                  {Mark::kProjected, Mark::kFilter, Mark::kGroup, Mark::kLimit, Mark::kJoin, Mark::kUnderAggregate}))
        PushFollow(scope, output, under);
    Drain();
    if (!flow_.functions.back().columns.empty()) continue;
    flow_.functions.pop_back();
    uses_.pop_back();
  }
}

// Whether an expression reads an output of a subquery or view below that may be seen to be computed: the server may put
// it in the place of the column.
bool Walk::ReadsTold(Scope* scope, const Expr& expr) {
  std::vector<std::pair<Scope*, const Expr*>> left = {{scope, &expr}};
  std::set<const Expr*> seen;
  while (!left.empty()) {
    const auto [level, next] = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    for (const Expr* arg : next->args) left.emplace_back(level, arg);
    if (next->kind != ExprKind::kColumn) continue;
    const Item item = {Outer(level, next->levels_up), next->range};
    const Range* range = item.scope == nullptr ? nullptr : RangeOf(item);
    Scope* inner = range == nullptr ? nullptr : scopes_.QueryOf(item, *range);
    std::vector<Scope*> arms;
    if (inner != nullptr) arms.push_back(inner);
    while (!arms.empty()) {
      Scope* arm = arms.back();
      arms.pop_back();
      for (const Query* query : arm->query->arms) arms.push_back(scopes_.ScopeOf(query, arm));
      const auto index = static_cast<std::size_t>(next->column);
      if (next->column < 0 || index >= arm->outputs.size()) continue;
      if (arm->outputs[index]->varies) return true;
      left.emplace_back(arm, arm->outputs[index]);
    }
  }
  return false;
}

// What is evaluated under CASE, OR and the like depends on the others of their arguments. A function among these that
// may be seen to run, be it given nothing, shows what they say of one row after the other, also under an aggregate. In
// conditions they count anyway, all but what is under an aggregate there.
void Walk::PushChoices(Scope* scope) {
  std::vector<std::pair<const Expr*, bool>> left;  // and whether it is part of a condition
  const auto add = [&left](const ArenaList<Expr>& exprs, bool condition) {
    for (const Expr* expr : exprs) left.emplace_back(expr, condition);
  };
  const Query& query = *scope->query;
  for (const ArenaList<Expr>* exprs :
       {&query.outputs, &query.group_by, &query.partition_by, &query.order_by, &query.window_order_by})
    add(*exprs, false);
  for (const ArenaList<Expr>* exprs : {&query.conditions, &query.having}) add(*exprs, true);
  for (const Range* range : query.ranges) add(range->args, false);
  for (const Assignment* assignment : query.assignments)
    if (assignment->value != nullptr) left.emplace_back(assignment->value, false);
  while (!left.empty()) {
    const auto [expr, condition] = left.back();
    left.pop_back();
    if (expr->chooses && !condition && (expr->runs_told || ReadsTold(scope, *expr)))
      PushVisits(scope, expr->args, Of(Mark::kProjected));
    const bool aggregate = expr->kind == ExprKind::kAggregate || expr->kind == ExprKind::kWindow;
    add(expr->args, condition && !aggregate);
    add(expr->order, false);
    add(expr->filter, true);
  }
}

// An expression that is ordered by is a filter, but where its columns are revealed anyway.
void Walk::ShowOrderKeys() {
  for (std::string& name : order_keys_) {
    const auto has = [&](Mark mark) {
      const std::vector<std::string>& names = flow_.Names(mark);
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (has(Mark::kProjected) || has(Mark::kFilter) || has(Mark::kGroup) || has(Mark::kLimit)) continue;
    flow_.names[static_cast<std::size_t>(Mark::kFilter)].push_back(std::move(name));
  }
}

// Over how few rows the aggregates that hide columns may be taken: what names their cells, and which of the grouping
// columns do not.
void Walk::AddCells() {
  std::vector<Scope*> levels;
  for (const Use& use : uses_)
    if (use.exposed && use.hides && !use.columns.empty() && levels.size() < kMostCellLevels)
      levels.push_back(use.level);
  SortUnique(levels);
  if (levels.empty()) return;
  for (Scope* level : levels) {
    for (const ItemColumn& cell : FindCells(scopes_, level))
      EmitColumn(cell.item, *RangeOf(cell.item)->relation, cell.column, Of(Mark::kCell));
    PushVisits(level, level->query->group_by, Of(Mark::kOwnGroup));
    Drain();
  }
  SortUnique(own_groups_);
  const std::vector<std::string>& own = own_groups_;
  const auto is_own = [&](const std::string& name) { return std::binary_search(own.begin(), own.end(), name); };
  std::vector<std::string>& months = flow_.names[static_cast<std::size_t>(Mark::kMonths)];
  months.erase(std::remove_if(months.begin(), months.end(), is_own), months.end());
  std::vector<std::string>& nested = flow_.names[static_cast<std::size_t>(Mark::kNested)];
  for (const std::string& name : flow_.Names(Mark::kGroup))
    if (!is_own(name) && std::find(months.begin(), months.end(), name) == months.end()) nested.push_back(name);
}

}  // namespace privacy_score
