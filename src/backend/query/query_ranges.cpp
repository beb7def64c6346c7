/*
 * query_ranges.cpp - FROM items, targets and WITH queries of a Query as ranges of core.
 *
 * A range table also holds what nobody reads (the view that was replaced, OLD and NEW of a rule, joins), so ranges are
 * what the join tree names, the target and EXCLUDED. First all ranges of a level get their places, then they are
 * filled: a LATERAL item or a correlated subquery may refer to any of them.
 */
#include "backend/catalog/catalog_heirs.hpp"
#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/side_effect_functions.hpp"
#include "backend/query/described_columns.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/compat.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace privacy_score {

namespace ps = privacy_score;

namespace {

void AddRelationRange(QueryScope* scope, int rtindex, ps::Range* range, RangeSlot* slot) {
  const RangeTblEntry* rte = rt_fetch(rtindex, scope->query->rtable);
  const ResolvedRelation resolved = ResolveRelation(rte->relid);
  if (resolved.self == nullptr) {
    range->kind = ps::RangeKind::kUnknown;
    return;
  }
  range->kind = ps::RangeKind::kRelation;
  range->relation = NewRelation(scope->arena, resolved.root, scope->definition == nullptr);
  // What a stored query will show of children is asked when it is known which there are (catalog_lineage.cpp).
  if (scope->definition == nullptr && ReadsChildren(rte, resolved.self))
    AddHeirs(scope->arena, range->relation, resolved.self);
  if (DescribesColumns(rte->relid)) DescribeRange(scope, rtindex, range->relation);
  slot->columns = resolved.columns;
  slot->natts = resolved.self->natts;
}

ps::RangeKind KindOf(const RangeTblEntry* rte) {
  switch (rte->rtekind) {
    case RTE_SUBQUERY:
      return ps::RangeKind::kSubquery;
    case RTE_CTE:
      return ps::RangeKind::kCte;
    case RTE_FUNCTION:
    case RTE_TABLEFUNC:
      return ps::RangeKind::kFunction;
    case RTE_VALUES:
      return ps::RangeKind::kValues;
    default:
      return ps::RangeKind::kUnknown;
  }
}

// The body of a set-returning SQL function that the planner will inline: its tables never meet the executor as a
// statement of their own. Null when the call stays a call. Asks the planner's own rule, which needs no more of a
// PlannerInfo than a place to note dependencies.
::Query* InlinedFunction(const RangeTblEntry* rte) {
  if (list_length(rte->functions) != 1) return nullptr;
  auto* expression = linitial_node(RangeTblFunction, rte->functions)->funcexpr;
  if (!IsA(expression, FuncExpr)) return nullptr;
  HeapTuple function = SearchSysCache1(PROCOID, ObjectIdGetDatum(reinterpret_cast<FuncExpr*>(expression)->funcid));
  if (!HeapTupleIsValid(function)) return nullptr;
  ::Query* body = nullptr;
  if (reinterpret_cast<Form_pg_proc>(GETSTRUCT(function))->prolang == SQLlanguageId) {
    auto* copy = static_cast<RangeTblEntry*>(copyObjectImpl(rte));
    auto* call = reinterpret_cast<FuncExpr*>(linitial_node(RangeTblFunction, copy->functions)->funcexpr);
    call->args = expand_function_arguments(call->args, false, call->funcresulttype, function);
    PlannerInfo* root = makeNode(PlannerInfo);
    root->glob = makeNode(PlannerGlobal);
    root->parse = NewQuery();
    body = inline_set_returning_function(root, copy);
  }
  ReleaseSysCache(function);
  return body;
}

// The stored query of a view within a stored query. Null when it leads back to itself or there are too many.
::Query* StoredView(QueryScope* scope, Oid view) {
  constexpr int kMostViews = 1000;
  StoredViews* definition = scope->definition;
  if (list_member_oid(definition->path, view) || ++definition->expanded > kMostViews) return nullptr;
  definition->views = list_append_unique_oid(definition->views, view);
  return StoredQuery(view);
}

// A view that the rewriter has not replaced: true when it has been dealt with.
bool AddStoredView(QueryScope* scope, const RangeTblEntry* rte, ps::Range* range, RangeSlot* slot) {
  if (scope->definition == nullptr || rte->rtekind != RTE_RELATION) return false;
  const char kind = get_rel_relkind(rte->relid);
  if (kind != RELKIND_VIEW && kind != RELKIND_MATVIEW) return false;
  slot->view = rte->relid;
  slot->inlined = StoredView(scope, rte->relid);
  range->kind = slot->inlined != nullptr ? ps::RangeKind::kSubquery : ps::RangeKind::kUnknown;
  return true;
}

void AddRange(QueryScope* scope, int rtindex) {
  RangeSlot* slot = &scope->slots[rtindex];
  if (slot->index >= 0) return;
  RangeTblEntry* rte = rt_fetch(rtindex, scope->query->rtable);
  if (rte->rtekind == RTE_JOIN) return;
  auto* range = scope->arena->New<ps::Range>();
  if (AddStoredView(scope, rte, range, slot))
    ;
  else if (rte->rtekind == RTE_RELATION || (rte->rtekind == RTE_NAMEDTUPLESTORE && OidIsValid(rte->relid)))
    AddRelationRange(scope, rtindex, range, slot);
  else
    range->kind = KindOf(rte);
  if (rte->rtekind == RTE_FUNCTION && scope->definition == nullptr) slot->inlined = InlinedFunction(rte);
  if (rte->rtekind == RTE_FUNCTION && slot->inlined != nullptr)
    NoteCallOf(scope, reinterpret_cast<FuncExpr*>(linitial_node(RangeTblFunction, rte->functions)->funcexpr));
  if (slot->inlined != nullptr) range->kind = ps::RangeKind::kSubquery;
  slot->index = scope->result->ranges.size;
  scope->result->ranges.Add(range);
}

void AddJoinTree(QueryScope* scope, Node* node) {
  if (node == nullptr) return;
  check_stack_depth();
  if (IsA(node, RangeTblRef)) {
    AddRange(scope, reinterpret_cast<RangeTblRef*>(node)->rtindex);
  } else if (IsA(node, JoinExpr)) {
    auto* join = reinterpret_cast<JoinExpr*>(node);
    AddJoinTree(scope, join->larg);
    AddJoinTree(scope, join->rarg);
  } else if (IsA(node, FromExpr)) {
    ListCell* cell;
    foreach (cell, reinterpret_cast<FromExpr*>(node)->fromlist) AddJoinTree(scope, static_cast<Node*>(lfirst(cell)));
  }
}

void AddConditions(QueryScope* scope, Node* node) {
  if (node == nullptr) return;
  check_stack_depth();
  ps::Query* result = scope->result;
  if (IsA(node, JoinExpr)) {
    auto* join = reinterpret_cast<JoinExpr*>(node);
    AddConditions(scope, join->larg);
    AddConditions(scope, join->rarg);
    AddExpr(scope, &result->conditions, join->quals);
  } else if (IsA(node, FromExpr)) {
    auto* from = reinterpret_cast<FromExpr*>(node);
    ListCell* cell;
    foreach (cell, from->fromlist) AddConditions(scope, static_cast<Node*>(lfirst(cell)));
    AddExpr(scope, &result->conditions, from->quals);
  }
}

// Finds the WITH query that a range table entry names.
void FillCte(QueryScope* scope, RangeTblEntry* rte, ps::Range* range) {
  QueryScope* outer = scope;
  for (Index level = 0; outer != nullptr && level < rte->ctelevelsup; ++level) outer = outer->parent;
  if (outer == nullptr) return;
  range->levels_up = static_cast<int>(rte->ctelevelsup);
  int index = 0;
  ListCell* cell;
  foreach (cell, outer->query->cteList) {
    if (strcmp(lfirst_node(CommonTableExpr, cell)->ctename, rte->ctename) == 0) range->cte = index;
    ++index;
  }
}

// One expression a column over all rows. What is inserted is compared with nothing.
void FillValues(QueryScope* scope, RangeTblEntry* rte, ps::Range* range) {
  const bool compared = scope->query->commandType != CMD_INSERT;
  const int columns = rte->values_lists == NIL ? 0 : list_length(static_cast<List*>(linitial(rte->values_lists)));
  for (int i = 0; i < columns; ++i) {
    auto* column = scope->arena->New<ps::Expr>();
    column->kind = ps::ExprKind::kOther;
    ListCell* cell;
    foreach (cell, rte->values_lists) {
      auto* row = static_cast<List*>(lfirst(cell));
      if (i >= list_length(row)) continue;
      auto* node = static_cast<Node*>(list_nth(row, i));
      if (!compared || !AddValues(scope, column, node)) AddExpr(scope, &column->args, node);
      column->varies = column->varies || ExpressionTells(node);
    }
    range->args.Add(column);
  }
}

void FillFunctions(QueryScope* scope, RangeTblEntry* rte, ps::Range* range) {
  ListCell* cell;
  foreach (cell, rte->functions) {
    const auto* item = lfirst_node(RangeTblFunction, cell);
    Node* call = item->funcexpr;
    ps::Expr* expr = BuildExpr(scope, call);
    expr->varies = expr->kind != ps::ExprKind::kConstant && ExpressionTells(call);
    // The rows that it gives are those of the item.
    expr->tells = expr->kind != ps::ExprKind::kConstant && ItemTells(item);
    scope->result->tells = scope->result->tells || expr->tells;
    if (AddValues(scope, expr, call) || expr->kind != ps::ExprKind::kConstant) range->args.Add(expr);
  }
}

// What a security barrier view that is written through adds to its target counts like any view's condition. It shares
// its place with row security policies, which count only where PolicyCounts() says so.
void AddBarrierConditions(QueryScope* scope, RangeTblEntry* rte) {
  if (rte->securityQuals == NIL) return;
  const RelationEntry* relation = FindRelation(rte->relid);
  if (relation == nullptr) return;
  auto* conditions = reinterpret_cast<Node*>(rte->securityQuals);
  if (relation->row_security && !PolicyCounts(relation, conditions, true)) return;
  ListCell* cell;
  foreach (cell, rte->securityQuals) AddExpr(scope, &scope->result->conditions, static_cast<Node*>(lfirst(cell)));
}

void FillRange(QueryScope* scope, int rtindex, ps::Range* range) {
  RangeTblEntry* rte = rt_fetch(rtindex, scope->query->rtable);
  const RangeSlot& slot = scope->slots[rtindex];
  if (slot.inlined != nullptr) {
    if (OidIsValid(slot.view)) {
      scope->definition->path = lappend_oid(scope->definition->path, slot.view);
      scope->entering = rtindex;
    }
    range->subquery = BuildQuery(scope->arena, slot.inlined, scope);
    if (OidIsValid(slot.view)) scope->definition->path = list_delete_last(scope->definition->path);
    return;
  }
  if (OidIsValid(slot.view)) return;
  switch (rte->rtekind) {
    case RTE_RELATION:
      range->sampled = rte->tablesample != nullptr;
      if (range->sampled) AddExpr(scope, &scope->result->having, reinterpret_cast<Node*>(rte->tablesample));
      AddBarrierConditions(scope, rte);
      break;
    case RTE_SUBQUERY:
      scope->entering = rtindex;
      range->subquery = BuildQuery(scope->arena, rte->subquery, scope);
      break;
    case RTE_CTE:
      FillCte(scope, rte, range);
      break;
    case RTE_FUNCTION:
      FillFunctions(scope, rte, range);
      break;
    case RTE_TABLEFUNC:
      AddExpr(scope, &range->args, reinterpret_cast<Node*>(rte->tablefunc));
      break;
    case RTE_VALUES:
      FillValues(scope, rte, range);
      break;
    default:
      break;
  }
}

void FillCtes(QueryScope* scope) {
  ListCell* cell;
  foreach (cell, scope->query->cteList) {
    auto* cte = scope->arena->New<ps::Cte>();
    scope->result->ctes.Add(cte);
    cte->query = BuildQuery(scope->arena, AsQuery(lfirst_node(CommonTableExpr, cell)->ctequery), scope);
  }
}

}  // namespace

