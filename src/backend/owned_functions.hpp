/*
 * owned_functions.hpp - whose code a query runs.
 *
 * A noisy answer is read with the rights of the relation's owner, and so run the functions that a view calls, whoever
 * asks. Elsewhere in the server they run with the rights of who reads: the owner of such a function, who may replace it
 * any time, could otherwise let his code run as somebody else by asking.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/spi.h"
}

// Raises 42501 when a prepared query calls a function, or checks a domain, of somebody without the rights of `owner`.
// What functions call in turn is up to their owners.
void RequireOwnFunctions(SPIPlanPtr plan, Oid owner);
