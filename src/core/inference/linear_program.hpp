/*
 * linear_program.hpp - linear programs: several objectives over one set { A x within row bounds, x within bounds }.
 *
 * The solver is passed in (linear_solver.hpp). Numbers are doubles and right to about 1e-9 of the magnitudes in the
 * program, so scale it to magnitudes near one; what must be certain is proved from the duals by the caller.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/base/work_control.hpp"
#include "core/inference/linear_solver.hpp"

namespace privacy_score {

constexpr double kNoLinearBound = std::numeric_limits<double>::infinity();

// A program as it is put together.
class LinearForm {
 public:
  // Returns the number of the column, from 0.
  int AddColumn(double lower, double upper);
  // A row sum of values[k] x[columns[k]], within bounds that are equal for an equation. Each column at most once.
  void AddRow(const std::vector<int>& columns, const std::vector<double>& values, double lower, double upper);

  int rows() const { return static_cast<int>(row_lower_.size()); }
  int columns() const { return static_cast<int>(column_lower_.size()); }
  // As the solver takes it; good while the form is not changed.
  PsLinearForm View() const;

 private:
  std::vector<std::int64_t> row_starts_{0};
  std::vector<int> row_columns_;
  std::vector<double> row_values_;
  std::vector<double> row_lower_, row_upper_;
  std::vector<double> column_lower_, column_upper_;
};

struct LinearSolution {
  enum class Status { kOptimal, kInfeasible, kUnbounded } status = Status::kOptimal;
  // Set when optimal.
  double objective = 0;
  std::vector<double> columns;
  std::vector<double> row_duals;
};

// One program that is solved for several objectives.
class LinearProgram {
 public:
  // The solver outlives it. Throws Error 53200 when memory is short.
  LinearProgram(const PsLinearSolver& solver, const LinearForm& form);

  // Throws Paused (paused.hpp) when an interrupt is pending: called again with the same objective it goes on where it
  // stood. Throws Error XX000 when rounding errors keep the solver from an end, 53200 when memory is short.
  LinearSolution Minimise(const std::vector<double>& costs, const WorkControl& control);

 private:
  struct Closer {
    const PsLinearSolver* solver;
    void operator()(void* program) const { solver->close(program); }
  };

  int rows_;
  int columns_;
  std::unique_ptr<void, Closer> program_;
};

}  // namespace privacy_score
