/*
 * dual_simplex.hpp - small linear programs over numbers of buckets, solved again and again as conditions are added.
 *
 *   minimize sum cost_k b_k   subject to   sum weight_k b_k = total,   cuts sum a_k b_k <= limit,   low <= b <= high.
 *
 * A dense tableau of the nonbasic columns only, of which there is one less than variables however many cuts there are.
 * The start is the variable with the least cost for its weight, which takes the whole total: dual feasible, so that no
 * first phase is ever needed; cuts and bounds only break primal feasibility, which the dual simplex mends.
 *
 * Numbers are differences to an origin, a vector of integers near the solution: the integers of the conditions are
 * reduced by it exactly, and doubles hold only what is left, whether there are 100 or 10^12 rows. Results decide where
 * to look next; what is proved is proved with integers (bucket_bound.hpp).
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/buckets/hall_cuts.hpp"

namespace privacy_score {

// A linear program, but for the cuts and bounds.
struct BucketProgram {
  std::vector<std::int64_t> costs;  // not negative; cost/weight is least for the first variable
  std::vector<int> weights;         // greater than zero
  std::int64_t total = 0;
};

// A variable that is at a bound. Variables are the numbers of buckets, by place, then the slacks of the cuts.
struct NonbasicVariable {
  std::uint32_t variable;
  bool at_high;
};
using SimplexBasis = std::vector<NonbasicVariable>;

class DualSimplex {
 public:
  static constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();

  // `cuts` is the list that all cuts are taken from, by their numbers; it may grow. Both outlive the object.
  DualSimplex(const BucketProgram& program, const std::vector<BucketCut>& cuts);

  void AddCut(std::size_t cut);  // unless it is in
  void DropLooseCuts();
  bool IsActive(std::size_t cut) const;
  std::int64_t low(std::size_t place) const { return lows_[place]; }
  std::int64_t high(std::size_t place) const { return highs_[place]; }

  enum class Result { kOptimal, kInfeasible, kStuck };
  // Solves from where it stands; kStuck when rounding errors keep it from an end.
  Result Solve();

  // Makes a basic variable that is at its bound a nonbasic one, which changes the basis but not the solution. Variables
  // are numbered as in a basis; false when there is nothing to take its place.
  bool PivotOut(std::size_t variable, bool at_high);
  std::size_t SlackOf(std::size_t cut) const { return Places() + cut; }
  // Of an active cut; 0 when it is tight.
  double Slack(std::size_t cut) const;

  // Makes the rounded solution the origin.
  void Recentre();
  // Takes up a basis under other bounds. Its cuts are in afterwards, and no others.
  void Restore(const std::vector<std::int64_t>& lows, const std::vector<std::int64_t>& highs,
               const SimplexBasis& basis);

  std::int64_t Origin(std::size_t place) const { return origin_[place]; }
  double Offset(std::size_t place) const;  // difference of the solution to the origin
  double Value(std::size_t place) const { return static_cast<double>(origin_[place]) + Offset(place); }
  bool IsBasic(std::size_t place) const { return where_[place] >= 0; }

  struct Multiplier {
    std::size_t cut;
    double value;  // greater than zero
  };
  // After kOptimal the price of each tight cut; after kInfeasible the multipliers of the cuts that contradict each
  // other within the bounds.
  std::vector<Multiplier> Multipliers(Result result) const;

  // The tableau: basic variable i is values()[i] - sum over j of Row(i)[j] (x_j - bound_j), as differences to the
  // origin.
  const std::vector<std::uint32_t>& basic() const { return basic_; }
  const std::vector<double>& values() const { return values_; }
  const SimplexBasis& nonbasic() const { return nonbasic_; }
  const double* Row(std::size_t row) const { return entries_.data() + row * columns_; }

 private:
  std::size_t Places() const { return program_.costs.size(); }
  double LowOf(std::size_t variable) const;
  double HighOf(std::size_t variable) const;
  double NonbasicValue(std::size_t column) const;
  double* Row(std::size_t row) { return entries_.data() + row * columns_; }
  std::ptrdiff_t& Where(std::size_t variable);

  // A row a condition: coefficients of the basic variables, of the nonbasic ones, and the right side.
  struct Equations {
    std::size_t size, width;
    std::vector<double> matrix;
    double magnitude;  // of the right sides
    double* Row(std::size_t row) { return matrix.data() + row * width; }
    const double* Row(std::size_t row) const { return matrix.data() + row * width; }
    bool Solve();
  };
  bool ComputeTableau(const SimplexBasis& basis);
  void PlaceVariables(const SimplexBasis& basis);
  Equations EquationsOf(const SimplexBasis& basis) const;
  void TakeSolved(const Equations& equations);
  void Refresh();
  void Start();
  std::size_t LeavingRow() const;
  std::size_t EnteringColumn(std::size_t row, bool rises) const;
  void Pivot(std::size_t row, std::size_t column, double target);

  const BucketProgram& program_;
  const std::vector<BucketCut>& cuts_;
  std::size_t columns_;
  std::vector<std::int64_t> lows_;
  std::vector<std::int64_t> highs_;
  std::vector<std::int64_t> origin_;
  std::vector<double> entries_;             // basic by nonbasic: x_basic = value - sum entry (x_nonbasic - its bound)
  std::vector<std::uint32_t> basic_;        // variable of each row
  std::vector<double> values_;              // of the basic variables
  std::vector<NonbasicVariable> nonbasic_;  // variable of each column
  std::vector<double> reduced_costs_;       // of the nonbasic variables
  std::vector<std::ptrdiff_t> where_;       // by variable: its row, or -1 - its column, or kAbsent
  double tolerance_ = 1e-7;
  std::size_t infeasible_row_ = 0;
  int pivots_since_tableau_ = 0;
};

}  // namespace privacy_score
