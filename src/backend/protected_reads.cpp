/*
 * protected_reads.cpp - see protected_reads.hpp.
 */
#include "protected_reads.hpp"

#include "catalog_protection.hpp"
#include "catalog_relations.hpp"
#include "compat.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext_data.h"
#include "miscadmin.h"
#include "utils/acl.h"
}

namespace {

// Whether the current user may read any column of the relation.
bool MayReadSome(Oid relid) {
  return pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
         pg_attribute_aclcheck_all(relid, GetUserId(), ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK;
}

// Statistics are read through views that show what the current user may read; with a right on the catalog itself,
// all of them.
bool StatisticsShowProtected(bool through_view) {
  ListCell* cell;
  foreach (cell, DeclaredRelations())
    if (!through_view || MayReadSome(lfirst_oid(cell))) return true;
  return false;
}

}  // namespace

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
    if (rte->relid == StatisticRelationId || rte->relid == StatisticExtDataRelationId) {
      if (StatisticsShowProtected(OidIsValid(PlannedCheckAsUser(plan, rte)))) return true;
    } else if (rte->relid >= FirstNormalObjectId && ProtectedEntry(FindRelation(rte->relid))) {
      return true;
    }
  }
  return false;
}
