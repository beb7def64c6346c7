/*
 * statement_builder.hpp - Statements built by hand, for the unit tests of the abstraction.
 */
#pragma once

#include <initializer_list>
#include <string_view>

#include "core/statement/abstraction.hpp"

namespace privacy_score {

using Exprs = std::initializer_list<Expr*>;

class Builder {
 public:
  Relation* Table(std::string_view name, std::initializer_list<std::string_view> columns,
                  std::initializer_list<int> key = {}) {
    auto* relation = arena_.New<Relation>();
    relation->name = arena_.Copy(name);
    for (const std::string_view column : columns) {
      auto* node = arena_.New<Column>();
      node->name = arena_.Copy(column);
      relation->columns.Add(node);
    }
    if (key.size() > 0) AddKey(relation, key);
    return relation;
  }
  void AddKey(Relation* relation, std::initializer_list<int> columns) {
    auto* key = arena_.New<Key>();
    int* indexes = static_cast<int*>(arena_.Allocate(columns.size() * sizeof(int)));
    key->columns = indexes;
    key->size = static_cast<int>(columns.size());
    for (const int column : columns) *indexes++ = column;
    relation->keys.Add(key);
  }
  // Says that column `column` of a copy comes from a column of `origin`; of a catalog, that it describes it.
  void Copied(Relation* copy, int column, const Relation* origin, int origin_column, bool describes = false) {
    if (copy->origins == nullptr) {
      const auto count = static_cast<std::size_t>(copy->columns.size);
      auto* lists = static_cast<ArenaList<Origin>*>(arena_.Allocate(count * sizeof(ArenaList<Origin>)));
      for (std::size_t i = 0; i < count; ++i) new (&lists[i]) ArenaList<Origin>();
      auto* origins = arena_.New<Origins>();
      origins->columns = lists;
      origins->describes = describes;
      copy->origins = origins;
    }
    auto* node = arena_.New<Origin>();
    node->relation = origin;
    node->column = origin_column;
    const_cast<ArenaList<Origin>&>(copy->origins->columns[column]).Add(node);
  }

  // Queries and FROM items.
  Query* Select(Exprs outputs = {}) {
    auto* query = arena_.New<Query>();
    Add(query->outputs, outputs);
    return query;
  }
  Query* Union(std::initializer_list<Query*> arms) {
    auto* query = arena_.New<Query>();
    for (Query* arm : arms) query->arms.Add(arm);
    return query;
  }
  Query* Write(Command command, Relation* target) {
    auto* query = arena_.New<Query>();
    query->command = command;
    query->target = From(query, target);
    return query;
  }
  int From(Query* query, Relation* relation) {
    Range* range = AddRange(query, RangeKind::kRelation);
    range->relation = relation;
    return query->ranges.size - 1;
  }
  int From(Query* query, Query* subquery) {
    AddRange(query, RangeKind::kSubquery)->subquery = subquery;
    return query->ranges.size - 1;
  }
  int FromCte(Query* query, int cte, int levels_up = 0) {
    Range* range = AddRange(query, RangeKind::kCte);
    range->cte = cte;
    range->levels_up = levels_up;
    return query->ranges.size - 1;
  }
  // kFunction, kValues, kExcluded, kUnknown.
  int From(Query* query, RangeKind kind, Exprs args = {}) {
    Add(AddRange(query, kind)->args, args);
    return query->ranges.size - 1;
  }
  void With(Query* query, Query* cte_query) {
    auto* cte = arena_.New<Cte>();
    cte->query = cte_query;
    query->ctes.Add(cte);
  }
  void Assign(Query* query, int column, Expr* value) {
    auto* assignment = arena_.New<Assignment>();
    assignment->column = column;
    assignment->value = value;
    query->assignments.Add(assignment);
  }

  // Expressions. Each may stand in one list only.
  Expr* Col(int range, int column, int levels_up = 0) {
    Expr* expr = Make(ExprKind::kColumn, {});
    expr->range = range;
    expr->column = column;
    expr->levels_up = levels_up;
    return expr;
  }
  Expr* Row(int range, int levels_up = 0) {
    Expr* expr = Col(range, -1, levels_up);
    expr->kind = ExprKind::kWholeRow;
    return expr;
  }
  Expr* Output(int column) {
    Expr* expr = Make(ExprKind::kOutput, {});
    expr->column = column;
    return expr;
  }
  // Constants with values: known by their hash, or given by a parameter.
  Value* Known(std::uint64_t hash) {
    auto* value = arena_.New<Value>();
    value->hash = hash;
    return value;
  }
  Value* Given(int parameter, bool elements = false) {
    auto* value = arena_.New<Value>();
    int* number = static_cast<int*>(arena_.Allocate(sizeof(int)));
    *number = parameter;
    value->parameters = number;
    value->parameter_count = 1;
    value->elements = elements;
    return value;
  }
  Expr* Constant(std::initializer_list<Value*> values) {
    Expr* expr = Constant();
    for (Value* value : values) expr->values.Add(value);
    return expr;
  }
  // column IN (values)
  Expr* In(Expr* column, std::initializer_list<Value*> values) {
    Expr* expr = Op({column});
    for (Value* value : values) expr->values.Add(value);
    expr->compares = true;
    return expr;
  }
  Expr* Cast(Expr* arg) {
    Expr* expr = Op({arg});
    expr->cast = true;
    return expr;
  }
  Expr* Constant() { return Make(ExprKind::kConstant, {}); }
  Expr* Op(Exprs args) { return Make(ExprKind::kOther, args); }
  Expr* Equal(Expr* left, Expr* right) { return Make(ExprKind::kEquality, {left, right}); }
  Expr* And(Exprs args) { return Make(ExprKind::kAnd, args); }
  Expr* Aggregate(std::string_view name, Exprs args = {}) {
    Expr* expr = Make(ExprKind::kAggregate, args);
    expr->function = arena_.Copy(name);
    return expr;
  }
  Expr* Window(std::string_view name, Exprs args = {}) {
    Expr* expr = Aggregate(name, args);
    expr->kind = ExprKind::kWindow;
    return expr;
  }
  Expr* Sub(Query* query, SubqueryUse use = SubqueryUse::kValue, Exprs args = {}) {
    Expr* expr = Make(ExprKind::kSubquery, args);
    expr->subquery = query;
    expr->use = use;
    return expr;
  }

  static Tokens Of(Query* query) { return Abstract({query, false}); }
  static std::string Poster(Query* query) { return PosterForm({query, false}); }

 private:
  static void Add(ArenaList<Expr>& list, Exprs exprs) {
    for (Expr* expr : exprs) list.Add(expr);
  }
  Expr* Make(ExprKind kind, Exprs args) {
    auto* expr = arena_.New<Expr>();
    expr->kind = kind;
    Add(expr->args, args);
    return expr;
  }
  Range* AddRange(Query* query, RangeKind kind) {
    auto* range = arena_.New<Range>();
    range->kind = kind;
    query->ranges.Add(range);
    return range;
  }

  HeapArena arena_;
};

}  // namespace privacy_score
