/*
 * solver_module.hpp - the module privacy_score_solver, loaded by the backend that first needs it.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#include "core/inference/linear_solver.hpp"

namespace privacy_score {

// The solver of linear programs; loads its module on first use. Raises 58P01 with a hint when the module, or a library
// that it needs, is missing.
const PsLinearSolver& LinearSolver();

}  // namespace privacy_score
