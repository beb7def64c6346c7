/*
 * dp_persons.cpp - see dp_persons.hpp.
 */
#include "backend/dp/dp_persons.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/relation.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
}

#include "backend/catalog/catalog_protection.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/subjects.hpp"
#include "backend/catalog/unique_keys.hpp"
#include "backend/dp/dp_predicate.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

// What catalogs say of the persons of a relation. Finding it takes queries with many joins, so it is kept until any
// relation changes, whose catalogs and declarations all of it is made of.
struct KnownPersons {
  Oid relation;
  bool has_home;
  Oid home;
  bool has_columns;
  List* columns;
  bool one_row_a_person;
};

constexpr int kMostKnown = 64;
KnownPersons known[kMostKnown];
int known_count = 0;
uint64 known_generation = 0;
MemoryContext known_context = nullptr;

// What is kept of a relation: a new entry when there was none.
KnownPersons* KnownPersonsOf(Oid relation) {
  if (known_context == nullptr)
    known_context = AllocSetContextCreate(TopMemoryContext, "privacy_score persons", ALLOCSET_SMALL_SIZES);
  if (known_generation != CatalogGeneration() || known_count == kMostKnown) {
    MemoryContextReset(known_context);
    known_count = 0;
    known_generation = CatalogGeneration();
  }
  for (int i = 0; i < known_count; ++i)
    if (known[i].relation == relation) return &known[i];
  known[known_count] = {relation, false, InvalidOid, false, NIL, false};
  return &known[known_count++];
}

// Where to keep what was found meanwhile; null when catalogs have changed since.
KnownPersons* KeptOf(Oid relation, uint64 generation) {
  return generation == CatalogGeneration() ? KnownPersonsOf(relation) : nullptr;
}

}  // namespace

Oid HomeOfPersons(Oid relation) {
  const KnownPersons* entry = KnownPersonsOf(relation);
  if (entry->has_home) return entry->home;
  const uint64 generation = CatalogGeneration();
  const bool declared = ReadDeclaration(relation, CanonicalRelationName(relation)).declared;
  const Oid home = declared ? JointHome(relation) : InvalidOid;
  if (auto* kept = KeptOf(relation, generation)) {
    kept->has_home = true;
    kept->home = home;
  }
  return home;
}

List* PersonColumns(Oid relation, bool* one_row_a_person) {
  const KnownPersons* entry = KnownPersonsOf(relation);
  if (entry->has_columns) {
    *one_row_a_person = entry->one_row_a_person;
    return list_copy(entry->columns);
  }
  const uint64 generation = CatalogGeneration();
  const SubjectPath path = SubjectPathOf(relation);
  List* columns = NIL;
  Bitmapset* set = nullptr;
  for (AttrNumber at_home = 1; list_length(columns) < path.count && at_home <= MaxHeapAttributeNumber; ++at_home)
    for (int i = 0; i < path.count; ++i)
      if (path.at_home[i] == at_home) columns = lappend_int(columns, path.own[i]);
  for (int i = 0; i < path.count; ++i) set = bms_add_member(set, path.own[i]);
  ::Relation opened = relation_open(relation, AccessShareLock);
  *one_row_a_person = false;
  const ListCell* cell;
  foreach (cell, UniqueKeysOf(opened))
    *one_row_a_person = *one_row_a_person || bms_is_subset(static_cast<Bitmapset*>(lfirst(cell)), set);
  relation_close(opened, NoLock);
  if (auto* kept = KeptOf(relation, generation)) {
    MemoryContext before = MemoryContextSwitchTo(known_context);
    kept->columns = list_copy(columns);
    MemoryContextSwitchTo(before);
    kept->one_row_a_person = *one_row_a_person;
    kept->has_columns = true;
  }
  return columns;
}

bool HasPersonBudget(Oid role, Oid home) {
  const char* args[] = {TextOfOid(role), TextOfOid(home)};
  InternalScope scope;
  EnterInternal(&scope);
  const char* found = InternalValue(
      "SELECT 1 FROM privacy_score.budget_now n WHERE n.role_oid = $1::pg_catalog.oid "
      "AND n.relation_oid = $2::pg_catalog.oid AND n.scope = 'person' AND n.revoked_at IS NULL",
      2, args);
  LeaveInternal(&scope);
  return found != nullptr;
}

void RequireRowAPerson(const char* function, Oid relation) {
  bool unique = false;
  (void)PersonColumns(relation, &unique);
  if (unique) return;
  ereport(ERROR,
          (errcode(kQuestionRefused),
           errmsg("%s() cannot be paid from a budget for persons: relation \"%s\" may have several rows of one",
                  function, get_rel_name(relation)),
           errhint("Ask in plain SQL, such as SELECT count(*) FROM %s, which finds out how many rows of a person "
                   "to count.",
                   get_rel_name(relation))));
}

}  // namespace privacy_score
