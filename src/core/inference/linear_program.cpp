/*
 * linear_program.cpp - see linear_program.hpp.
 */
#include "core/inference/linear_program.hpp"

#include <new>

#include "core/base/error.hpp"
#include "core/base/paused.hpp"

namespace privacy_score {

int LinearForm::AddColumn(double lower, double upper) {
  column_lower_.push_back(lower);
  column_upper_.push_back(upper);
  return columns() - 1;
}

void LinearForm::AddRow(const std::vector<int>& columns, const std::vector<double>& values, double lower,
                        double upper) {
  row_columns_.insert(row_columns_.end(), columns.begin(), columns.end());
  row_values_.insert(row_values_.end(), values.begin(), values.end());
  row_starts_.push_back(static_cast<std::int64_t>(row_columns_.size()));
  row_lower_.push_back(lower);
  row_upper_.push_back(upper);
}

PsLinearForm LinearForm::View() const {
  PsLinearForm view;
  view.rows = rows();
  view.columns = columns();
  view.row_starts = row_starts_.data();
  view.row_columns = row_columns_.data();
  view.row_values = row_values_.data();
  view.row_lower = row_lower_.data();
  view.row_upper = row_upper_.data();
  view.column_lower = column_lower_.data();
  view.column_upper = column_upper_.data();
  return view;
}

LinearProgram::LinearProgram(const PsLinearSolver& solver, const LinearForm& form)
    : rows_(form.rows()), columns_(form.columns()), program_(nullptr, Closer{&solver}) {
  const PsLinearForm view = form.View();
  program_.reset(solver.open(&view));
  if (program_ == nullptr) throw std::bad_alloc();
}

LinearSolution LinearProgram::Minimise(const std::vector<double>& costs, const WorkControl& control) {
  PsLinearSolution solved{};
  LinearSolution solution;
  switch (program_.get_deleter().solver->minimise(program_.get(), costs.data(), control.interrupted, &solved)) {
    case PS_LINEAR_OPTIMAL:
      solution.objective = solved.objective;
      solution.columns.assign(solved.columns, solved.columns + columns_);
      solution.row_duals.assign(solved.row_duals, solved.row_duals + rows_);
      return solution;
    case PS_LINEAR_INFEASIBLE:
      solution.status = LinearSolution::Status::kInfeasible;
      return solution;
    case PS_LINEAR_UNBOUNDED:
      solution.status = LinearSolution::Status::kUnbounded;
      return solution;
    case PS_LINEAR_STOPPED:
      throw Paused{};
    case PS_LINEAR_NO_MEMORY:
      throw std::bad_alloc();
    case PS_LINEAR_STUCK:
      break;
  }
  throw Error("XX000", "the solver of linear programs did not come to an end");
}

}  // namespace privacy_score
