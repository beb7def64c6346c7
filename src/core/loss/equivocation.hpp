/*
 * equivocation.hpp - what is left to guess of a number when being right within epsilon is enough [Alfalayleh,
 * Brankovic].
 *
 * H(epsilon) is the least entropy over cuts of the sorted values into windows of spread at most epsilon. It is a
 * falling step function; the curve has all of its steps, exactly. The area below it is the resistance to approximate
 * compromise.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/loss/value_law.hpp"
#include "core/loss/window_cuts.hpp"

namespace privacy_score {

// From this epsilon, in steps of the law's grid, up to that of the step before the entropy is constant.
struct EquivocationStep {
  std::int64_t epsilon;
  double entropy;  // bits
};

// Epsilon in steps of the law's grid, rounded down, and no more than the law's range. Throws Error 22023 below 0.
std::int64_t EpsilonSteps(const ValueLaw& law, const Decimal& epsilon);

// H(epsilon) alone. Throws Paused.
double EquivocationAt(const ValueLaw& law, std::int64_t epsilon, const WorkControl& control);

class EquivocationCurve {
 public:
  explicit EquivocationCurve(const ValueLaw& law);

  // Finds all steps; false when it was interrupted: call it again, it goes on where it was.
  bool Run(const WorkControl& control);

  // Descending from the epsilon at which the entropy reaches 0 down to 0; once Run has returned true.
  const std::vector<EquivocationStep>& steps() const { return steps_; }
  // H(epsilon), by the same.
  double EntropyAt(std::int64_t epsilon) const;
  // The integral of H, in bits times units of the values.
  double Area(int decimals) const;

 private:
  double EntropyOfCost(double cost) const;
  void Record(std::int64_t epsilon, double entropy);
  bool Chunks(const Boundaries& boundaries, std::int64_t low, std::size_t level, std::size_t most_steps,
              PauseCounter* pause);
  bool Leaf(const Boundaries& boundaries, const std::vector<double>& before, const std::vector<double>& behind,
            double most, std::int64_t low, std::size_t most_steps, PauseCounter* pause);

  Boundaries boundaries_;
  std::vector<std::size_t> targets_;  // steps a chunk, by level; none: no chunks
  std::vector<std::int64_t> widths_;  // of chunks, by level, as they have proved right
  std::vector<EquivocationStep> steps_;
  std::size_t recorded_ = 0;  // also those that were merged
};

}  // namespace privacy_score
