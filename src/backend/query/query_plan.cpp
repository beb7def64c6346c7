/*
 * query_plan.cpp - statements of which no Query is at hand: COPY of a table, and plans that were made unwatched.
 */
#include "backend/query/query_statement.hpp"

#include "backend/catalog/catalog_arena.hpp"
#include "backend/catalog/catalog_heirs.hpp"
#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/query/described_columns.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/compat.hpp"

extern "C" {
#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
}

namespace privacy_score {

namespace ps = privacy_score;

namespace {

// Adds a relation as the next range.
int AddRelation(ps::Arena* arena, ps::Query* query, const ResolvedRelation& resolved) {
  auto* range = arena->New<ps::Range>();
  range->relation = NewRelation(arena, resolved.root);
  query->ranges.Add(range);
  return query->ranges.size - 1;
}

void AddPlanColumn(ps::Arena* arena, ps::ArenaList<ps::Expr>* list, int range, int column) {
  if (column < 0) return;
  auto* expr = arena->New<ps::Expr>();
  expr->kind = ps::ExprKind::kColumn;
  expr->range = range;
  expr->column = column;
  list->Add(expr);
}

bool ContainsColumn(Bitmapset* columns, int attno) {
  return bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, columns);
}

// Adds one entry of a plan's range table, with what it reads to `read_columns` of the query.
void AddPlanned(ps::Arena* arena, ps::Query* query, ps::ArenaList<ps::Expr>* read_columns, const PlannedStmt* plan,
                RangeTblEntry* rte, bool is_target) {
  const ResolvedRelation resolved = ResolveRelation(rte->relid);
  // A view is there for its permissions only; what is under it has entries of its own.
  if (resolved.self == nullptr || resolved.self->kind == RELKIND_VIEW) return;
  const int range = AddRelation(arena, query, resolved);
  if (ReadsChildren(rte, resolved.self)) AddHeirs(arena, query->ranges.last->relation, resolved.self);
  if (DescribesColumns(rte->relid))
    DescribeAll(arena, rte->relid, query->ranges.last->relation, !OidIsValid(PlannedCheckAsUser(plan, rte)));
  if (is_target && query->target < 0) query->target = range;
  if (rte->rtekind == RTE_NAMEDTUPLESTORE) {
    // Which of its columns are read, such an entry does not say.
    for (int i = 0; i < resolved.self->natts; ++i) AddPlanColumn(arena, read_columns, range, resolved.columns[i]);
    return;
  }
  Bitmapset* read = nullptr;
  Bitmapset* inserted = nullptr;
  Bitmapset* updated = nullptr;
  if (!PlannedColumns(plan, rte, &read, &inserted, &updated)) return;
  const bool row = ContainsColumn(read, 0);
  for (int attno = 1; attno <= resolved.self->natts; ++attno) {
    if (row || ContainsColumn(read, attno)) AddPlanColumn(arena, read_columns, range, resolved.columns[attno - 1]);
    if (query->target != range || (!ContainsColumn(inserted, attno) && !ContainsColumn(updated, attno))) continue;
    auto* assignment = arena->New<ps::Assignment>();
    assignment->column = resolved.columns[attno - 1];
    query->assignments.Add(assignment);
  }
}

// A query on one relation; none when it does not exist.
struct OneRelation {
  ResolvedRelation resolved;
  ps::Query* query;
  int range;
};

OneRelation QueryOn(ps::Arena* arena, ps::Command command, Oid relid) {
  ForgetStaleRelations();
  OneRelation on = {ResolveRelation(relid), nullptr, 0};
  if (on.resolved.self == nullptr) return on;
  on.query = arena->New<ps::Query>();
  on.query->command = command;
  on.range = AddRelation(arena, on.query, on.resolved);
  return on;
}

}  // namespace

