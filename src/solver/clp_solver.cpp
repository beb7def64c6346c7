/*
 * clp_solver.cpp - the module privacy_score_solver: linear programs solved by COIN-OR Clp.
 *
 * All of the module is behind one table of functions (core/inference/linear_solver.hpp). It knows nothing of the
 * server: each function catches whatever Clp throws, and nothing of the server's runs inside. Clp's simplex is called
 * directly, never its driver, which would take over SIGINT; messages go nowhere; a program belongs to whoever opened
 * it.
 *
 * Clp and CoinUtils do not survive an exception of operator new: destructors free what they hold twice. So there is
 * none while they work: the new-handler jumps out, and what the program had is given up, never freed.
 */
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinMessageHandler.hpp>
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <memory>
#include <new>
#include <vector>

#include "core/inference/linear_solver.hpp"

namespace {

constexpr double kTolerance = 1e-9;

// Swallows all that Clp has to say.
class NoMessages : public CoinMessageHandler {
 public:
  int print() override { return 0; }
  void checkSeverity() override {}  // the inherited one ends the process at a severe message
  CoinMessageHandler* clone() const override { return new NoMessages(*this); }
};

// Stops Clp when the caller's flag is up. Clp keeps a copy, so the question is asked through a pointer.
class StopWhenAsked : public ClpEventHandler {
 public:
  explicit StopWhenAsked(bool (**stop)()) : stop_(stop) {}
  int event(Event) override { return *stop_ != nullptr && (*stop_)() ? 0 : -1; }
  ClpEventHandler* clone() const override { return new StopWhenAsked(*this); }

 private:
  bool (**stop_)();
};

class Program {
 public:
  explicit Program(const PsLinearForm& form) {
    model_.passInMessageHandler(&messages_);
    model_.setLogLevel(0);
    const StopWhenAsked events(&stop_);
    model_.passInEventHandler(&events);
    model_.setPrimalTolerance(kTolerance);
    model_.setDualTolerance(kTolerance);
    const CoinPackedMatrix by_rows(false, form.columns, form.rows, form.row_starts[form.rows], form.row_values,
                                   form.row_columns, StartsOf(form).data(), nullptr);
    const std::vector<double> costs(static_cast<std::size_t>(form.columns));
    model_.loadProblem(by_rows, form.column_lower, form.column_upper, costs.data(), form.row_lower, form.row_upper);
  }

  PsLinearStatus Minimise(const double* costs, bool (*stop)(), PsLinearSolution* solution) {
    // What Clp has found out of another objective's unboundedness, or of a fault, is of no use any more.
    std::copy(costs, costs + model_.numberColumns(), model_.objective());
    stop_ = stop;
    PsLinearStatus status = Solve();
    if (status == PS_LINEAR_STUCK) {
      model_.allSlackBasis(true);
      model_.setPerturbation(50);
      status = Solve();
      model_.setPerturbation(100);
    }
    stop_ = nullptr;
    if (status != PS_LINEAR_OPTIMAL) return status;
    solution->columns = model_.primalColumnSolution();
    solution->row_duals = model_.dualRowSolution();
    solution->objective = 0;
    for (int j = 0; j < model_.numberColumns(); ++j) solution->objective += costs[j] * solution->columns[j];
    return std::isfinite(solution->objective) ? PS_LINEAR_OPTIMAL : PS_LINEAR_STUCK;
  }

 private:
  static std::vector<CoinBigIndex> StartsOf(const PsLinearForm& form) {
    return {form.row_starts, form.row_starts + form.rows + 1};
  }

  // The primal simplex goes on from a feasible basis; the dual one finds the first. With few steps to do Clp may end
  // without a look at the flag, which is as well.
  PsLinearStatus Solve() {
    if (solved_before_) {
      model_.primal();
    } else {
      model_.dual();
    }
    switch (model_.status()) {
      case 0:
        solved_before_ = true;
        return PS_LINEAR_OPTIMAL;
      case 1:
        return PS_LINEAR_INFEASIBLE;
      case 2:
        solved_before_ = true;
        return PS_LINEAR_UNBOUNDED;
      case 5:
        return PS_LINEAR_STOPPED;
      default:
        return PS_LINEAR_STUCK;
    }
  }

  NoMessages messages_;
  bool (*stop_)() = nullptr;
  bool solved_before_ = false;
  ClpSimplex model_;
};

// What the caller holds.
struct Opened {
  Program* program;
  bool lost;  // memory ran out in the middle of its work
};

sigjmp_buf* way_out = nullptr;

void LeaveClp() { siglongjmp(*way_out, 1); }

// The status that `work` returns, or why it came to no end. Holds nothing that has a destructor.
template <typename Work>
PsLinearStatus Contained(Work work) noexcept {
  sigjmp_buf out;
  const std::new_handler before = std::set_new_handler(LeaveClp);
  way_out = &out;
  if (sigsetjmp(out, 0) != 0) {
    std::set_new_handler(before);
    way_out = nullptr;
    return PS_LINEAR_NO_MEMORY;
  }
  PsLinearStatus status = PS_LINEAR_STUCK;
  try {
    status = work();
  } catch (...) {
    // Clp's own errors.
  }
  std::set_new_handler(before);
  way_out = nullptr;
  return status;
}

void* Open(const PsLinearForm* form) noexcept {
  auto* opened = new (std::nothrow) Opened{nullptr, false};
  if (opened == nullptr) return nullptr;
  const auto open = [=] {
    opened->program = new Program(*form);
    return PS_LINEAR_OPTIMAL;
  };
  if (Contained(open) == PS_LINEAR_OPTIMAL) return opened;
  delete opened;
  return nullptr;
}

PsLinearStatus Minimise(void* program, const double* costs, bool (*stop)(), PsLinearSolution* solution) noexcept {
  auto* opened = static_cast<Opened*>(program);
  if (opened->lost) return PS_LINEAR_NO_MEMORY;
  const PsLinearStatus status = Contained([=] { return opened->program->Minimise(costs, stop, solution); });
  opened->lost = status == PS_LINEAR_NO_MEMORY;
  return status;
}

void Close(void* program) noexcept {
  auto* opened = static_cast<Opened*>(program);
  if (!opened->lost) {
    (void)Contained([=] {
      delete opened->program;
      return PS_LINEAR_OPTIMAL;
    });
  }
  delete opened;
}

}  // namespace

// The module's only entry.
extern "C" __attribute__((visibility("default"))) const PsLinearSolver* ps_linear_solver() {
  static const PsLinearSolver solver = {PS_LINEAR_VERSION, Open, Minimise, Close};
  return &solver;
}
