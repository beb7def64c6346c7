/*
 * flow_context.hpp - what the walk of flow.cpp goes by: where an expression flows to, and what has been entered.
 */
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_set>

#include <boost/functional/hash.hpp>

#include "core/statement/flow.hpp"
#include "core/statement/scope.hpp"

namespace privacy_score {

constexpr int kAll = -1;   // every column of an item, every output of a query
constexpr int kNone = -1;  // no assignment, no function

// Where an expression flows to.
struct Context {
  Mark mark = Mark::kNothing;
  int only = kAnyItem;   // a set of FROM items: columns of others are hidden by an aggregate
  int except = kNone;    // an assignment: its own column is not revealed by feeding itself
  int function = kNone;  // kUnderAggregate: which function

  friend bool operator==(const Context& a, const Context& b) {
    return a.mark == b.mark && a.only == b.only && a.except == b.except && a.function == b.function;
  }
};

constexpr Context Of(Mark mark) { return {mark, kAnyItem, kNone, kNone}; }

// A node that was entered in a context: a query's output, a range's column, a relation's column.
struct Visit {
  const void* node;
  int index;
  Context context;

  friend bool operator==(const Visit& a, const Visit& b) {
    return a.node == b.node && a.index == b.index && a.context == b.context;
  }
};

struct VisitHash {
  std::size_t operator()(const Visit& visit) const {
    std::size_t seed = 0;
    boost::hash_combine(seed, visit.node);
    boost::hash_combine(seed, visit.index);
    boost::hash_combine(seed, static_cast<int>(visit.context.mark));
    boost::hash_combine(seed, visit.context.only);
    boost::hash_combine(seed, visit.context.except);
    boost::hash_combine(seed, visit.context.function);
    return seed;
  }
};

// A step of the walk that is still to be done.
struct Task {
  enum Kind { kExecute, kFollow, kVisit, kCondition };
  Kind kind;
  Scope* scope;
  const Expr* expr;
  int output;
  Context context;
};

inline std::string_view CommandWord(Command command) {
  switch (command) {
    case Command::kSelect:
      return "select";
    case Command::kInsert:
      return "insert";
    case Command::kUpdate:
      return "update";
    case Command::kDelete:
      return "delete";
    case Command::kMerge:
      return "merge";
    case Command::kCopy:
      return "copy";
  }
  return "select";
}

// True for the aggregates whose WITHIN GROUP expressions are what they aggregate.
inline bool IsOrderedSet(const Expr& expr) {
  static const std::unordered_set<std::string_view> kOrderedSet = {
      "mode", "percentile_cont", "percentile_disc", "rank", "dense_rank", "percent_rank", "cume_dist"};
  return expr.kind == ExprKind::kAggregate && kOrderedSet.count(expr.function) > 0;
}

}  // namespace privacy_score
