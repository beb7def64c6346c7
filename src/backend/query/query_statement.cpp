/*
 * query_statement.cpp - the clauses of a Query level (see query_statement.hpp).
 *
 * What the user did not write is left out here: default and generated columns (the target list of a rewritten INSERT
 * holds them, the list of columns named by the user does not), conflict targets; row security and check options but for
 * those that read what others own (query_policies.cpp).
 */
#include "backend/query/query_statement.hpp"

#include <initializer_list>

#include "backend/catalog/catalog_arena.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/side_effect_functions.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/compat.hpp"

extern "C" {
#include "access/sysattr.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
}

namespace privacy_score {

namespace ps = privacy_score;

namespace {

// What an expression stands for that a grouped query keeps in a place of its own.
Node* Ungrouped(QueryScope* scope, Node* node) {
  const auto* var = reinterpret_cast<Var*>(node);
  if (!IsA(node, Var) || var->varlevelsup > 0) return node;
  Node* grouping = GroupByExpression(rt_fetch(var->varno, scope->query->rtable), var->varattno);
  return grouping != nullptr ? grouping : node;
}

// Every column has its place, so constants are kept here. Those of a subquery may be compared with columns outside.
void AddOutputs(QueryScope* scope, List* targets) {
  ListCell* cell;
  foreach (cell, targets) {
    auto* target = lfirst_node(TargetEntry, cell);
    if (target->resjunk) continue;
    auto* node = reinterpret_cast<Node*>(target->expr);
    ps::Expr* output = scope->parent == nullptr ? BuildExpr(scope, node) : BuildOperand(scope, node);
    output->varies = scope->parent != nullptr && ExpressionTells(Ungrouped(scope, node));
    scope->result->outputs.Add(output);
  }
}

// Adds what a list of SortGroupClause sorts or groups by.
void AddClauses(QueryScope* scope, ps::ArenaList<ps::Expr>* list, List* clauses) {
  ListCell* cell;
  foreach (cell, clauses) {
    TargetEntry* target = get_sortgroupclause_tle(lfirst_node(SortGroupClause, cell), scope->query->targetList);
    AddExpr(scope, list, reinterpret_cast<Node*>(target->expr));
  }
}

// What is grouped by. random() and its like are no columns, but make groups.
void AddGroups(QueryScope* scope, List* clauses) {
  ListCell* cell;
  foreach (cell, clauses) {
    TargetEntry* target = get_sortgroupclause_tle(lfirst_node(SortGroupClause, cell), scope->query->targetList);
    auto* node = reinterpret_cast<Node*>(target->expr);
    ps::Expr* expr = BuildExpr(scope, node);
    expr->varies = ExpressionTells(Ungrouped(scope, node));
    if (expr->kind != ps::ExprKind::kConstant || expr->varies) scope->result->group_by.Add(expr);
  }
}

// An array element or field that is assigned wraps the column's old value; the columns inside are the target's own.
void AddAssignments(QueryScope* scope, List* targets, Bitmapset* named) {
  const RangeSlot* slot = FindRange(scope, scope->query->resultRelation);
  scope->targets = targets;
  ListCell* cell;
  foreach (cell, targets) {
    auto* target = lfirst_node(TargetEntry, cell);
    if (target->resjunk || target->resno > slot->natts || slot->columns == nullptr) continue;
    if (!bms_is_member(target->resno - FirstLowInvalidHeapAttributeNumber, named)) continue;
    auto* assignment = scope->arena->New<ps::Assignment>();
    assignment->column = slot->columns[target->resno - 1];
    assignment->value = BuildExpr(scope, reinterpret_cast<Node*>(target->expr));
    scope->result->assignments.Add(assignment);
  }
}

// Columns that were named but have no expression: DEFAULT of a generated column.
void AddDefaults(QueryScope* scope, List* targets, Bitmapset* named) {
  const RangeSlot* slot = FindRange(scope, scope->query->resultRelation);
  for (int attno = 1; attno <= slot->natts; ++attno) {
    if (!bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, named)) continue;
    bool given = false;
    ListCell* cell;
    foreach (cell, targets) {
      auto* target = lfirst_node(TargetEntry, cell);
      if (!target->resjunk && target->resno == attno) given = true;
    }
    if (given) continue;
    auto* assignment = scope->arena->New<ps::Assignment>();
    assignment->column = slot->columns[attno - 1];
    scope->result->assignments.Add(assignment);
  }
}

void AddWrites(QueryScope* scope) {
  ::Query* query = scope->query;
  RangeTblEntry* target = rt_fetch(query->resultRelation, query->rtable);
  Bitmapset* inserted = InsertedColumns(query, target);
  Bitmapset* updated = UpdatedColumns(query, target);
  if (query->commandType == CMD_INSERT) {
    AddAssignments(scope, query->targetList, inserted);
    AddDefaults(scope, query->targetList, inserted);
  } else if (query->commandType == CMD_UPDATE) {
    AddAssignments(scope, query->targetList, updated);
    AddDefaults(scope, query->targetList, updated);
  }
  if (query->onConflict != nullptr && query->onConflict->action == ONCONFLICT_UPDATE) {
    AddAssignments(scope, query->onConflict->onConflictSet, updated);
    AddDefaults(scope, query->onConflict->onConflictSet, updated);
    AddExpr(scope, &scope->result->having, query->onConflict->onConflictWhere);
  }
  Bitmapset* either = bms_union(inserted, updated);
  ListCell* cell;
  foreach (cell, MergeActions(query)) {
    Node* condition;
    List* assignments;
    OpenMergeAction(static_cast<Node*>(lfirst(cell)), &condition, &assignments);
    AddExpr(scope, &scope->result->having, condition);
    AddAssignments(scope, assignments, either);
  }
}

// The leaves of a tree of set operations, left to right; each is a subquery of the level.
void AddArms(QueryScope* scope, Node* node) {
  check_stack_depth();
  if (IsA(node, RangeTblRef)) {
    RangeTblEntry* leaf = rt_fetch(reinterpret_cast<RangeTblRef*>(node)->rtindex, scope->query->rtable);
    scope->result->arms.Add(BuildQuery(scope->arena, leaf->subquery, scope));
    return;
  }
  auto* operation = castNode(SetOperationStmt, node);
  if (operation->op != SETOP_UNION || !operation->all) scope->result->distinct = true;
  AddArms(scope, operation->larg);
  AddArms(scope, operation->rarg);
}

// ORDER BY of a set operation names output columns.
void AddOutputOrder(QueryScope* scope) {
  ListCell* cell;
  foreach (cell, scope->query->sortClause) {
    TargetEntry* target = get_sortgroupclause_tle(lfirst_node(SortGroupClause, cell), scope->query->targetList);
    auto* expr = scope->arena->New<ps::Expr>();
    expr->kind = ps::ExprKind::kOutput;
    expr->column = target->resno - 1;
    scope->result->order_by.Add(expr);
  }
}

// Adds to what is told what some clauses compare, when comparing tells.
void AddToldClauses(QueryScope* scope, List* clauses) {
  ListCell* cell;
  foreach (cell, clauses) {
    const auto* clause = lfirst_node(SortGroupClause, cell);
    TargetEntry* target = get_sortgroupclause_tle(const_cast<SortGroupClause*>(clause), scope->query->targetList);
    AddTold(scope, clause, reinterpret_cast<Node*>(target->expr));
  }
}

void AddWindows(QueryScope* scope) {
  ListCell* cell;
  foreach (cell, scope->query->windowClause) {
    auto* window = lfirst_node(WindowClause, cell);
    AddClauses(scope, &scope->result->partition_by, window->partitionClause);
    AddClauses(scope, &scope->result->window_order_by, window->orderClause);
    AddToldClauses(scope, window->partitionClause);
    AddToldClauses(scope, window->orderClause);
    // Frames, like LIMIT, cannot read columns of their own level, but those of an outer one, and subqueries.
    AddExpr(scope, &scope->result->having, window->startOffset);
    AddExpr(scope, &scope->result->having, window->endOffset);
    // RANGE n PRECEDING compares values with one another.
    if ((window->frameOptions & FRAMEOPTION_RANGE) != 0 &&
        (window->startOffset != nullptr || window->endOffset != nullptr))
      AddClauses(scope, &scope->result->having, window->orderClause);
  }
}

// LIMIT ALL is a null constant and leaves all rows.
bool Cuts(Node* limit) {
  return limit != nullptr && !(IsA(limit, Const) && reinterpret_cast<Const*>(limit)->constisnull);
}

void BuildSetOperation(QueryScope* scope) {
  scope->slots = static_cast<RangeSlot*>(
      scope->arena->Allocate(sizeof(RangeSlot) * static_cast<size_t>(list_length(scope->query->rtable) + 1)));
  for (int i = 0; i <= list_length(scope->query->rtable); ++i) scope->slots[i] = {-1, nullptr, 0, nullptr, InvalidOid};
  FillRanges(scope);
  AddArms(scope, scope->query->setOperations);
  AddOutputOrder(scope);
}

void BuildLevel(QueryScope* scope) {
  ::Query* query = scope->query;
  AddRanges(scope);
  FillRanges(scope);
  if (query->commandType == CMD_SELECT) {
    AddOutputs(scope, query->targetList);
  } else {
    AddWrites(scope);
    AddCheckOptions(scope);
    AddOutputs(scope, query->returningList);
  }
  AddExpr(scope, &scope->result->having, query->havingQual);
  AddGroups(scope, query->groupClause);
  if (query->hasDistinctOn) AddGroups(scope, query->distinctClause);
  scope->result->distinct = query->distinctClause != NIL && !query->hasDistinctOn;
  scope->result->many = query->hasTargetSRFs;
  AddWindows(scope);
  AddClauses(scope, &scope->result->order_by, query->sortClause);
  for (List* clauses : {query->groupClause, query->distinctClause, query->sortClause}) AddToldClauses(scope, clauses);
}

}  // namespace

