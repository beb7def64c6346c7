/*
 * flow.cpp - the walk over a Statement that applies every rule of the abstraction.
 *
 * A column that is met in some context (projected, filtered, grouped, ...) is followed through subqueries, views and
 * WITH queries down to the base columns it comes from; an output that nobody uses is never visited. What a query does
 * besides returning rows (its relations, conditions, grouping, ordering) is taken once, when the query is executed.
 *
 * The walk keeps its own stack of tasks instead of recursing, so that no depth of nesting can overflow the C stack,
 * and remembers each (output, context) it has entered, so that it ends on recursive queries and takes time linear in
 * the statement however often views use one another. Tasks run in the order of the text (depth first).
 */
#include "core/statement/flow.hpp"

#include <algorithm>
#include <utility>

#include "core/base/sort_unique.hpp"
#include "core/statement/abstraction.hpp"
#include "core/statement/cells.hpp"
#include "core/statement/flow_walk.hpp"

namespace privacy_score {

// Runs tasks until none is left.
void Walk::Drain() {
  for (;;) {
    tasks_.insert(tasks_.end(), pushed_.rbegin(), pushed_.rend());
    pushed_.clear();
    if (tasks_.empty()) return;
    const Task task = tasks_.back();
    tasks_.pop_back();
    if (task.scope == nullptr) continue;
    switch (task.kind) {
      case Task::kExecute:
        Execute(task.scope);
        break;
      case Task::kFollow:
        Follow(task.scope, task.output, task.context);
        break;
      case Task::kVisit:
        VisitExpr(task.scope, *task.expr, task.context);
        break;
      case Task::kCondition:
        Condition(task.scope, *task.expr);
        break;
    }
  }
}

// What a query reads and writes besides its outputs; once.
void Walk::Execute(Scope* scope) {
  if (scope->executed) return;
  scope->executed = true;
  const Query& query = *scope->query;
  for (const Query* cte : scope->ctes)
    if (cte != nullptr && cte->command != Command::kSelect) PushExecute(scopes_.ScopeOf(cte, scope));
  for (const Query* arm : query.arms) PushExecute(scopes_.ScopeOf(arm, scope));
  for (std::size_t i = 0; i < scope->ranges.size(); ++i) {
    const Range& range = *scope->ranges[i];
    const Item item = {scope, static_cast<int>(i)};
    if (range.kind == RangeKind::kFunction) {
      function_ranges_.push_back(item);
      PushEstimated(scope, range.args, Mark::kFilter);
    }
    if (range.kind == RangeKind::kUnknown) unknown_items_ = true;
    if (range.kind == RangeKind::kRelation || range.kind == RangeKind::kUnknown) {
      if (range.relation != nullptr) EmitTable(*range.relation, item.range != query.target);
    } else if (Scope* inner = scopes_.QueryOf(item, range)) {
      PushExecute(inner);
    }
  }
  if (query.tells) PushTold(scope);
  if (query.chooses) PushChoices(scope);
  calls_ = calls_ || query.calls;
  if (query.distinct || query.many) {
    flow_.estimates_tell_more = true;
    if (explained_) PushFollow(scope, kAll, Of(Mark::kGroup));
  }
  if (query.distinct) counting_.push_back(scope);
  for (const Assignment* assignment : query.assignments) Assign(scope, *assignment);
  PushConditions(scope, query.conditions);
  PushVisits(scope, query.group_by, Of(Mark::kGroup));
  PushVisits(scope, query.having, Of(Mark::kFilter));
  PushVisits(scope, query.partition_by, Of(Mark::kGroup));
  PushOrder(scope, query.window_order_by);
  PushOrder(scope, query.order_by);
  if (query.limit) PushVisits(scope, query.order_by, Of(Mark::kLimit));
}

// A function that may write, notify or raise shows its arguments to whoever asks, wherever in the query it stands:
// under an aggregate, in ORDER BY, in an output that nobody uses. What it is given is projected.
void Walk::PushTold(Scope* scope) {
  for (const Expr* expr : ExpressionsOf(*scope->query))
    if (expr->tells) PushVisits(scope, expr->args, Of(Mark::kProjected));
}

// In what order rows come tells of each how it compares, not only with other rows, but with what stands in the key.
void Walk::PushOrder(Scope* scope, const ArenaList<Expr>& exprs) {
  PushVisits(scope, exprs, Of(Mark::kOrder));
  for (const Expr* expr : exprs)
    if (!scopes_.IsPlainKey(scope, *expr)) pushed_.push_back({Task::kVisit, scope, expr, kAll, Of(Mark::kOrderKey)});
}

// One output of a query, or all, flows into the context; of a set operation that output of every arm.
void Walk::Follow(Scope* scope, int output, Context context) {
  if (!Enter(scope->query, output, context)) return;
  if (context.only == kAnyItem) Enter(&scope->query->distinct, output, Of(context.mark));
  for (const Query* arm : scope->query->arms) PushFollow(scopes_.ScopeOf(arm, scope), output, context);
  if (!scope->query->arms.empty()) return;
  const auto index = static_cast<std::size_t>(output);
  if (output == kAll)
    PushVisits(scope, scope->query->outputs, context);
  else if (output >= 0 && index < scope->outputs.size())
    pushed_.push_back({Task::kVisit, scope, scope->outputs[index], kAll, context});
}

void Walk::VisitExpr(Scope* scope, const Expr& expr, Context context) {
  switch (expr.kind) {
    case ExprKind::kConstant:
      break;
    case ExprKind::kColumn:
      ShowOutside(Outer(scope, expr.levels_up), context);
      if (expr.column >= 0) FlowItem({Outer(scope, expr.levels_up), expr.range}, expr.column, context);
      break;
    case ExprKind::kWholeRow:
      ShowOutside(Outer(scope, expr.levels_up), context);
      FlowItem({Outer(scope, expr.levels_up), expr.range}, kAll, context);
      break;
    case ExprKind::kOutput:
      if (expr.column >= 0) PushFollow(scope, expr.column, context);
      break;
    case ExprKind::kAggregate:
    case ExprKind::kWindow:
      VisitFunction(scope, expr, context);
      break;
    case ExprKind::kSubquery:
      VisitSubquery(scope, expr, context);
      break;
    case ExprKind::kEquality:
    case ExprKind::kAnd:
    case ExprKind::kOther:
      if (expr.packs && context.mark == Mark::kUnderAggregate)
        if (Use& use = uses_[static_cast<std::size_t>(context.function)]; use.packs) use.shows = true;
      if (context.mark == Mark::kOwnGroup && expr.time_part == TimePart::kMonths) context.mark = Mark::kMonths;
      PushVisits(scope, expr.args, context);
      break;
  }
}

// A column of a row outside of the aggregate's level: the level is executed for each such row by itself.
void Walk::ShowOutside(const Scope* from, Context context) {
  if (context.mark != Mark::kUnderAggregate) return;
  Use& use = uses_[static_cast<std::size_t>(context.function)];
  if (use.hides && from != use.level && Encloses(from, use.level)) use.shows = true;
}

// An aggregate or window function: names itself with the columns under it and decides which of these flow on.
void Walk::VisitFunction(Scope* scope, const Expr& expr, Context context) {
  const bool ordered_set = IsOrderedSet(expr);
  const auto push_args = [&](Context inner) {
    PushVisits(scope, expr.args, inner);
    if (ordered_set) PushVisits(scope, expr.order, inner);
  };
  if (context.mark == Mark::kUnderAggregate) {
    push_args(context);
    return;
  }
  const bool hides = expr.kind == ExprKind::kAggregate && HidesColumns(expr.function);
  Scope* level = expr.kind == ExprKind::kAggregate ? Outer(scope, LevelsOut(expr)) : scope;
  if (level == nullptr) level = scope;
  Context inner = context;
  switch (context.mark) {
    case Mark::kProjected:
    case Mark::kGroup:
      if (!hides) break;
      inner.only = scopes_.CommonItems(context.only, scopes_.KeyedItems(level));
      if (inner.only == kNoItem) inner = Of(Mark::kNothing);
      break;
    case Mark::kFilter:
    case Mark::kOrderKey:
      if (hides) inner = Of(Mark::kNothing);
      // Its position picks a row as LIMIT does.
      if (expr.kind == ExprKind::kWindow) PushVisits(scope, scope->query->window_order_by, Of(Mark::kLimit));
      break;
    default:
      inner = Of(Mark::kNothing);
  }
  push_args(inner);
  const auto [id, is_first] = function_ids_.try_emplace(&expr, uses_.size());
  if (!is_first) {
    Use& use = uses_[id->second];
    use.exposed = use.exposed || context.mark != Mark::kNothing;
    return;
  }
  // The least and greatest are looked for among the values that are not NULL.
  if (expr.function == "min" || expr.function == "max") PushEstimated(scope, expr.args, Mark::kGroup);
  Context under = Of(Mark::kUnderAggregate);
  under.function = static_cast<int>(flow_.functions.size());
  flow_.functions.push_back({expr.function, {}});
  Use use;
  use.level = level;
  use.exposed = context.mark != Mark::kNothing;
  use.hides = hides;
  use.packs = hides && !OnlyCounts(expr.function);
  if (hides && !expr.args.empty()) {
    const auto [picks, is_new] = picks_rows_.try_emplace(level);
    if (is_new) picks->second = picks_rows_.size() > kMostCellLevels || PicksRows(scopes_, level);
    use.shows = picks->second;
  }
  uses_.push_back(std::move(use));
  push_args(under);
  PushOrder(scope, expr.order);
  PushVisits(scope, expr.filter, Of(Mark::kFilter));
}

void Walk::VisitSubquery(Scope* scope, const Expr& expr, Context context) {
  Scope* inner = scopes_.ScopeOf(expr.subquery, scope);
  if (expr.use == SubqueryUse::kMember && context.mark != Mark::kUnderAggregate) context = Of(Mark::kFilter);
  PushVisits(scope, expr.args, context);
  if (expr.use != SubqueryUse::kExists) PushFollow(inner, kAll, context);
  if (context.mark != Mark::kUnderAggregate) PushExecute(inner);
}

// One conjunct at the top of WHERE or ON.
void Walk::Condition(Scope* scope, const Expr& expr) {
  if (expr.kind == ExprKind::kAnd)
    PushConditions(scope, expr.args);
  else if (expr.kind == ExprKind::kEquality && scopes_.IsJoin(scope, expr))
    PushVisits(scope, expr.args, Of(Mark::kJoin));
  else
    VisitExpr(scope, expr, Of(Mark::kFilter));
}

// A column is written; what is copied into it is projected, but for the column itself.
void Walk::Assign(Scope* scope, const Assignment& assignment) {
  const Item target = {scope, scope->query->target};
  Context context = Of(Mark::kProjected);
  if (assignment.column >= 0) {
    FlowItem(target, assignment.column, Of(Mark::kWritten));
    context.except = static_cast<int>(own_values_.size());
    own_values_.push_back({target, assignment.column});
  }
  if (assignment.value != nullptr) pushed_.push_back({Task::kVisit, scope, assignment.value, kAll, context});
}

// A column of a FROM item, or all of them, flows into the context.
void Walk::FlowItem(Item item, int column, Context context) {
  const Range* range = RangeOf(item);
  if (range == nullptr) return;
  if (context.except != kNone) {
    const ItemColumn& own = own_values_[static_cast<std::size_t>(context.except)];
    if (own.item == item && own.column == column) return;
    // Other FROM items and WITH queries cannot see the target: one context serves all assignments.
    if (own.item.scope == item.scope && !(own.item == item)) context.except = kNone;
    if (range->kind == RangeKind::kCte && Encloses(Outer(item.scope, range->levels_up), own.item.scope))
      context.except = kNone;
  }
  switch (range->kind) {
    case RangeKind::kRelation:
    case RangeKind::kUnknown:
      if (range->relation != nullptr) EmitColumn(item, *range->relation, column, context);
      break;
    case RangeKind::kSubquery:
    case RangeKind::kCte:
      PushFollow(scopes_.QueryOf(item, *range), column, context);
      break;
    case RangeKind::kFunction:
      ranges_referenced_.insert(range);
      if (Enter(range, kAll, context)) PushVisits(item.scope, range->args, context);
      break;
    case RangeKind::kValues:
      if (!Enter(range, column, context)) break;
      if (column == kAll)
        PushVisits(item.scope, range->args, context);
      else if (const Expr* value = scopes_.ValuesOf(*range, column))
        pushed_.push_back({Task::kVisit, item.scope, value, kAll, context});
      break;
    case RangeKind::kExcluded:
      break;
  }
}

// Reading a copy is reading the tables that it was made from, even if none of its columns is named.
void Walk::EmitTable(const Relation& relation, bool read) {
  if (relation.catalog) {
    catalogs_ = true;
    return;
  }
  if (Enter(&relation, kAll, Of(Mark::kTable)))
    flow_.names[static_cast<std::size_t>(Mark::kTable)].push_back(NameOf(relation));
  if (!read || relation.origins == nullptr || relation.origins->describes) return;
  for (int i = 0; i < relation.columns.size; ++i)
    for (const Origin* origin : relation.origins->columns[i]) EmitTable(*origin->relation, false);
}

// A base column, or all of its relation, has arrived.
void Walk::EmitColumn(Item item, const Relation& relation, int column, Context context) {
  const Origins* origins = context.mark == Mark::kWritten ? nullptr : relation.origins;
  if (context.mark == Mark::kNothing || (relation.catalog && origins == nullptr)) return;
  if (!scopes_.Contains(context.only, item)) return;
  if (column == kAll && !Enter(item.scope->ranges[static_cast<std::size_t>(item.range)], kAll, context)) return;
  const int first = column == kAll ? 0 : column;
  const int end = std::min(column == kAll ? relation.columns.size : column + 1, relation.columns.size);
  const ItemColumn* own = context.except == kNone ? nullptr : &own_values_[static_cast<std::size_t>(context.except)];
  Context arrived = Of(context.mark);
  arrived.function = context.function;
  if (origins != nullptr && origins->describes) arrived = Of(Mark::kProjected);
  for (int i = first; i < end; ++i) {
    if (own != nullptr && own->item == item && own->column == i) continue;
    const bool comes_from_elsewhere = origins != nullptr && !origins->columns[i].empty();
    if (!comes_from_elsewhere) {
      if (!relation.catalog) EmitName(relation, i, arrived);
      continue;
    }
    for (const Origin* origin : origins->columns[i]) {
      EmitTable(*origin->relation, false);
      EmitName(*origin->relation, origin->column, arrived);
    }
  }
}

// Notes one base column under a mark; once.
void Walk::EmitName(const Relation& relation, int column, Context context) {
  if (!Enter(&relation, column, context)) return;
  if (context.mark == Mark::kProjected) projected_.push_back({&relation, column});
  std::string name = NameOf(relation, column);
  if (context.mark == Mark::kUnderAggregate) {
    flow_.functions[static_cast<std::size_t>(context.function)].columns.push_back(std::move(name));
    uses_[static_cast<std::size_t>(context.function)].columns.push_back({&relation, column});
  } else if (context.mark == Mark::kOwnGroup)
    own_groups_.push_back(std::move(name));
  else if (context.mark == Mark::kOrderKey)
    order_keys_.push_back(std::move(name));
  else
    flow_.names[static_cast<std::size_t>(context.mark)].push_back(std::move(name));
}

// The number of a temporary relation among those of the statement, in the order in which the walk comes to them; 0 of
// one that is named as it is called. Two nodes of one name are one relation.
std::size_t Walk::NumberOf(const Relation& relation) {
  if (!relation.temporary || temporary_names_ == TemporaryNames::kAsCalled) return 0;
  return temporary_numbers_.try_emplace(relation.name, temporary_numbers_.size() + 1).first->second;
}

std::string Walk::NameOf(const Relation& relation) {
  const std::size_t number = NumberOf(relation);
  return number == 0 ? std::string(relation.name) : TemporaryName(number);
}

std::string Walk::NameOf(const Relation& relation, int column) {
  if (const std::size_t number = NumberOf(relation); number != 0) return TemporaryColumnName(number, column);
  std::string name(relation.name);
  name += '.';
  name += ColumnNames(relation)[static_cast<std::size_t>(column)];
  return name;
}

const std::vector<std::string_view>& Walk::ColumnNames(const Relation& relation) {
  const auto [entry, is_new] = column_names_.try_emplace(&relation);
  if (is_new)
    for (const Column* column : relation.columns) entry->second.push_back(column->name);
  return entry->second;
}

Flow Walk::Run(const Query* query) {
  Scope* top = scopes_.ScopeOf(query, nullptr);
  const bool reads = query->command == Command::kSelect || query->command == Command::kCopy;
  if (reads) PushFollow(top, kAll, Of(Mark::kProjected));
  PushExecute(top);
  if (!reads) PushFollow(top, kAll, Of(Mark::kProjected));
  Drain();
  // A function in FROM sees its arguments even if nobody looks at its result.
  for (std::size_t i = 0; i < function_ranges_.size(); ++i) {
    const Item item = function_ranges_[i];
    if (ranges_referenced_.count(RangeOf(item)) == 0) FlowItem(item, kAll, Of(Mark::kProjected));
    Drain();
  }
  ShowNumbersOfRows();
  ShowArguments();
  ShowOrderKeys();
  AddCells();
  for (FunctionUse& use : flow_.functions) {
    SortUnique(use.columns);
  }
  const bool names_anything =
      std::any_of(flow_.names.begin(), flow_.names.end(), [](const auto& names) { return !names.empty(); });
  if (!names_anything && !unknown_items_) flow_.functions.clear();
  // What touches no relation takes a place only where it runs code that may.
  if (names_anything || unknown_items_ || (calls_ && !catalogs_)) flow_.command = CommandWord(query->command);
  return std::move(flow_);
}

std::vector<BaseColumn> Walk::RunOutput(const Query* query, int output) {
  PushFollow(scopes_.ScopeOf(query, nullptr), output, Of(Mark::kProjected));
  Drain();
  ShowArguments();
  return std::move(projected_);
}

std::vector<std::vector<BaseColumn>> FollowOutputs(const Statement& statement) {
  std::vector<std::vector<BaseColumn>> outputs;
  const Query* first = statement.query;
  while (first != nullptr && !first->arms.empty()) first = first->arms.first;
  for (int i = 0; first != nullptr && i < first->outputs.size; ++i)
    outputs.push_back(Walk(false).RunOutput(statement.query, i));
  return outputs;
}

Flow FollowColumns(const Statement& statement, TemporaryNames temporary) {
  if (statement.query == nullptr || statement.unparsed) return {};
  return Walk(statement.explained, temporary).Run(statement.query);
}

}  // namespace privacy_score
