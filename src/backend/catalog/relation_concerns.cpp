/*
 * relation_concerns.cpp - see relation_concerns.hpp.
 */
#include "backend/catalog/relation_concerns.hpp"

extern "C" {
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/state/model_changes.hpp"

namespace privacy_score {

namespace {

void ConcernAncestors(Oid relation) {
  check_stack_depth();
  const RelationEntry* entry = FindRelation(relation);
  for (int i = 0; entry != nullptr && i < entry->parent_count; ++i) {
    ConcernName(Concern::kRelation, CanonicalRelationName(entry->parents[i]));
    ConcernAncestors(entry->parents[i]);
  }
}

}  // namespace

void ConcernRelation(Oid relation) {
  if (ps_shared == nullptr) return;
  const ListCell* cell;
  foreach (cell, find_all_inheritors(relation, NoLock, nullptr))
    ConcernName(Concern::kRelation, CanonicalRelationName(lfirst_oid(cell)));
  ConcernAncestors(relation);
}

}  // namespace privacy_score
