/*
 * catalog_lineage.hpp - where the columns of copies come from.
 *
 * What CREATE TABLE AS and SELECT INTO write is personal data as much as what they read. The origins of a copy's
 * columns are recorded when it is made (copy_recording.hpp); those of a materialized view are also followed from its
 * definition, so that one made before the extension counts, too. They are part of a relation's cache entry: the cache
 * (catalog_relations.cpp) has them read here with the entry, and here it is asked for the relations behind. All may
 * raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
}

#include "backend/catalog/relation_entry.hpp"
#include "core/statement/statement.hpp"

namespace privacy_score {

// Fills in the entry's origins from the catalogs, in the current context.
void ReadLineage(RelationEntry* entry);

// False when a view behind a materialized view was changed since its origins were read.
bool LineageIsCurrent(const RelationEntry* entry);

// Whether a role owns all that the relation is a copy of.
bool OwnsOrigins(Oid role, const RelationEntry* entry);

// Whether the relation is a copy of anything that is protected now.
bool CopiesProtected(const RelationEntry* entry);

// The relation as the current user sees it, with its origins: those that are `protected_only`, else all. A copy that is
// protected itself stands for itself if its owner has a right to say so: owns all its origins, or is a superuser.
privacy_score::Relation* NewRelation(privacy_score::Arena* arena, const RelationEntry* entry,
                                     bool protected_only = true);

// The origins of a statement's output columns as CopiedOrigin (`column` is the output) in the current context, of
// relations that are protected.
List* OutputOrigins(const privacy_score::Statement& statement);

// Translates the query behind a relation for core, its views put in place; adds these to `views`. The front end that
// does it reads relations itself, so it is above: what the library does when it is loaded sets it (module.cpp).
using DefinitionTranslator = privacy_score::Query* (*)(privacy_score::Arena* arena, ::Query* query, Oid relid,
                                                       List** views);
extern DefinitionTranslator ps_translate_definition;

// The stored query of a view or materialized view; null when it has none.
::Query* StoredQuery(Oid relid);

// The origins of a materialized view's columns by its definition, as CopiedOrigin in the current context, whether they
// are protected or not; `views`: the OIDs of the views that they come through.
List* DefinitionOrigins(Oid relid, List** views);

// What refreshing a materialized view copies: the origins by its definition that are protected now.
List* RefreshedOrigins(Oid relid);

// Raises unless the current user owns every protected relation that a column is a copy of.
void RequireOrigins(Oid relid, AttrNumber column);

}  // namespace privacy_score
