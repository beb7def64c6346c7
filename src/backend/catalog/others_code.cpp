/*
 * others_code.cpp - see others_code.hpp.
 */
#include "backend/catalog/others_code.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/indexing.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "nodes/readfuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/server/compat.hpp"
#include "backend/state/installed_extension.hpp"

namespace privacy_score {

namespace {

// Whether a role owns what was declared that the rows of a relation are rows of.
bool OwnsDeclared(Oid role, const RelationEntry* entry) {
  check_stack_depth();
  if (!DeclaredEntry(entry)) return CopiesProtected(entry) && OwnsOrigins(role, entry);
  bool above = false;
  for (int i = 0; i < entry->parent_count; ++i) {
    const RelationEntry* parent = FindRelation(entry->parents[i]);
    if (!DeclaredEntry(parent)) continue;
    above = true;
    if (!OwnsDeclared(role, parent)) return false;
  }
  return above || entry->owner == role;
}

// Whether who has declared a relation answers for what a role has written.
bool IsTrusted(Oid role, const RelationEntry* entry) {
  return OidIsValid(role) && (superuser_arg(role) || role == ExtensionOwner() || OwnsDeclared(role, entry));
}

struct TypeFacts {
  Oid owner;
  Oid base;  // of a domain
};

TypeFacts FactsOfType(Oid type) {
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) return {InvalidOid, InvalidOid};
  const auto* form = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
  const TypeFacts facts = {form->typowner, form->typtype == TYPTYPE_DOMAIN ? form->typbasetype : InvalidOid};
  ReleaseSysCache(tuple);
  return facts;
}

Oid OwnerOfFunction(Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return InvalidOid;
  const Oid owner = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->proowner;
  ReleaseSysCache(tuple);
  return owner;
}

bool FindOthersCode(Node* node, void* entry);

// Whether the checks of one domain run code of others.
bool ChecksRunOthers(Oid domain, const RelationEntry* entry) {
  bool runs = false;
  ::Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(domain));
  SysScanDesc scan = systable_beginscan(catalog, ConstraintTypidIndexId, true, nullptr, 1, &key);
  HeapTuple tuple;
  while (!runs && HeapTupleIsValid(tuple = systable_getnext(scan))) {
    bool null;
    const Datum check = heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(catalog), &null);
    runs = !null && RunsOthersCode(static_cast<Node*>(stringToNode(TextDatumGetCString(check))), entry);
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return runs;
}

// Whether a domain, or one below it, belongs to others, or checks by code of others.
bool DomainRunsOthers(Oid domain, const RelationEntry* entry) {
  while (OidIsValid(domain)) {
    const TypeFacts facts = FactsOfType(domain);
    if (!IsTrusted(facts.owner, entry)) return true;
    if (!OidIsValid(facts.base)) return false;
    if (ChecksRunOthers(domain, entry)) return true;
    domain = get_typtype(facts.base) == TYPTYPE_DOMAIN ? facts.base : InvalidOid;
  }
  return false;
}

bool IsOthersOf(Oid function, void* entry) { return IsOthersFunction(function, static_cast<RelationEntry*>(entry)); }

bool FindOthersCode(Node* node, void* entry) {
  if (node == nullptr) return false;
  check_stack_depth();
  if (IsA(node, Query)) return WalkQuery(reinterpret_cast<::Query*>(node), FindOthersCode, entry);
  if (IsA(node, RangeTblEntry)) return false;  // what is in it comes by itself
  if (check_functions_in_node(node, IsOthersOf, entry)) return true;
  if (IsA(node, CoerceToDomain) &&
      DomainRunsOthers(reinterpret_cast<CoerceToDomain*>(node)->resulttype, static_cast<const RelationEntry*>(entry)))
    return true;
  return WalkChildren(node, FindOthersCode, entry);
}

bool IsAdded(Oid function, void* /*context*/) { return function >= FirstNormalObjectId; }

bool FindAdded(Node* node, void* context) {
  if (node == nullptr) return false;
  check_stack_depth();
  if (check_functions_in_node(node, IsAdded, context)) return true;
  if (IsA(node, CoerceToDomain) && reinterpret_cast<CoerceToDomain*>(node)->resulttype >= FirstNormalObjectId)
    return true;
  return WalkChildren(node, FindAdded, context);
}

}  // namespace

bool IsOthersFunction(Oid function, const RelationEntry* entry) { return !IsTrusted(OwnerOfFunction(function), entry); }

bool IsOthersType(Oid type, const RelationEntry* entry) { return DomainRunsOthers(type, entry); }

bool RunsOthersCode(Node* expression, const RelationEntry* entry) {
  return FindOthersCode(expression, const_cast<RelationEntry*>(entry));
}

bool RunsAddedCode(Node* expression) { return FindAdded(expression, nullptr); }

}  // namespace privacy_score
