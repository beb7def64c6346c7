/*
 * aggregate_plans.cpp - see aggregate_plans.hpp.
 */
#include "backend/query/aggregate_plans.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
}

#include "backend/query/constants.hpp"
#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

// Whether a query may aggregate at all. One relation and nothing else is what most queries have.
bool MayAggregate(const ::Query* query) {
  return query->commandType == CMD_SELECT &&
         (query->hasAggs || query->hasSubLinks || query->cteList != NIL || list_length(query->rtable) != 1 ||
          linitial_node(RangeTblEntry, query->rtable)->rtekind != RTE_RELATION);
}

bool HasAggregate(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) {
    auto* query = reinterpret_cast<::Query*>(node);
    return query->hasAggs || WalkQuery(query, HasAggregate, context);
  }
  if (IsA(node, RangeTblEntry)) return false;  // what is in it comes next
  return WalkChildren(node, HasAggregate, context);
}

bool IsNumber(Oid type) {
  return type == INT8OID || type == INT4OID || type == INT2OID || type == FLOAT8OID || type == FLOAT4OID ||
         type == NUMERICOID;
}

bool IsGroupedBy(const ::Query* query, const TargetEntry* entry) {
  if (entry->ressortgroupref == 0) return false;
  ListCell* cell;
  foreach (cell, query->groupClause)
    if (lfirst_node(SortGroupClause, cell)->tleSortGroupRef == entry->ressortgroupref) return true;
  return false;
}

// The first bigint, as counts are, else the first number, that is neither a constant nor what groups are made by; 0 for
// none.
int FirstNumber(const ::Query* query) {
  int first = 0;
  ListCell* cell;
  foreach (cell, query->targetList) {
    const TargetEntry* entry = lfirst_node(TargetEntry, cell);
    if (entry->resjunk || IsA(entry->expr, Const) || IsA(entry->expr, Param) || IsGroupedBy(query, entry)) continue;
    const Oid type = exprType(reinterpret_cast<const Node*>(entry->expr));
    if (type == INT8OID) return entry->resno;
    if (first == 0 && IsNumber(type)) first = entry->resno;
  }
  return first;
}

// Adds every constant below a node that is not NULL.
bool AddLiterals(Node* node, void* context) {
  if (node == nullptr) return false;
  auto* sums = static_cast<ConstantSums*>(context);
  if (IsA(node, Const)) {
    const auto* constant = reinterpret_cast<Const*>(node);
    if (constant->constisnull) return false;
    int count = 0;
    const uint64* elements = OidIsValid(get_element_type(constant->consttype))
                                 ? HashesOfElements(constant->consttype, constant->constvalue, &count)
                                 : nullptr;
    for (int i = 0; i < count; ++i) sums->Add(elements[i]);
    if (elements == nullptr) sums->Add(HashOfConstant(constant, 0));
    return false;
  }
  if (IsA(node, RangeTblEntry)) return false;
  if (IsA(node, Query)) return WalkQuery(reinterpret_cast<::Query*>(node), AddLiterals, context);
  return WalkChildren(node, AddLiterals, context);
}

constexpr int kSumWords = sizeof(ConstantSums) / sizeof(uint32);

}  // namespace

int AnswerColumn(::Query* query) {
  return MayAggregate(query) && HasAggregate(reinterpret_cast<Node*>(query), nullptr) ? FirstNumber(query) : 0;
}

PlanMark* WithAnswer(PlanMark* mark, ::Query* query, int column) {
  if (mark->id == 0 || mark->word_count == 0) return mark;
  ConstantSums sums;
  AddLiterals(reinterpret_cast<Node*>(query), &sums);
  PlanMark* with = NewPlanMark(mark->id, mark->estimates, mark->word_count + kSumWords);
  const Size words = sizeof(uint32) * static_cast<Size>(mark->word_count);
  memcpy(with->words, mark->words, words);
  memcpy(with->words + mark->word_count, static_cast<const void*>(&sums), sizeof sums);
  with->word_count = mark->word_count;
  with->answer_column = column;
  return with;
}

ConstantSums ConstantsOfAggregate(const PlanMark* mark, const BoundConstants& constants) {
  ConstantSums sums;
  memcpy(static_cast<void*>(&sums), mark->words + mark->word_count, sizeof sums);
  for (std::size_t i = 0; i < constants.parameter_count; ++i) {
    const ParameterValue& value = constants.parameters[i];
    if (value.is_null) continue;
    for (int k = 0; k < value.element_count; ++k) sums.Add(value.elements[k]);
    if (value.elements == nullptr) sums.Add(value.hash);
  }
  return sums;
}

}  // namespace privacy_score
