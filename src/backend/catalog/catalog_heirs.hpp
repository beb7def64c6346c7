/*
 * catalog_heirs.hpp - parents of protected relations.
 *
 * Who reads a table reads the rows of its partitions and inheritance children, too. Protection goes down the tree by
 * itself (DeclaredEntry); what is here goes up: a table that is not protected, above one that is. A heir is a declared
 * relation below such a table. Which there are is judged by the catalogs of now, so ATTACH PARTITION and INHERIT may
 * come before or after protect(). Copies need none of this: what is recorded of them is recorded of their parents as
 * well (spread_copies()). All may raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
}

#include "core/statement/statement.hpp"

namespace privacy_score {

struct RelationEntry;

// Whether reading a range table entry brings the rows of children: not with ONLY. INSERT ... ON CONFLICT reads rows of
// partitions without saying so; a transition table has those that the statement has changed.
bool ReadsChildren(const RangeTblEntry* rte, const RelationEntry* entry);

// Whether a relation that is not declared has heirs; null has none.
bool HasHeirs(const RelationEntry* entry);

// Whether reading a relation with its children shows rows of a protected one: its own, or those of heirs; null shows
// none.
bool ProtectedTree(const RelationEntry* entry);

// Adds to the columns of `relation`, which names those of `entry` or of its root, the columns of the same names of the
// heirs of `entry`: reading one is reading all of them.
void AddHeirs(privacy_score::Arena* arena, privacy_score::Relation* relation, const RelationEntry* entry);

// The heirs of a relation, as const RelationEntry*.
List* HeirsOf(const RelationEntry* entry);

// The OIDs of all relations above a declared one.
List* RelationsWithHeirs();

}  // namespace privacy_score
