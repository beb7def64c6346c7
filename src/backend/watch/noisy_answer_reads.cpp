/*
 * noisy_answer_reads.cpp - see noisy_answer_reads.hpp.
 */
#include "backend/watch/noisy_answer_reads.hpp"

extern "C" {
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/plancache.h"
}

#include "backend/catalog/relation_access.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/server/relation_owner.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

Oid BudgetOwner() { return static_cast<Oid>(ps_settings.answering); }

bool HasRightsOfOwner(Oid relation) {
  const Oid owner = OwnerOfRelation(relation);
  return OidIsValid(owner) && has_privs_of_role(BudgetOwner(), owner);
}

}  // namespace

void BeginAnswering(Oid owner) {
  if (is_member_of_role_nosuper(GetSessionUserId(), owner)) return;
  ps_answering_begins = true;
  PG_TRY();
  { SetWithin("privacy_score.answering", psprintf("%d", static_cast<int>(owner))); }
  PG_FINALLY();
  { ps_answering_begins = false; }
  PG_END_TRY();
}

List* RelationsOf(const ::Query* query) {
  List* relations = NIL;
  List* others = NIL;
  bool has_row_security = false;
  extract_query_dependencies(reinterpret_cast<Node*>(const_cast<::Query*>(query)), &relations, &others,
                             &has_row_security);
  return relations;
}

List* RelationsOf(SPIPlanPtr plan) {
  List* relations = NIL;
  ListCell* source;
  foreach (source, SPI_plan_get_plan_sources(plan))
    relations = list_concat_unique_oid(relations, static_cast<CachedPlanSource*>(lfirst(source))->relationOids);
  return relations;
}

bool QueryAnswers(const ::Query* query) { return OidIsValid(BudgetOwner()) && RelationsAnswer(RelationsOf(query)); }

bool RelationsAnswer(const List* relations) {
  ListCell* cell;
  foreach (cell, relations)
    if (!HasRightsOfOwner(lfirst_oid(cell)) && TreeIsProtected(lfirst_oid(cell))) return false;
  return true;
}

}  // namespace privacy_score
