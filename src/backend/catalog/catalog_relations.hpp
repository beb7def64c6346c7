/*
 * catalog_relations.hpp - names, columns and keys of relations, cached in the backend.
 *
 * Both front ends describe base relations from here. An entry is read from the catalogs at first sight and thrown away
 * by relcache and schema messages, so a statement about known relations reads no catalog. What a caller gets points
 * into the cache and is valid until the next call of ForgetStaleRelations, which every front end makes once before it
 * starts a statement and never in between.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#include "backend/catalog/relation_entry.hpp"
#include "core/statement/statement.hpp"

namespace privacy_score {

// A relation as abstractions name it: a partition is its topmost root, or the topmost part of that which protect() has
// declared where the root is not protected.
struct ResolvedRelation {
  const RelationEntry* self;  // null when the relation does not exist
  const RelationEntry* root;
  const int* columns;  // attribute number - 1 of the relation -> index into root->self.columns or -1
};

// The relation as a statement of `role` sees it. It shares names, columns and keys with the cache.
privacy_score::Relation RelationFor(const RelationEntry* entry, Oid role);

// The entry of a relation, without following partitions; null when it does not exist. May raise on catalog errors.
const RelationEntry* FindRelation(Oid relid);

ResolvedRelation ResolveRelation(Oid relid);

// Whether protect() has declared a relation, itself or as part of one that it inherits from; null is not.
bool DeclaredEntry(const RelationEntry* entry);

// The same, or a copy of one that is.
bool ProtectedEntry(const RelationEntry* entry);

// Drops entries that were invalidated.
void ForgetStaleRelations();

// Grows whenever anything may have changed that an abstraction is derived from: a relation, a schema, a function, an
// operator, a type, a role. What was derived under another number may be out of date.
uint64 CatalogGeneration();

// A name as abstractions write it (core/base/names.hpp), which SQL need not take; palloc'd or `name` itself.
const char* QuoteName(const char* name);

// The qualified name of a type, whatever quote_all_identifiers says; palloc'd.
const char* CanonicalType(Oid type);

// The name under which abstractions write a schema: quoted, pg_temp for every temporary one; palloc'd.
const char* CanonicalSchema(Oid schema);

// The name under which abstractions write a function: quoted, with its schema when that is not pg_catalog; empty when
// the function does not exist. palloc'd.
const char* CanonicalFunction(Oid function);

// True for pg_catalog, information_schema, pg_toast and the extension's own schema.
bool IsCatalogSchema(Oid schema);

}  // namespace privacy_score
