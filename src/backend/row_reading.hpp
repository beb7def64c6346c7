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
}

// Takes a row, all of whose columns are at hand, in a memory context that is reset after it.
using RowReceiver = void (*)(void* context, TupleTableSlot* row);

// Runs `sql` and hands each row to `receive`. `fresh`: the statement sees what this command has written. Returns how
// many rows there were. SPI must be connected.
uint64 ReadRows(const char* sql, RowReceiver receive, void* context, bool fresh = false);
