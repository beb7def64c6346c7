/*
 * protected_reads.cpp - see protected_reads.hpp.
 */
#include "protected_reads.hpp"

#include "catalog_relations.hpp"
#include "compat.hpp"
#include "described_columns.hpp"

extern "C" {
#include "access/transam.h"
}

bool RelationIsProtected(Oid relid) {
  ForgetStaleRelations();
  return ProtectedEntry(FindRelation(relid));
}

bool PlanReadsProtected(const PlannedStmt* plan) {
  ForgetStaleRelations();
  int index = 0;
  ListCell* cell;
  foreach (cell, plan->rtable) {
    const auto* rte = lfirst_node(RangeTblEntry, cell);
    ++index;
    if (rte->rtekind != RTE_RELATION || !PlannedRead(plan, rte, list_member_int(plan->resultRelations, index)))
      continue;
    // Statistics are read through views that show what the current user may read; with a right on the catalog, all.
    if (DescribesColumns(rte->relid)) {
      if (DescribesProtected(!OidIsValid(PlannedCheckAsUser(plan, rte)))) return true;
    } else if (rte->relid >= FirstNormalObjectId && ProtectedEntry(FindRelation(rte->relid))) {
      return true;
    }
  }
  return false;
}
