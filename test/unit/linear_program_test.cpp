/*
 * linear_program_test.cpp - linear programs through the table of functions, and with that the solver's module.
 */
#include "core/inference/linear_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.hpp"
#include "core/base/paused.hpp"
#include "error_fixture.hpp"
#include "solver_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Maximise;
using Status = LinearSolution::Status;
using testing_support::ErrorOf;

TEST(LinearProgram, SolvesSeveralObjectivesOverOneSet) {
  LinearForm form;
  for (int j = 0; j < 3; ++j) form.AddColumn(0, 10);
  form.AddRow({0, 1}, {1, 1}, 12, 12);
  form.AddRow({1, 2}, {1, 1}, 7, 7);
  LinearProgram program(*ps_linear_solver(), form);
  const double lows[] = {5, 2, 0}, highs[] = {10, 7, 5};
  for (std::size_t j = 0; j < 3; ++j) {
    std::vector<double> costs(3);
    costs[j] = 1;
    EXPECT_NEAR(program.Minimise(costs, {}).objective, lows[j], 1e-9) << j;
    const LinearSolution high = Maximise(program, costs);
    EXPECT_NEAR(high.objective, highs[j], 1e-9) << j;
    EXPECT_NEAR(high.columns[0] + high.columns[1], 12, 1e-9);
  }
}

TEST(LinearProgram, TellsWhatHasNoSolutionOrNoBound) {
  LinearForm form;
  form.AddColumn(0, 1);
  form.AddColumn(0, 1);
  form.AddRow({0, 1}, {1, 1}, 3, 3);
  LinearProgram impossible(*ps_linear_solver(), form);
  EXPECT_EQ(impossible.Minimise({1, 0}, {}).status, Status::kInfeasible);
  EXPECT_EQ(Maximise(impossible, {0, 1}).status, Status::kInfeasible);

  LinearForm open;
  open.AddColumn(0, kNoLinearBound);
  open.AddColumn(-kNoLinearBound, kNoLinearBound);
  open.AddRow({0, 1}, {1, 1}, -kNoLinearBound, 5);
  LinearProgram unbounded(*ps_linear_solver(), open);
  EXPECT_EQ(Maximise(unbounded, {1, 0}).status, Status::kUnbounded);
  EXPECT_NEAR(unbounded.Minimise({1, 0}, {}).objective, 0, 1e-9);
  EXPECT_EQ(unbounded.Minimise({0, 1}, {}).status, Status::kUnbounded);
  EXPECT_NEAR(Maximise(unbounded, {0, 1}).objective, 5, 1e-9);
}

TEST(LinearProgram, WorksWithoutRows) {
  LinearForm form;
  form.AddColumn(-2, 3);
  LinearProgram program(*ps_linear_solver(), form);
  EXPECT_NEAR(program.Minimise({1}, {}).objective, -2, 1e-9);
  EXPECT_NEAR(Maximise(program, {1}).objective, 3, 1e-9);
}

// A transport problem with random prices, which takes many steps.
LinearForm Transport(int places) {
  LinearForm form;
  std::vector<std::vector<int>> into(static_cast<std::size_t>(places));
  std::vector<std::vector<int>> out(static_cast<std::size_t>(places));
  for (auto& row : out)
    for (auto& column : into) {
      const int number = form.AddColumn(0, kNoLinearBound);
      row.push_back(number);
      column.push_back(number);
    }
  const std::vector<double> ones(static_cast<std::size_t>(places), 1);
  for (const auto& row : out) form.AddRow(row, ones, 1, 1);
  for (const auto& column : into) form.AddRow(column, ones, 1, 1);
  return form;
}

int questions;
int questions_before_stop;
bool StopAfterAWhile() { return ++questions > questions_before_stop; }

