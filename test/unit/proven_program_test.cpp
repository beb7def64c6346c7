/*
 * proven_program_test.cpp - proofs of bounds, with good multipliers of a solver and with bad ones.
 */
#include "core/inference/proven_program.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "error_fixture.hpp"
#include "solver_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

using Rows = std::vector<std::vector<int>>;

TEST(ProvenProgram, FindsFractionsExactly) {
  // s0 + s1 + s2 = 10, and each of them with s3 is 10: s3 = 20/3
  ProvenProgram program(*ps_linear_solver(), Rows{{0, 1, 2}, {0, 3}, {1, 3}, {2, 3}}, {10, 10, 10, 10},
                        {10, 10, 10, 10}, 10);
  EXPECT_EQ(program.Least(3, {}), Rational(20, 3));
  EXPECT_EQ(program.Greatest(3, {}), Rational(20, 3));
  EXPECT_EQ(program.Greatest(0, {}), Rational(10, 3));
}

TEST(ProvenProgram, KnowsWhichRowsContradict) {
  ProvenProgram program(*ps_linear_solver(), Rows{{0, 1}, {2, 3}, {1, 2}, {0, 3}}, {9, 3, 1, 1}, {5, 5, 5, 5}, 5);
  for (int call = 0; call < 2; ++call) {
    try {
      program.Least(0, {});
      FAIL() << "there is no solution";
    } catch (const Contradiction& contradiction) {
      EXPECT_FALSE(contradiction.rows.empty());
      for (const int row : contradiction.rows) EXPECT_LT(row, 4);
    }
  }
}

TEST(ProvenProgram, PushesToLimits) {
  ProvenProgram program(*ps_linear_solver(), Rows{{0, 1, 2}}, {100}, {70, 70, 70}, 70);
  program.Push({0, 1}, true, {});
  EXPECT_NEAR(program.values()[2], 0, 1e-9);
  program.Push({0, 1}, false, {});
  EXPECT_NEAR(program.values()[2], 1, 1e-9);
}

// A solver that answers with the right point and multipliers that are slightly, or badly, wrong.
double wrong_by;
PsLinearStatus MinimiseWrongly(void* program, const double* costs, bool (*stop)(), PsLinearSolution* solution) {
  static std::vector<double> duals;
  const PsLinearStatus status = ps_linear_solver()->minimise(program, costs, stop, solution);
  duals.assign(solution->row_duals, solution->row_duals + 2);
  for (double& dual : duals) dual += wrong_by;
  solution->row_duals = duals.data();
  return status;
}

TEST(ProvenProgram, BelievesNoMultipliers) {
  PsLinearSolver liar = *ps_linear_solver();
  liar.minimise = MinimiseWrongly;
  const auto least = [&] {
    ProvenProgram program(liar, Rows{{0, 1}, {1, 2}}, {12, 7}, {10, 10, 10}, 10);
    return program.Least(0, {});
  };
  wrong_by = 1e-10;  // is rounded away
  EXPECT_EQ(least(), Rational(5));
  wrong_by = 2.5e-8;  // leaves a bound that is looser, but one
  EXPECT_LT(least(), Rational(5));
  EXPECT_GT(least(), Rational(5) - Rational(1, 100000));
  wrong_by = 0.25;
  EXPECT_THROW(least(), Error);
  wrong_by = 1e300;
  EXPECT_THROW(least(), Error);
}

// A solver that says there is no solution, and cannot show why.
PsLinearStatus DenySolutions(void*, const double*, bool (*)(), PsLinearSolution*) { return PS_LINEAR_INFEASIBLE; }

TEST(ProvenProgram, BelievesNoContradictionWithoutProof) {
  PsLinearSolver liar = *ps_linear_solver();
  liar.minimise = DenySolutions;
  ProvenProgram program(liar, Rows{{0, 1}, {1, 2}}, {12, 7}, {10, 10, 10}, 10);
  EXPECT_EQ(ErrorOf([&] { program.Least(0, {}); }),
            "XX000 the solver of linear programs could not tell whether there is a solution");
}

}  // namespace
}  // namespace privacy_score
