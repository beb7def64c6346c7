/*
 * corner_relaxation.hpp - settings in whole buckets near a solution in fractions, in order of their loss.
 *
 * At a vertex of the linear program the basic variables follow from the others, b = v - T t with t >= 0 the distances
 * of the nonbasic variables from their bounds, which are integers because all coefficients are. Those t for which b is
 * in whole numbers form a coset of a lattice, and the entries of T have a small common denominator D: which t are right
 * is decided in a finite group of at most D^rank elements, in practice 2 to some thousand. The least loss over that
 * coset is a shortest path in the group (Gomory's corner relaxation), and a best-first search lists its points by loss.
 * They leave out that the basic variables have bounds, and the cuts that are not tight; the first point that satisfies
 * those too is the optimum. Far from the bounds, as with many rows, that is the first of all.
 *
 * T comes from floating point, is rounded to integers over D, and is verified with integers: what is said here is
 * exact.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "core/buckets/dual_simplex.hpp"
#include "core/buckets/finite_group.hpp"
#include "core/buckets/hall_cuts.hpp"

namespace privacy_score {

class CornerRelaxation {
 public:
  // At the present vertex of the simplex, for solutions of a loss below `limit`; with tables of at most this many
  // entries. It gives up when `stop`, which outlives the object, says so.
  CornerRelaxation(const BucketProgram& program, const std::vector<BucketCut>& cuts, const DualSimplex& simplex,
                   std::int64_t limit, std::size_t most_entries, const std::function<bool()>& stop);

  // False when the group is too large, the numbers do not verify, or it gave up: nothing else may be asked then.
  bool usable() const { return usable_; }

  // The next solution, in order of loss; variables may be out of bounds and cuts that are not tight broken. False when
  // none is left below the limit, the list has become too long, or it gives up.
  bool Next(std::vector<std::int64_t>& buckets, std::int64_t& loss);

  // Demands sum coefficients[k] * buckets[k] <= limit of the solutions to come. Those that cannot reach it any more are
  // left out; others may still break it.
  void Demand(const std::vector<std::int32_t>& coefficients, std::int64_t limit);

  // No solution that satisfies the demands and has not been returned yet has less loss; at most the limit.
  std::int64_t Bound() const { return bound_; }

 private:
  // One distance that may be positive.
  struct Direction {
    std::int64_t cost;                 // times the denominator
    std::size_t element;               // of the group
    std::vector<std::int64_t> effect;  // on the basic variables, times the denominator
    std::size_t place;                 // of the nonbasic number of buckets, or no place for a slack
    std::int64_t sign;                 // of a step, on that number
  };
  // A point on the way: steps in directions up to `direction` are taken; `rest` of the group is still to be reached.
  struct Point {
    std::int64_t cost;
    std::uint32_t parent;  // where the last step led from; the first point for itself
    std::uint32_t rest;
    std::uint16_t stepped;  // the direction of the last step
    std::uint16_t direction;
    std::uint16_t steps;
  };
  // slack - sum over the steps of losses[direction] >= 0, all times the denominator.
  struct Condition {
    __int128 slack;
    std::vector<std::int64_t> losses;  // by direction
    std::vector<double> least_prices;  // by direction: cost of a unit of slack, from this direction on
  };
  struct Entry {
    std::int64_t cost;  // of the cheapest completion
    std::uint16_t steps;
    std::uint32_t point;
    // The least cost comes first, then the fewest steps, because steps without cost lead on for ever; then the newest.
    bool operator<(const Entry& other) const {
      if (cost != other.cost) return cost > other.cost;
      return steps != other.steps ? steps > other.steps : point < other.point;
    }
  };

  bool ReadVertex(const BucketProgram& program, const std::vector<BucketCut>& cuts, const DualSimplex& simplex);
  bool Verify(const BucketProgram& program, const std::vector<BucketCut>& cuts, const DualSimplex& simplex) const;
  void LeaveOutBlocked(const DualSimplex& simplex);
  bool FindDistances();
  void Add(const Point& point);
  std::int64_t CostToMend(const Point& point) const;

  const std::function<bool()>& stop_;
  bool usable_ = false;
  std::int64_t denominator_ = 1;
  std::int64_t limit_;
  std::int64_t most_cost_ = 0;  // of steps, times the denominator, for a loss below the limit
  std::int64_t bound_ = 0;
  std::vector<std::int64_t> vertex_;   // by place: the bound of nonbasic variables, the origin of basic ones
  std::vector<std::size_t> basic_;     // places of the basic variables
  std::vector<std::int64_t> offsets_;  // of the basic variables from their origins, times the denominator
  __int128 vertex_cost_ = 0;           // times the denominator
  std::vector<Direction> directions_;  // the dearest first
  std::optional<FiniteGroup> group_;
  std::vector<std::uint32_t> distances_;  // direction by element: least cost to reach 0 from this direction on
  std::vector<Condition> conditions_;
  std::vector<Point> points_;
  std::priority_queue<Entry> queue_;
};

}  // namespace privacy_score
