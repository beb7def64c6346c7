/*
 * trigger_reads.hpp - rows of protected relations that go to triggers which their owners do not answer for.
 *
 * A row trigger is handed OLD and NEW, one with transition tables all rows that a statement has changed. TRIGGER is a
 * right of its own: who has it need not be allowed to read. So a statement that fires a trigger whose function (or a
 * function of whose WHEN) belongs neither to who has declared the relation, nor to a superuser or the extension's
 * owner, counts as reading whole rows, as an event of its own before the statement's; where reading is forbidden it is
 * refused. So does one that a foreign key starts, which else does not count. What is inserted is known to who inserts
 * it. Which triggers there are is asked when the statement runs: a plan may be older than they are. May raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/plannodes.h"
}

#include "backend/state/watching.hpp"

// Judges (a label of the role) and counts what running a plan that writes hands to such triggers.
void RecordTriggerReads(const PlannedStmt* plan, RoleClass role, bool judged, bool counts);
