/*
 * equivocation.cpp - see equivocation.hpp.
 *
 * The best cut at epsilon has a greatest spread s <= epsilon: H is constant from s to epsilon, and the best cut with
 * all spreads below s gives the next step. So there is one evaluation for each step. Evaluations are made cheap by
 * chunks: between two epsilons l < h a boundary can be used only if the least costs before and behind it at h, which
 * are not more than those at any smaller epsilon, come to no more than the cost at l; and so can a window. What remains
 * is a few per cent of the boundaries, and at the last level so few windows that they are kept with their costs.
 */
#include "core/loss/equivocation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

// Costs are sums of up to some thousand terms: two that differ by less are one.
constexpr double kFilterTolerance = 1e-11;
constexpr double kEqual = 1e-12;
// Up to so many values all windows are kept.
constexpr std::size_t kFewValues = 128;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kBoundaryBlock = 8;  // boundaries that are left out together

// Windows between boundaries, with what they cost.
struct WindowList {
  std::vector<std::uint32_t> from;
  std::vector<std::int64_t> spreads;
  std::vector<double> costs;

  // Adds the windows from start..end - 1 to the boundary `end` that cost, with what is before them, at most so much.
  // Returns how many costs it worked out.
  std::size_t Add(const Boundaries& boundaries, const std::vector<double>& before, double most, std::size_t start,
                  std::size_t end) {
    std::size_t worked_out = 0;
    const double sum = boundaries.sums[end];
    for (std::size_t block = start; block < end; block += kBoundaryBlock) {
      const std::size_t block_end = std::min(block + kBoundaryBlock, end);
      ++worked_out;
      // Costs before increase with the boundary, and windows get shorter.
      if (before[block] + WindowCost(sum - boundaries.sums[block_end - 1]) > most) continue;
      worked_out += block_end - block;
      for (std::size_t i = block; i < block_end; ++i) {
        const double cost = WindowCost(sum - boundaries.sums[i]);
        if (before[i] + cost > most) continue;
        from.push_back(static_cast<std::uint32_t>(i));
        spreads.push_back(boundaries.last[end] - boundaries.first[i]);
        costs.push_back(cost);
      }
    }
    return worked_out;
  }

  double CostThrough(const std::vector<double>& before, std::size_t window) const {
    return before[from[window]] + costs[window];
  }
  // The least cost through one of the windows begin..end - 1; infinity without any. Which of them it is can hardly be
  // predicted, so nothing here depends on it, and four go at a time.
  double Least(const std::vector<double>& before, std::size_t begin, std::size_t end) const {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double least[4] = {kNone, kNone, kNone, kNone};
    for (; begin + 4 <= end; begin += 4)
      for (std::size_t i = 0; i < 4; ++i) least[i] = std::min(least[i], CostThrough(before, begin + i));
    for (; begin < end; ++begin) least[0] = std::min(least[0], CostThrough(before, begin));
    return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
  }
  // The first of them that costs least. There is one.
  std::size_t Cheapest(const std::vector<double>& before, std::size_t begin, std::size_t end) const {
    std::size_t cheapest = begin;
    for (std::size_t window = begin + 1; window < end; ++window)
      if (CostThrough(before, window) < CostThrough(before, cheapest)) cheapest = window;
    return cheapest;
  }
};

}  // namespace

std::int64_t EpsilonSteps(const ValueLaw& law, const Decimal& epsilon) {
  if (epsilon.digits < 0)
    throw InvalidValue("epsilon must be at least 0, not " + DecimalText(epsilon.digits, epsilon.decimals),
                       "It is the spread within which values count as one.");
  Int128 steps = epsilon.digits;
  const Int128 range = law.steps().back();
  for (int i = law.decimals(); i < epsilon.decimals; ++i) steps /= 10;
  for (int i = epsilon.decimals; i < law.decimals() && steps < range; ++i) steps *= 10;
  return static_cast<std::int64_t>(std::min(steps, range));
}

double EquivocationAt(const ValueLaw& law, std::int64_t epsilon, const WorkControl& control) {
  PauseCounter pause(control);
  const Boundaries all = AllBoundaries(law.steps(), law.probabilities());
  const double cost = BestCut(all, std::min(epsilon, law.steps().back()), &pause).costs.back();
  return std::max(0.0, (cost - all.sums.back()) / M_LN2);
}

EquivocationCurve::EquivocationCurve(const ValueLaw& law)
    : boundaries_(AllBoundaries(law.steps(), law.probabilities())) {
  const std::size_t n = law.steps().size();
  if (n > kFewValues) targets_ = {400, 50};
  if (n > 5000) targets_ = {3000, 400, 48};
  const std::int64_t range = law.steps().back();
  for (const std::size_t target : targets_)
    widths_.push_back(
        std::max<std::int64_t>(1, range / static_cast<std::int64_t>(n) * static_cast<std::int64_t>(target) / 8));
  steps_.push_back({range, 0});
}

double EquivocationCurve::EntropyOfCost(double cost) const {
  return std::max(0.0, (cost - boundaries_.sums.back()) / M_LN2);
}

// Ties give the same entropy with a smaller spread: the step then begins there.
void EquivocationCurve::Record(std::int64_t epsilon, double entropy) {
  ++recorded_;
  if (entropy - steps_.back().entropy < kEqual)
    steps_.back().epsilon = epsilon;
  else
    steps_.push_back({epsilon, entropy});
}