ps::Command CommandOf(CmdType type) {
  if (IsMerge(type)) return ps::Command::kMerge;
  switch (type) {
    case CMD_INSERT:
      return ps::Command::kInsert;
    case CMD_UPDATE:
      return ps::Command::kUpdate;
    case CMD_DELETE:
      return ps::Command::kDelete;
    default:
      return ps::Command::kSelect;
  }
}

ps::Query* BuildQuery(ps::Arena* arena, ::Query* query, QueryScope* parent, StoredViews* definition,
                      ValueRecipes* recipes) {
  check_stack_depth();
  auto* result = arena->New<ps::Query>();
  result->command = CommandOf(query->commandType);
  result->limit = Cuts(query->limitCount) || Cuts(query->limitOffset) || query->hasDistinctOn;
  QueryScope scope = {arena, query, result, nullptr, parent, NIL, definition, 0, 0, 0, recipes};
  if (parent != nullptr) {
    scope.definition = parent->definition;
    scope.recipes = parent->recipes;
    scope.place = parent->entering;
    parent->entering = 0;
  }
  if (query->setOperations != nullptr)
    BuildSetOperation(&scope);
  else
    BuildLevel(&scope);
  AddExpr(&scope, &result->having, query->limitCount);
  AddExpr(&scope, &result->having, query->limitOffset);
  return result;
}

ps::Query* TranslateDefinition(ps::Arena* arena, ::Query* query, Oid relid, List** views) {
  StoredViews definition = {list_make1_oid(relid), *views, 0};
  ps::Query* translated = BuildQuery(arena, query, nullptr, &definition);
  *views = definition.views;
  return translated;
}

ps::Statement QueryStatement(::Query* query, ValueRecipes* recipes) {
  ps::Statement statement;
  if (query->commandType == CMD_UTILITY || query->commandType == CMD_NOTHING) return statement;
  ForgetStaleRelations();
  BackendArena arena(CurrentMemoryContext);
  statement.query = BuildQuery(&arena, query, nullptr, nullptr, recipes);
  return statement;
}

}  // namespace privacy_score
