/*
 * maintenance_reads.hpp - rows that statements which define or maintain a relation hand to code of others.
 *
 * CREATE INDEX, CREATE STATISTICS and ALTER TABLE evaluate what they say on every row; REINDEX, CLUSTER, VACUUM FULL
 * and ANALYZE what the relation has. A copy belongs to whoever has made it, and may hold more than when it was made: a
 * function of somebody who does not own what was copied (others_code.hpp) reads whole rows, as an event, and is refused
 * where reading is. Relations that the user owns are left out, as with the domains of type_reads.hpp, unless they are
 * copies. May raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

#include "backend/state/watching.hpp"

namespace privacy_score {

// Whether a statement is one of these.
bool IsMaintenance(const Node* statement);

// Judges (a label of the role) and counts what such a statement is about to hand on.
void RecordMaintenanceReads(const Node* statement, RoleClass role, bool judged, bool counts);

}  // namespace privacy_score
