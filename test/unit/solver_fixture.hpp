/*
 * solver_fixture.hpp - the solver of linear programs for unit tests, which link with its module.
 */
#pragma once

#include "core/linear_solver.hpp"

extern "C" const PsLinearSolver* ps_linear_solver();