bool EquivocationCurve::Run(const WorkControl& control) try {
  PauseCounter pause(control);
  if (steps_.back().epsilon == 0) return true;  // one value, or all steps are found
  if (targets_.empty()) {
    const std::vector<double> none(boundaries_.size());
    Leaf(boundaries_, none, none, std::numeric_limits<double>::infinity(), -1, kAll, &pause);
  } else {
    Chunks(boundaries_, -1, 0, kAll, &pause);
  }
  return true;
} catch (const Paused&) {
  return false;
}

// Steps above `low`, in chunks; false when it gave up after most_steps, for the caller to filter anew. The boundaries
// are those that the best cuts at all epsilons from max(low, 0) up to the last step may use.
bool EquivocationCurve::Chunks(const Boundaries& boundaries, std::int64_t low, std::size_t level,
                               std::size_t most_steps, PauseCounter* pause) {
  const std::size_t at_start = recorded_;
  while (steps_.back().epsilon > std::max<std::int64_t>(low, 0)) {
    if (recorded_ - at_start > most_steps) return false;
    const std::int64_t high = steps_.back().epsilon - 1;
    const CutResult top = BestCut(boundaries, high, pause);
    if (top.spread <= low) return true;
    Record(top.spread, EntropyOfCost(top.costs.back()));
    if (top.spread == 0) return true;
    const std::int64_t bottom = std::max({low, top.spread - 1 - widths_[level], std::int64_t{0}});
    const CutResult least = BestCut(boundaries, bottom, pause);
    const double most = least.costs.back() + kFilterTolerance;
    const std::vector<double> behind = CostsBehind(boundaries, high, pause);
    std::vector<char> keep(boundaries.size());
    for (std::size_t k = 0; k < boundaries.size(); ++k) keep[k] = top.costs[k] + behind[k] <= most ? 1 : 0;
    const Boundaries kept = KeptBoundaries(boundaries, keep);
    const std::size_t before = recorded_;
    const std::size_t target = targets_[level];
    bool whole;
    if (level + 1 < targets_.size()) {
      whole = Chunks(kept, bottom, level + 1, 2 * target, pause);
    } else {
      std::vector<double> kept_before, kept_behind;
      for (std::size_t k = 0; k < boundaries.size(); ++k) {
        if (keep[k] == 0 && k != 0 && k + 1 != boundaries.size()) continue;
        kept_before.push_back(top.costs[k]);
        kept_behind.push_back(behind[k]);
      }
      whole = Leaf(kept, kept_before, kept_behind, most, bottom, 2 * target, pause);
    }
    // The step that holds the bottom is the same with all boundaries; it may lie at or below `low`.
    if (whole && least.spread > low && least.spread < steps_.back().epsilon)
      Record(least.spread, EntropyOfCost(least.costs.back()));
    const double got = std::max(1.0, static_cast<double>(recorded_ - before));
    const double factor = std::clamp(static_cast<double>(target) / got, 0.25, 4.0);
    widths_[level] = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::min(4e18, static_cast<double>(widths_[level]) * factor)));
    if (whole && least.spread <= low) return true;
  }
  return true;
}

// Steps above `low` over a list of the windows that pass the filter; false when it gave up after most_steps.
bool EquivocationCurve::Leaf(const Boundaries& boundaries, const std::vector<double>& before,
                             const std::vector<double>& behind, double most, std::int64_t low, std::size_t most_steps,
                             PauseCounter* pause) {
  // By the boundary they end at, the widest first: those that have become too wide are at the front.
  WindowList windows;
  const std::size_t size = boundaries.size();
  std::int64_t limit = steps_.back().epsilon;
  std::vector<std::size_t> begins(size);
  std::vector<std::size_t> ends(size);
  std::size_t start = 0;
  for (std::size_t j = 1; j < size; ++j) {
    while (boundaries.last[j] - boundaries.first[start] >= limit) ++start;
    begins[j] = windows.costs.size();
    pause->Add(windows.Add(boundaries, before, most - behind[j], start, j) * 16);
    ends[j] = windows.costs.size();
  }
  std::vector<double> costs(size);
  const std::size_t at_start = recorded_;
  while (limit > std::max<std::int64_t>(low, 0)) {
    if (recorded_ - at_start > most_steps) return false;
    std::size_t looked = 0;
    for (std::size_t j = 1; j < size; ++j) {
      while (begins[j] < ends[j] && windows.spreads[begins[j]] >= limit) ++begins[j];
      costs[j] = windows.Least(costs, begins[j], ends[j]);
      looked += ends[j] - begins[j];
    }
    pause->Add(looked);
    if (std::isinf(costs.back())) return true;  // all cuts left lie at or below the bottom
    std::int64_t spread = 0;
    for (std::size_t j = size - 1; j > 0;) {
      const std::size_t chosen = windows.Cheapest(costs, begins[j], ends[j]);
      spread = std::max(spread, windows.spreads[chosen]);
      j = windows.from[chosen];
    }
    if (spread <= low) return true;
    Record(spread, EntropyOfCost(costs.back()));
    limit = spread;
  }
  return true;
}

double EquivocationCurve::EntropyAt(std::int64_t epsilon) const {
  const auto step = std::partition_point(steps_.begin(), steps_.end(),
                                         [epsilon](const EquivocationStep& s) { return s.epsilon > epsilon; });
  return step->entropy;
}

double EquivocationCurve::Area(int decimals) const {
  long double area = 0;
  for (std::size_t i = 1; i < steps_.size(); ++i)
    area += static_cast<long double>(steps_[i].entropy) *
            static_cast<long double>(steps_[i - 1].epsilon - steps_[i].epsilon);
  return static_cast<double>(area / std::pow(10.0L, decimals));
}

}  // namespace privacy_score