TEST(LinearProgram, StopsWhenAskedAndGoesOn) {
  const LinearForm form = Transport(40);
  std::mt19937 random(7);
  std::vector<double> prices;
  for (int j = 0; j < form.columns(); ++j) prices.push_back(std::uniform_real_distribution<>(0, 1)(random));
  LinearProgram undisturbed(*ps_linear_solver(), form);
  const double best = undisturbed.Minimise(prices, {}).objective;

  LinearProgram disturbed(*ps_linear_solver(), form);
  WorkControl control;
  control.interrupted = StopAfterAWhile;
  int stops = 0;
  for (questions_before_stop = 10;; questions_before_stop *= 2) {
    questions = 0;
    try {
      EXPECT_NEAR(disturbed.Minimise(prices, control).objective, best, 1e-9);
      break;
    } catch (const Paused&) {
      ++stops;
    }
  }
  EXPECT_GT(stops, 1);
}

// Proves optima of random programs by their duals: x is feasible, and no x can do better than the duals say.
TEST(LinearProgram, DualsProveRandomOptima) {
  std::mt19937 random(11);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  int optimal = 0;
  for (int round = 0; round < 1000; ++round) {
    const int columns = pick(1, 8), rows = pick(0, 6);
    LinearForm form;
    std::vector<double> upper;
    for (int j = 0; j < columns; ++j) {
      upper.push_back(pick(0, 9));
      form.AddColumn(0, upper.back());
    }
    std::vector<std::vector<double>> matrix;
    std::vector<double> sides;
    for (int i = 0; i < rows; ++i) {
      std::vector<int> places;
      std::vector<double> values, row(static_cast<std::size_t>(columns));
      double side = 0;
      for (int j = 0; j < columns; ++j) {
        if (pick(0, 1) == 0) continue;
        places.push_back(j);
        values.push_back(pick(1, 3));
        row[static_cast<std::size_t>(j)] = values.back();
        side += values.back() * pick(0, static_cast<int>(upper[static_cast<std::size_t>(j)]));
      }
      if (pick(0, 9) == 0) side += 7;
      form.AddRow(places, values, side, side);
      matrix.push_back(row);
      sides.push_back(side);
    }
    LinearProgram program(*ps_linear_solver(), form);
    for (int objective = 0; objective < 3; ++objective) {
      std::vector<double> costs;
      for (int j = 0; j < columns; ++j) costs.push_back(pick(-5, 5));
      const LinearSolution solution = program.Minimise(costs, {});
      if (solution.status != Status::kOptimal) {
        EXPECT_EQ(solution.status, Status::kInfeasible);
        continue;
      }
      ++optimal;
      double bound = 0;
      std::vector<double> reduced = costs;
      for (std::size_t i = 0; i < matrix.size(); ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < reduced.size(); ++j) {
          sum += matrix[i][j] * solution.columns[j];
          reduced[j] -= solution.row_duals[i] * matrix[i][j];
        }
        EXPECT_NEAR(sum, sides[i], 1e-7);
        bound += solution.row_duals[i] * sides[i];
      }
      for (std::size_t j = 0; j < reduced.size(); ++j) bound += std::min(0.0, reduced[j]) * upper[j];
      EXPECT_NEAR(bound, solution.objective, 1e-7);
    }
  }
  EXPECT_GT(optimal, 500);
}

// What a solver answers when it cannot go on.
PsLinearStatus last_word;
PsLinearStatus GiveUp(void*, const double*, bool (*)(), PsLinearSolution*) { return last_word; }
void* OpenNothing(const PsLinearForm*) { return nullptr; }

TEST(LinearProgram, TellsWhyTheSolverGaveUp) {
  LinearForm form;
  form.AddColumn(0, 1);
  PsLinearSolver tired = *ps_linear_solver();
  tired.minimise = GiveUp;
  LinearProgram program(tired, form);
  last_word = PS_LINEAR_STUCK;
  EXPECT_EQ(ErrorOf([&] { program.Minimise({1}, {}); }), "XX000 the solver of linear programs did not come to an end");
  last_word = PS_LINEAR_NO_MEMORY;
  EXPECT_THROW(program.Minimise({1}, {}), std::bad_alloc);
  tired.open = OpenNothing;
  EXPECT_THROW(LinearProgram(tired, form), std::bad_alloc);
}

}  // namespace
}  // namespace privacy_score
