/*
 * row_reading.hpp - handing the rows of a statement on, one by one, as the executor yields them.
 *
 * Nothing is gathered: a statement may yield as many rows as a table has. Statements run as the current user, so
 * rights, row security and hooks are those of SQL. Interrupts are taken between rows. How many have been read is shown
 * as progress.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/tuptable.h"
#include "tcop/dest.h"
}

namespace privacy_score {

// Takes a row, all of whose columns are at hand, in a memory context that is reset after it.
using RowReceiver = void (*)(void* context, TupleTableSlot* row);

// Runs `sql` and hands each row to `receive`. `fresh`: the statement sees what this command has written. Returns how
// many rows there were. SPI must be connected.
uint64 ReadRows(const char* sql, RowReceiver receive, void* context, bool fresh = false);

// A destination for the executor's rows: `start` gets their columns before the first one, `take` each row and says
// whether it wants more.
DestReceiver RowDestination(bool (*take)(TupleTableSlot* row, DestReceiver* self),
                            void (*start)(DestReceiver* self, int operation, TupleDesc columns));

// Runs `sql` straight into a destination, named as a reading (watching.hpp). Returns the code of SPI, which must be
// connected.
int ReadInto(const char* sql, DestReceiver* destination, bool fresh = false);

}  // namespace privacy_score
