/*
 * value_follower.cpp - see value_follower.hpp.
 */
#include "core/statement/value_follower.hpp"

#include <cstddef>
#include <unordered_set>

namespace privacy_score {

bool ValueFollower::Next(Place* place) {
  if (places_.empty()) return false;
  *place = places_.back();
  places_.pop_back();
  return true;
}

void ValueFollower::AddOutput(Scope* scope, int column, const Scope* within, bool input) {
  std::vector<Scope*> stack = {scope};
  while (!stack.empty()) {
    Scope* at = stack.back();
    stack.pop_back();
    if (at == nullptr || !entered_.insert({at->query, column, input}).second) continue;
    for (const Query* arm : at->query->arms) stack.push_back(scopes_.ScopeOf(arm, at));
    const auto index = static_cast<std::size_t>(column);
    if (at->query->arms.empty() && column >= 0 && index < at->outputs.size())
      places_.push_back({at, at->outputs[index], within, input});
  }
}

void ValueFollower::AddValue(const Place& place) {
  Scope* value = scopes_.ScopeOf(place.expr->subquery, place.scope);
  AddOutput(value, 0, place.within != nullptr ? place.within : value, place.input);
  std::unordered_set<const Query*> seen;
  std::vector<Scope*> stack = {value};
  while (!stack.empty()) {
    Scope* at = stack.back();
    stack.pop_back();
    if (at == nullptr || !seen.insert(at->query).second) continue;
    for (const Query* arm : at->query->arms) stack.push_back(scopes_.ScopeOf(arm, at));
    for (std::size_t i = 0; i < at->ranges.size(); ++i)
      stack.push_back(scopes_.QueryOf({at, static_cast<int>(i)}, *at->ranges[i]));
    for (const Expr* expr : ExpressionsOf(*at->query)) {
      if (expr->kind == ExprKind::kSubquery) stack.push_back(scopes_.ScopeOf(expr->subquery, at));
      const bool reads = expr->kind == ExprKind::kColumn || expr->kind == ExprKind::kWholeRow;
      if (reads && expr->levels_up > 0 && Encloses(Outer(at, expr->levels_up), place.scope))
        places_.push_back({at, expr, place.within, true});
    }
  }
}

void ValueFollower::Enter(Item item, const Range& range, int column, bool input) {
  if (range.kind == RangeKind::kFunction) {
    if (!entered_.insert({&range, 0, input}).second) return;
    for (const Expr* arg : range.args) places_.push_back({item.scope, arg, nullptr, input});
  } else if (range.kind == RangeKind::kValues) {
    const Expr* value = scopes_.ValuesOf(range, column);
    if (value != nullptr && entered_.insert({&range, column, input}).second)
      places_.push_back({item.scope, value, nullptr, input});
  } else {
    AddOutput(scopes_.QueryOf(item, range), column, nullptr, input);
  }
}

}  // namespace privacy_score
