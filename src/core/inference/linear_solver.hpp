/*
 * linear_solver.hpp - what core asks of a solver of linear programs: a table of C functions.
 *
 * The solver lies in a module of its own (src/solver), which few sessions need and which is loaded when it is first
 * used. Nothing but plain data crosses this border: no exception, no C++ type, no memory that the other side frees. The
 * functions never call the server, print nothing and start no thread.
 */
#pragma once

#include <cstdint>

extern "C" {

// Rows of coefficients with bounds of rows and columns:  row_lower <= A x <= row_upper,  column_lower <= x <=
// column_upper. An equation has equal bounds; +-infinity (HUGE_VAL) is no bound. Everything is copied when the program
// is opened.
struct PsLinearForm {
  int rows;
  int columns;
  const std::int64_t* row_starts;  // rows + 1 of them: where a row begins in the two lists
  const int* row_columns;          // from 0, each at most once in a row
  const double* row_values;
  const double* row_lower;
  const double* row_upper;
  const double* column_lower;
  const double* column_upper;
};

enum PsLinearStatus {
  PS_LINEAR_OPTIMAL = 0,
  PS_LINEAR_INFEASIBLE = 1,
  PS_LINEAR_UNBOUNDED = 2,
  PS_LINEAR_STOPPED = 3,  // asked to; the next call goes on where this one stood
  PS_LINEAR_STUCK = 4,    // rounding errors kept it from an end
  PS_LINEAR_NO_MEMORY = 5,
};

// Of the last call; the arrays are the solver's and good until the next call.
struct PsLinearSolution {
  double objective;
  const double* columns;    // x
  const double* row_duals;  // y: the objective is sum y row bound + sum (costs - A'y) column bound
};

struct PsLinearSolver {
  int version;  // PS_LINEAR_VERSION
  // Null when memory is short. The program is closed with close().
  void* (*open)(const PsLinearForm* form);
  // Minimises costs x from where the last call ended: another objective over the same program is cheap. `stop` only
  // reads a flag and is asked at each step; null: never stop.
  PsLinearStatus (*minimise)(void* program, const double* costs, bool (*stop)(), PsLinearSolution* solution);
  void (*close)(void* program);
};

}  // extern "C"

constexpr int PS_LINEAR_VERSION = 1;
