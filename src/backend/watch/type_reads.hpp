/*
 * type_reads.hpp - values that reach the owner of a column's type.
 *
 * ALTER DOMAIN ... ADD or VALIDATE CONSTRAINT reads every value of every column of the domain, with the rights of the
 * domain's owner, who need not be allowed to read one of them: a function in the CHECK is handed them, and an error
 * says that one of them fails. So it counts as reading these columns of protected relations, one event a relation, and
 * is refused where reading is. Tables that the user owns are left out, as with ALTER TABLE, unless they are copies. The
 * server itself refuses such a change while arrays, ranges or composite types of the domain are stored. May raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

#include "backend/state/watching.hpp"

namespace privacy_score {

// Judges (a label of the role) and counts what a change of a domain is about to read.
void RecordDomainReads(const AlterDomainStmt* alter, RoleClass role, bool judged, bool counts);

// Warns of each column of a relation whose type, or one that is part of it, belongs to somebody else than the owner of
// the relation: who owns a type may have its values handed to a function, today or later.
void WarnOfTypes(Oid relation);

}  // namespace privacy_score
