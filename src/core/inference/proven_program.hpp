/*
 * proven_program.hpp - least and greatest values of variables that satisfy equations of sums, with a proof.
 *
 *   { s : sum of s over row i = side_i,  0 <= s <= upper },   rows are sets of variables, all numbers whole.
 *
 * The solver works with floating point; what comes out here does not rest on it. Any multipliers y prove a bound,
 *
 *   s_c  >=  sum y_i side_i + sum over j of min(0, [j = c] - sum of y over the rows of j) upper_j,
 *
 * and that is computed exactly. The multipliers of an optimum are fractions of small numbers, which are found from the
 * solver's, so that the bound is the optimum itself; where they are not, it is a hair looser, never tighter.
 */
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/base/rational.hpp"
#include "core/base/work_control.hpp"
#include "core/inference/linear_program.hpp"

namespace privacy_score {

// Thrown when no s satisfies the equations, which these rows prove. Never leaves core.
struct Contradiction {
  std::vector<int> rows;
};

class ProvenProgram {
 public:
  // A bound is proved to be no further from the optimum than this share of `unit`.
  static constexpr double kTightness = 1e-7;
  // Nearer than this share of `unit` to a limit counts as being there.
  static constexpr double kNear = 1e-9;

  // `unit` is a magnitude of the values that matter. The solver outlives the object.
  ProvenProgram(const PsLinearSolver& solver, std::vector<std::vector<int>> rows, std::vector<Integer> sides,
                std::vector<Integer> uppers, const Integer& unit);

  // Bounds of one variable, proved. They throw Contradiction; Paused as LinearProgram does; Error XX000 when rounding
  // errors keep the solver from an optimum that can be proved.
  Rational Least(int variable, const WorkControl& control);
  Rational Greatest(int variable, const WorkControl& control);

  // Makes the sum of some variables as small, or great, as it can be; for values().
  void Push(const std::vector<int>& variables, bool up, const WorkControl& control);

  // The values that the last call found, as shares of `unit`.
  const std::vector<double>& values() const { return values_; }

 private:
  struct Multipliers {
    std::vector<Integer> numerators;  // by row
    Integer denominator = 1;
  };

  LinearSolution Solve(const std::vector<double>& costs, const WorkControl& control);
  Rational ProvenMinimum(int variable, int sign, const WorkControl& control);
  // What the multipliers prove of the least value of sign s_variable; of 0 when the variable is -1.
  Rational Proof(const Multipliers& multipliers, int variable, int sign) const;
  [[noreturn]] void ThrowContradiction(const WorkControl& control);

  const PsLinearSolver& solver_;
  const std::vector<std::vector<int>> rows_;
  const std::vector<Integer> sides_;
  const std::vector<Integer> uppers_;
  const Rational unit_;
  std::unique_ptr<LinearProgram> program_;
  std::unique_ptr<LinearProgram> slack_program_;  // how far the equations are from being satisfied
  std::vector<double> values_;
};

}  // namespace privacy_score
