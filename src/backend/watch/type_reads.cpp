/*
 * type_reads.cpp - see type_reads.hpp.
 */
#include "backend/watch/type_reads.hpp"

#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/query/abstracting.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/relation_owner.hpp"
#include "backend/watch/live.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "parser/parse_type.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace privacy_score {

namespace {

// The protected columns of one relation, or of partitions of it, that a change reads.
struct ReadColumns {
  Oid relid;
  List* names;
};

struct TypeFacts {
  Oid owner;
  Oid schema;
  char kind;
  Oid base, element, relation;
};

bool FindType(Oid type, TypeFacts* facts) {
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) return false;
  const auto* form = reinterpret_cast<const FormData_pg_type*>(GETSTRUCT(tuple));
  *facts = {form->typowner, form->typnamespace, form->typtype, form->typbasetype, form->typelem, form->typrelid};
  ReleaseSysCache(tuple);
  return true;
}

// How many attributes a relation has, with dropped ones.
int CountAttributes(Oid relation) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return 0;
  const int count = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relnatts;
  ReleaseSysCache(tuple);
  return count;
}

// Whether the statement is one for which the server reads the columns of the domain.
bool Validates(const AlterDomainStmt* alter) {
  switch (alter->subtype) {
    case 'C':  // ADD CONSTRAINT
      return !castNode(Constraint, alter->def)->skip_validation;
    case 'O':  // SET NOT NULL
    case 'V':  // VALIDATE CONSTRAINT
      return true;
    default:
      return false;
  }
}

// The domain that is changed; InvalidOid when the server will refuse.
Oid ChangedDomain(const AlterDomainStmt* alter) {
  const Oid domain = LookupTypeNameOid(nullptr, makeTypeNameFromNameList(alter->typeName), true);
  TypeFacts facts;
  if (!OidIsValid(domain) || !FindType(domain, &facts) || facts.kind != TYPTYPE_DOMAIN ||
      !has_privs_of_role(GetUserId(), facts.owner))
    return InvalidOid;
  return domain;
}

List* AddColumnRead(List* relations, Oid relid, AttrNumber number) {
  const ResolvedRelation resolved = ResolveRelation(relid);
  if (!ProtectedEntry(resolved.self) ||
      (resolved.self->kind != RELKIND_RELATION && resolved.self->kind != RELKIND_MATVIEW) ||
      (OwnsRelation(relid, GetUserId()) && !CopiesProtected(resolved.self)))
    return relations;
  ReadColumns* columns = nullptr;
  ListCell* cell;
  foreach (cell, relations)
    if (static_cast<ReadColumns*>(lfirst(cell))->relid == resolved.root->relid)
      columns = static_cast<ReadColumns*>(lfirst(cell));
  if (columns == nullptr) {
    columns = static_cast<ReadColumns*>(palloc(sizeof(ReadColumns)));
    *columns = {resolved.root->relid, NIL};
    relations = lappend(relations, columns);
  }
  Node* name = reinterpret_cast<Node*>(makeString(get_attname(relid, number, false)));
  if (!list_member(columns->names, name)) columns->names = lappend(columns->names, name);
  return relations;
}

// Adds the protected columns of a domain and of the domains over it.
List* AddColumnsOf(List* relations, Oid domain) {
  check_stack_depth();
  List* above = NIL;
  ::Relation catalog = table_open(DependRelationId, AccessShareLock);
  ScanKeyData keys[2];
  ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(TypeRelationId));
  ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(domain));
  SysScanDesc scan = systable_beginscan(catalog, DependReferenceIndexId, true, nullptr, 2, keys);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan))) {
    const auto* depend = reinterpret_cast<const FormData_pg_depend*>(GETSTRUCT(tuple));
    if (depend->classid == TypeRelationId && get_typtype(depend->objid) == TYPTYPE_DOMAIN)
      above = lappend_oid(above, depend->objid);
    if (depend->classid == RelationRelationId && depend->objsubid > 0 &&
        get_atttype(depend->objid, static_cast<AttrNumber>(depend->objsubid)) == domain)
      relations = AddColumnRead(relations, depend->objid, static_cast<AttrNumber>(depend->objsubid));
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  ListCell* cell;
  foreach (cell, above) relations = AddColumnsOf(relations, lfirst_oid(cell));
  return relations;
}

// The first type within a type that belongs to somebody else than the owner of a relation, a superuser or an extension;
// InvalidOid when there is none. `seen`: types that were looked at.
Oid OthersType(Oid type, Oid owner, List** seen) {
  check_stack_depth();
  TypeFacts facts;
  if (!OidIsValid(type) || list_member_oid(*seen, type) || !FindType(type, &facts)) return InvalidOid;
  *seen = lappend_oid(*seen, type);
  if (facts.schema == PG_CATALOG_NAMESPACE) return InvalidOid;
  if (facts.owner != owner && !superuser_arg(facts.owner) && !OidIsValid(getExtensionOfObject(TypeRelationId, type)))
    return type;
  Oid found = OthersType(facts.base, owner, seen);
  if (!OidIsValid(found)) found = OthersType(facts.element, owner, seen);
  if (!OidIsValid(found) && facts.kind == TYPTYPE_RANGE) found = OthersType(get_range_subtype(type), owner, seen);
  if (!OidIsValid(found) && facts.kind == TYPTYPE_MULTIRANGE)
    found = OthersType(get_multirange_range(type), owner, seen);
  const int natts = facts.kind == TYPTYPE_COMPOSITE ? CountAttributes(facts.relation) : 0;
  for (AttrNumber number = 1; number <= natts && !OidIsValid(found); ++number)
    found = OthersType(get_atttype(facts.relation, number), owner, seen);
  return found;
}

}  // namespace

void RecordDomainReads(const AlterDomainStmt* alter, RoleClass role, bool judged, bool counts) {
  if ((!judged && !counts) || !Validates(alter)) return;
  const Oid domain = ChangedDomain(alter);
  if (!OidIsValid(domain)) return;
  ForgetStaleRelations();
  List* relations = AddColumnsOf(NIL, domain);
  if (relations == NIL) return;
  if (judged) RecordProtectedRead(role);
  if (!counts) return;
  ListCell* cell;
  foreach (cell, relations) {
    const auto* columns = static_cast<ReadColumns*>(lfirst(cell));
    RecordEvent(AbstractRows(columns->relid, CMD_SELECT, columns->names));
  }
}

void WarnOfTypes(Oid relation) {
  const Oid owner = OwnerOfRelation(relation);
  const int natts = CountAttributes(relation);
  for (AttrNumber number = 1; number <= natts; ++number) {
    const char* column = get_attname(relation, number, true);
    List* seen = NIL;
    const Oid type = column == nullptr ? InvalidOid : OthersType(get_atttype(relation, number), owner, &seen);
    TypeFacts facts;
    if (!OidIsValid(type) || !FindType(type, &facts)) continue;
    ereport(WARNING, (errmsg("type %s of column \"%s\" belongs to role \"%s\"", format_type_be_qualified(type), column,
                             GetUserNameFromId(facts.owner, false)),
                      errdetail("Who owns a type may have its values handed to a function, by a constraint or a cast."),
                      errhint("ALTER TYPE ... OWNER TO the owner of \"%s\", or use a type of the server's own.",
                              get_rel_name(relation))));
  }
}

}  // namespace privacy_score
