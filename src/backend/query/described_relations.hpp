/*
 * described_relations.hpp - relations that statistics can describe, what each of their columns stands for, and all of
 * that for SQL text.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
}

#include "core/statement/statement.hpp"

namespace privacy_score {

// The relations and indexes of these names in any schema.
List* RelationsNamed(List* names);

// OIDs sorted, each once.
List* DistinctRelations(List* relations);

// Everything that can be protected: what is declared, its parts and parents, copies, materialized views, and indexes on
// them.
List* AllCandidates();

// Adds one column of a protected relation, or what it is a copy of.
void AddDescribed(privacy_score::Arena* arena, privacy_score::ArenaList<privacy_score::Origin>* list,
                  const privacy_score::Relation* relation, int column, bool declared);

// Section 7 of sqlparse/catalog.hpp: every column that statistics describe, for SQL text, whose conditions are looked
// at there. What `role` may read is marked; InvalidOid is a role that is gone, and may read all.
void AppendDescribed(StringInfo wire, Oid role);

}  // namespace privacy_score
