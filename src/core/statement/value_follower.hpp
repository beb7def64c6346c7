/*
 * value_follower.hpp - a walk over what a value is made of: expressions and, where a column of a subquery or WITH query
 * is met, on into its output. No recursion: queries may be nested to any depth.
 */
#pragma once

#include <set>
#include <tuple>
#include <vector>

#include "core/statement/scope.hpp"

namespace privacy_score {

// An expression of a query. `within`: the subquery whose one value it is a part of. `input`: such a subquery reads it.
struct Place {
  Scope* scope = nullptr;
  const Expr* expr = nullptr;
  const Scope* within = nullptr;
  bool input = false;
};

class ValueFollower {
 public:
  explicit ValueFollower(Scopes& scopes) : scopes_(scopes) {}

  void Add(Scope* scope, const Expr* expr) { places_.push_back({scope, expr}); }
  void Add(Scope* scope, const ArenaList<Expr>& exprs) {
    for (const Expr* expr : exprs) Add(scope, expr);
  }
  // What a place is made of.
  void AddParts(const Place& place) {
    for (const Expr* arg : place.expr->args) places_.push_back({place.scope, arg, place.within, place.input});
  }
  // An output of a query, of a set operation that of every arm; each once.
  void AddOutput(Scope* scope, int column, const Scope* within = nullptr, bool input = false);
  // The value of a subquery in an expression; what it reads of the rows around it are inputs.
  void AddValue(const Place& place);
  // Goes on into what a column of an item that is no relation stands for; each once.
  void Enter(Item item, const Range& range, int column, bool input = false);

  // False when nothing is left.
  bool Next(Place* place);

 private:
  Scopes& scopes_;
  std::vector<Place> places_;
  std::set<std::tuple<const void*, int, bool>> entered_;
};

}  // namespace privacy_score
