/*
 * kept_plans.hpp - plans that a process keeps of queries of ours which one call asks of role after role, and calls one
 * after the other: planning them takes longer than running them.
 *
 * Such a plan is made for any arguments and after each change of what it reads, as the server sees to. So it is for
 * queries whose best plan does not depend on the arguments.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/spi.h"
}

namespace privacy_score {

// The plan of a query with so many text arguments; SPI must be connected. `sql` is a constant of the module: it is
// known again by its address.
SPIPlanPtr KeptPlan(const char* sql, int nargs);

}  // namespace privacy_score
