/*
 * solver_fixture.hpp - the solver of linear programs for unit tests, which link with its module; maximising by it.
 */
#pragma once

#include <vector>

#include "core/inference/linear_program.hpp"
#include "core/inference/linear_solver.hpp"

extern "C" const PsLinearSolver* ps_linear_solver();

namespace privacy_score::testing_support {

inline privacy_score::LinearSolution Maximise(privacy_score::LinearProgram& program,
                                              const std::vector<double>& profits) {
  std::vector<double> costs(profits);
  for (double& cost : costs) cost = -cost;
  privacy_score::LinearSolution solution = program.Minimise(costs, {});
  solution.objective = -solution.objective;
  return solution;
}

}  // namespace privacy_score::testing_support
