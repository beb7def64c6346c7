/*
 * trigger_reads.hpp - rows of protected relations that go to code which their owners do not answer for.
 *
 * A row trigger is handed OLD and NEW, one with transition tables all rows that a statement has changed. TRIGGER is a
 * right of its own: who has it need not be allowed to read. Checks, generated columns, indexes and partition keys
 * evaluate what becomes of a row (row_code.hpp). So a statement that hands rows to a function of others, also one of a
 * trigger's WHEN (others_code.hpp), counts as reading whole rows, as an event of its own before the statement's; where
 * reading is forbidden it is refused. So does one that a foreign key starts, which else does not count. What is
 * inserted is known to who inserts it. What there is of these is asked when the statement runs: a plan may be older.
 * May raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/plannodes.h"
}

#include "backend/state/watching.hpp"

namespace privacy_score {

// Judges (a label of the role) and counts what running a plan that writes hands to such code.
void RecordTriggerReads(const PlannedStmt* plan, RoleClass role, bool judged, bool counts);

}  // namespace privacy_score