ps::Statement RowsStatement(ps::Command command, Oid relid, List* columns) {
  ps::Statement statement;
  BackendArena arena(CurrentMemoryContext);
  const auto [resolved, query, range] = QueryOn(&arena, command, relid);
  if (query == nullptr) return statement;
  if (columns == NIL)
    for (int i = 0; i < resolved.self->natts; ++i) AddPlanColumn(&arena, &query->outputs, range, resolved.columns[i]);
  ListCell* cell;
  foreach (cell, columns) {
    const int attno = get_attnum(relid, strVal(lfirst(cell)));
    if (attno > 0 && attno <= resolved.self->natts)
      AddPlanColumn(&arena, &query->outputs, range, resolved.columns[attno - 1]);
  }
  statement.query = query;
  return statement;
}

ps::Statement KeyStatement(ps::Command command, const TriedKey& key) {
  ps::Statement statement;
  BackendArena arena(CurrentMemoryContext);
  const auto [resolved, query, range] = QueryOn(&arena, command, key.relid);
  if (query == nullptr) return statement;
  // A row goes to one of the partitions, nobody knows to which.
  if (resolved.self->kind == RELKIND_PARTITIONED_TABLE) AddHeirs(&arena, query->ranges.last->relation, resolved.self);
  const int size = list_length(key.columns);
  for (int i = 0; i < size * Max(key.value_count, 1); ++i) {
    const int attno = list_nth_int(key.columns, i % size);
    if (attno <= 0 || attno > resolved.self->natts || resolved.columns[attno - 1] < 0) continue;
    if (key.shown && i < size) AddPlanColumn(&arena, &query->outputs, range, resolved.columns[attno - 1]);
    auto* equality = arena.New<ps::Expr>();
    equality->kind = ps::ExprKind::kEquality;
    AddPlanColumn(&arena, &equality->args, range, resolved.columns[attno - 1]);
    auto* constant = arena.New<ps::Expr>();
    if (key.value_count > 0) {
      auto* value = arena.New<ps::Value>();
      value->hash = key.hashes[i];
      constant->values.Add(value);
    }
    equality->args.Add(constant);
    query->conditions.Add(equality);
  }
  statement.query = query;
  return statement;
}

ps::Statement EverythingStatement() {
  ForgetStaleRelations();
  BackendArena arena(CurrentMemoryContext);
  auto* query = arena.New<ps::Query>();
  auto* range = arena.New<ps::Range>();
  range->relation = arena.New<ps::Relation>();
  range->relation->catalog = true;
  range->relation->columns.Add(arena.New<ps::Column>());
  DescribeAll(&arena, StatisticRelationId, range->relation, true);
  query->ranges.Add(range);
  AddPlanColumn(&arena, &query->outputs, 0, 0);
  ps::Statement statement;
  statement.query = query;
  return statement;
}

namespace {

ps::Statement StatementOfPlan(const PlannedStmt* plan, ps::ArenaList<ps::Expr> ps::Query::*read_columns) {
  ps::Statement statement;
  if (plan->commandType == CMD_UTILITY) return statement;
  ForgetStaleRelations();
  BackendArena arena(CurrentMemoryContext);
  auto* query = arena.New<ps::Query>();
  query->command = CommandOf(plan->commandType);
  int index = 0;
  ListCell* cell;
  foreach (cell, plan->rtable) {
    auto* rte = lfirst_node(RangeTblEntry, cell);
    ++index;
    if (rte->rtekind != RTE_RELATION && rte->rtekind != RTE_NAMEDTUPLESTORE) continue;
    AddPlanned(&arena, query, &(query->*read_columns), plan, rte, list_member_int(plan->resultRelations, index));
  }
  statement.query = query;
  return statement;
}

}  // namespace

ps::Statement PlanStatement(const PlannedStmt* plan) { return StatementOfPlan(plan, &ps::Query::outputs); }

ps::Statement PlanEstimates(const PlannedStmt* plan) {
  ps::Statement statement = StatementOfPlan(plan, &ps::Query::conditions);
  statement.explained = true;
  return statement;
}

}  // namespace privacy_score