void AddRanges(QueryScope* scope) {
  ::Query* query = scope->query;
  const int count = list_length(query->rtable);
  scope->slots = static_cast<RangeSlot*>(scope->arena->Allocate(sizeof(RangeSlot) * static_cast<size_t>(count + 1)));
  for (int i = 0; i <= count; ++i) scope->slots[i] = {-1, nullptr, 0, nullptr, InvalidOid};
  if (query->resultRelation > 0) {
    AddRange(scope, query->resultRelation);
    scope->result->target = scope->slots[query->resultRelation].index;
  }
  AddJoinTree(scope, reinterpret_cast<Node*>(query->jointree));
  if (query->onConflict != nullptr && query->onConflict->exclRelIndex > 0) {
    auto* range = scope->arena->New<ps::Range>();
    range->kind = ps::RangeKind::kExcluded;
    scope->slots[query->onConflict->exclRelIndex].index = scope->result->ranges.size;
    scope->result->ranges.Add(range);
  }
}

const RangeSlot* FindRange(QueryScope* scope, int rtindex) {
  if (scope->slots[rtindex].index < 0) {
    AddRange(scope, rtindex);
    ps::Range* range = scope->result->ranges.last;
    if (scope->slots[rtindex].index >= 0) FillRange(scope, rtindex, range);
  }
  return &scope->slots[rtindex];
}

void FillRanges(QueryScope* scope) {
  FillCtes(scope);
  for (int i = 1; i <= list_length(scope->query->rtable); ++i) {
    const int index = scope->slots[i].index;
    if (index < 0) continue;
    ps::Range* range = scope->result->ranges.At(index);
    if (range->kind != ps::RangeKind::kExcluded) FillRange(scope, i, range);
  }
  AddConditions(scope, reinterpret_cast<Node*>(scope->query->jointree));
  AddExpr(scope, &scope->result->conditions, MergeCondition(scope->query));
}

}  // namespace privacy_score
