/*
 * dual_simplex.cpp - the bounded dual simplex method on a dense tableau (see dual_simplex.hpp).
 */
#include "core/buckets/dual_simplex.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace privacy_score {

namespace {

constexpr std::ptrdiff_t kAbsent = std::numeric_limits<std::ptrdiff_t>::min();
constexpr double kLeastPivot = 1e-9;
constexpr double kDualTolerance = 1e-9;
constexpr int kPivotsBeforeRefresh = 100;
constexpr int kMostPivots = 5000;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace

DualSimplex::DualSimplex(const BucketProgram& program, const std::vector<BucketCut>& cuts)
    : program_(program),
      cuts_(cuts),
      columns_(program.costs.size() - 1),
      lows_(program.costs.size(), 0),
      highs_(program.costs.size(), kNoBound),
      origin_(program.costs.size(), 0) {
  Start();
}

// The basis of the first variable alone.
void DualSimplex::Start() {
  SimplexBasis basis;
  for (std::size_t k = 1; k < Places(); ++k) basis.push_back({static_cast<std::uint32_t>(k), false});
  ComputeTableau(basis);
}

double DualSimplex::LowOf(std::size_t variable) const {
  return variable < Places() ? static_cast<double>(lows_[variable] - origin_[variable]) : 0.0;
}

double DualSimplex::HighOf(std::size_t variable) const {
  if (variable >= Places() || highs_[variable] == kNoBound) return kInfinite;
  return static_cast<double>(highs_[variable] - origin_[variable]);
}

double DualSimplex::NonbasicValue(std::size_t column) const {
  const NonbasicVariable& nonbasic = nonbasic_[column];
  return nonbasic.at_high ? HighOf(nonbasic.variable) : LowOf(nonbasic.variable);
}

std::ptrdiff_t& DualSimplex::Where(std::size_t variable) {
  if (variable >= where_.size()) where_.resize(variable + 1, kAbsent);
  return where_[variable];
}

// Computes the tableau of a basis from the integers of the program. Returns false, with the tableau unusable, when the
// basis is singular.
bool DualSimplex::ComputeTableau(const SimplexBasis& basis) {
  PlaceVariables(basis);
  Equations equations = EquationsOf(basis);
  tolerance_ = std::max(1e-7, equations.magnitude * 1e-12);
  pivots_since_tableau_ = 0;
  if (!equations.Solve()) return false;
  TakeSolved(equations);
  return true;
}

// What is basic and what is not. The rows of basic variables are not known yet.
void DualSimplex::PlaceVariables(const SimplexBasis& basis) {
  std::fill(where_.begin(), where_.end(), kAbsent);
  nonbasic_ = basis;
  for (std::size_t j = 0; j < columns_; ++j) Where(basis[j].variable) = -1 - static_cast<std::ptrdiff_t>(j);
  basic_.clear();
  for (std::size_t k = 0; k < Places(); ++k)
    if (Where(k) == kAbsent) basic_.push_back(static_cast<std::uint32_t>(k));
}

// The conditions that hold with equality, of which there are as many as basic variables: the total, and the cuts whose
// slacks are nonbasic.
DualSimplex::Equations DualSimplex::EquationsOf(const SimplexBasis& basis) const {
  const std::size_t size = basic_.size();
  Equations equations = {size, size + columns_ + 1, {}, 1};
  equations.matrix.resize(size * equations.width);
  std::size_t filled = 0;
  const auto fill = [&](const auto& coefficients, std::int64_t limit, std::size_t slack) {
    double* row = equations.Row(filled++);
    __int128 rest = limit;
    for (std::size_t k = 0; k < Places(); ++k) {
      if (coefficients[k] == 0) continue;
      const bool is_high = where_[k] != kAbsent && basis[static_cast<std::size_t>(-1 - where_[k])].at_high;
      const std::int64_t at = where_[k] == kAbsent ? origin_[k] : is_high ? highs_[k] : lows_[k];
      rest -= static_cast<__int128>(at) * coefficients[k];
      if (where_[k] != kAbsent) row[size + static_cast<std::size_t>(-1 - where_[k])] = coefficients[k];
    }
    for (std::size_t i = 0; i < size; ++i) row[i] = coefficients[basic_[i]];
    if (slack != 0) row[size + static_cast<std::size_t>(-1 - where_[slack])] = 1;
    row[equations.width - 1] = static_cast<double>(rest);
    equations.magnitude = std::max(equations.magnitude, std::abs(row[equations.width - 1]));
  };
  fill(program_.weights, program_.total, 0);
  for (const NonbasicVariable& nonbasic : basis) {
    if (nonbasic.variable < Places()) continue;
    const BucketCut& cut = cuts_[nonbasic.variable - Places()];
    fill(cut.coefficients, cut.limit, nonbasic.variable);
  }
  return equations;
}

// By Gauss and Jordan; false when the basis is singular.
bool DualSimplex::Equations::Solve() {
  for (std::size_t at = 0; at < size; ++at) {
    std::size_t best = at;
    for (std::size_t i = at + 1; i < size; ++i)
      if (std::abs(Row(i)[at]) > std::abs(Row(best)[at])) best = i;
    double* pivot_row = Row(at);
    if (best != at) std::swap_ranges(pivot_row, pivot_row + width, Row(best));
    const double pivot = pivot_row[at];
    if (std::abs(pivot) < kLeastPivot) return false;
    for (std::size_t j = at; j < width; ++j) pivot_row[j] /= pivot;
    for (std::size_t i = 0; i < size; ++i) {
      double* row = Row(i);
      const double factor = row[at];
      if (i == at || factor == 0) continue;
      for (std::size_t j = at; j < width; ++j) row[j] -= factor * pivot_row[j];
    }
  }
  return true;
}

// Makes solved equations the tableau: entries and values of the basic variables, and reduced costs.
void DualSimplex::TakeSolved(const Equations& equations) {
  entries_.resize(equations.size * columns_);
  values_.resize(equations.size);
  reduced_costs_.assign(columns_, 0);
  for (std::size_t j = 0; j < columns_; ++j)
    if (nonbasic_[j].variable < Places())
      reduced_costs_[j] = static_cast<double>(program_.costs[nonbasic_[j].variable]);
  for (std::size_t i = 0; i < equations.size; ++i) {
    const double* row = equations.Row(i);
    std::copy(row + equations.size, row + equations.size + columns_, Row(i));
    values_[i] = row[equations.width - 1];
    Where(basic_[i]) = static_cast<std::ptrdiff_t>(i);
    const auto cost = static_cast<double>(program_.costs[basic_[i]]);
    for (std::size_t j = 0; j < columns_; ++j) reduced_costs_[j] -= cost * Row(i)[j];
  }
}

// Computes the tableau anew, with the cuts that are in; from the start when the basis has become singular.
void DualSimplex::Refresh() {
  std::vector<std::size_t> loose;
  for (const std::uint32_t variable : basic_)
    if (variable >= Places()) loose.push_back(variable - Places());
  const SimplexBasis basis = nonbasic_;
  if (!ComputeTableau(basis)) {
    for (const NonbasicVariable& nonbasic : basis)
      if (nonbasic.variable >= Places()) loose.push_back(nonbasic.variable - Places());
    Start();
  }
  for (const std::size_t cut : loose) AddCut(cut);
}

void DualSimplex::Recentre() {
  for (std::size_t k = 0; k < Places(); ++k) origin_[k] += std::llround(Offset(k));
  Refresh();
}

void DualSimplex::Restore(const std::vector<std::int64_t>& lows, const std::vector<std::int64_t>& highs,
                          const SimplexBasis& basis) {
  lows_ = lows;
  highs_ = highs;
  if (ComputeTableau(basis)) return;
  Start();
  for (const NonbasicVariable& nonbasic : basis)
    if (nonbasic.variable >= Places()) AddCut(nonbasic.variable - Places());
}

bool DualSimplex::IsActive(std::size_t cut) const {
  return Places() + cut < where_.size() && where_[Places() + cut] != kAbsent;
}

void DualSimplex::AddCut(std::size_t number) {
  std::ptrdiff_t& where = Where(Places() + number);
  if (where != kAbsent) return;
  const BucketCut& cut = cuts_[number];
  __int128 rest = cut.limit;
  for (std::size_t k = 0; k < Places(); ++k) rest -= static_cast<__int128>(cut.coefficients[k]) * origin_[k];
  auto value = static_cast<double>(rest);
  const std::size_t row = basic_.size();
  entries_.resize(entries_.size() + columns_, 0);
  double* entries = Row(row);
  for (std::size_t k = 0; k < Places(); ++k) {
    const double coefficient = cut.coefficients[k];
    if (coefficient == 0) continue;
    value -= coefficient * Offset(k);
    if (where_[k] >= 0) {
      const double* other = Row(static_cast<std::size_t>(where_[k]));
      for (std::size_t j = 0; j < columns_; ++j) entries[j] -= coefficient * other[j];
    } else {
      entries[static_cast<std::size_t>(-1 - where_[k])] += coefficient;
    }
  }
  where = static_cast<std::ptrdiff_t>(row);
  basic_.push_back(static_cast<std::uint32_t>(Places() + number));
  values_.push_back(value);
}

void DualSimplex::DropLooseCuts() {
  for (std::size_t row = 0; row < basic_.size();) {
    if (basic_[row] < Places() || values_[row] < tolerance_) {
      ++row;
      continue;
    }
    where_[basic_[row]] = kAbsent;
    const std::size_t last = basic_.size() - 1;
    if (row != last) {
      std::copy(Row(last), Row(last) + columns_, Row(row));
      values_[row] = values_[last];
      basic_[row] = basic_[last];
      where_[basic_[row]] = static_cast<std::ptrdiff_t>(row);
    }
    basic_.pop_back();
    values_.pop_back();
    entries_.resize(last * columns_);
  }
}

// The row whose value is farthest outside of its bounds; the number of rows when none is.
std::size_t DualSimplex::LeavingRow() const {
  std::size_t leaving = basic_.size();
  double worst = tolerance_;
  for (std::size_t i = 0; i < basic_.size(); ++i) {
    const double outside = std::max(LowOf(basic_[i]) - values_[i], values_[i] - HighOf(basic_[i]));
    if (outside > worst) {
      worst = outside;
      leaving = i;
    }
  }
  return leaving;
}

// The column that mends a row and keeps the reduced costs' signs: of those that limit the step within the tolerance the
// one with the largest pivot. The number of columns when there is none.
std::size_t DualSimplex::EnteringColumn(std::size_t row, bool rises) const {
  const double* entries = Row(row);
  const double sign = rises ? -1 : 1;  // of the entry that a variable at its low bound needs
  const auto limits = [&](std::size_t j) {
    const double entry = nonbasic_[j].at_high ? -sign * entries[j] : sign * entries[j];
    if (entry < kLeastPivot) return false;
    const std::size_t variable = nonbasic_[j].variable;
    return variable >= Places() || lows_[variable] != highs_[variable];
  };
  double step = kInfinite;
  for (std::size_t j = 0; j < columns_; ++j)
    if (limits(j)) step = std::min(step, (std::abs(reduced_costs_[j]) + kDualTolerance) / std::abs(entries[j]));
  std::size_t entering = columns_;
  double largest = 0;
  for (std::size_t j = 0; j < columns_; ++j) {
    if (!limits(j) || std::abs(reduced_costs_[j]) > step * std::abs(entries[j])) continue;
    if (std::abs(entries[j]) > largest) {
      largest = std::abs(entries[j]);
      entering = j;
    }
  }
  return entering;
}

// Lets the row's variable go to `target`, a bound, and the column's variable take its place.
void DualSimplex::Pivot(std::size_t row, std::size_t column, double target) {
  double* pivot_row = Row(row);
  const double pivot = pivot_row[column];
  const double change = (values_[row] - target) / pivot;
  const double value = NonbasicValue(column) + change;
  for (std::size_t j = 0; j < columns_; ++j) pivot_row[j] /= pivot;
  pivot_row[column] = 1 / pivot;
  for (std::size_t i = 0; i < basic_.size(); ++i) {
    double* other = Row(i);
    const double factor = other[column];
    if (i == row || factor == 0) continue;
    other[column] = 0;
    for (std::size_t j = 0; j < columns_; ++j) other[j] -= factor * pivot_row[j];
    values_[i] -= factor * change;
  }
  const double cost = reduced_costs_[column];
  reduced_costs_[column] = 0;
  for (std::size_t j = 0; j < columns_; ++j) reduced_costs_[j] -= cost * pivot_row[j];
  const std::uint32_t entering = nonbasic_[column].variable;
  const std::uint32_t leaving = basic_[row];
  nonbasic_[column] = {leaving, target == HighOf(leaving) && target != LowOf(leaving)};
  basic_[row] = entering;
  values_[row] = value;
  Where(leaving) = -1 - static_cast<std::ptrdiff_t>(column);
  Where(entering) = static_cast<std::ptrdiff_t>(row);
  ++pivots_since_tableau_;
}

bool DualSimplex::PivotOut(std::size_t variable, bool at_high) {
  if (where_[variable] < 0) return false;
  const auto row = static_cast<std::size_t>(where_[variable]);
  const std::size_t column = EnteringColumn(row, !at_high);
  if (column == columns_) return false;
  Pivot(row, column, at_high ? HighOf(variable) : LowOf(variable));
  return true;
}

double DualSimplex::Slack(std::size_t cut) const {
  const std::ptrdiff_t where = where_[Places() + cut];
  return where >= 0 ? values_[static_cast<std::size_t>(where)] : 0.0;
}

DualSimplex::Result DualSimplex::Solve() {
  for (int round = 0; round < kMostPivots; ++round) {
    if (pivots_since_tableau_ >= kPivotsBeforeRefresh) Refresh();
    const std::size_t row = LeavingRow();
    if (row == basic_.size()) return Result::kOptimal;
    const bool rises = values_[row] < LowOf(basic_[row]);
    const std::size_t column = EnteringColumn(row, rises);
    if (column == columns_) {
      if (pivots_since_tableau_ > 0) {  // make sure
        Refresh();
        continue;
      }
      infeasible_row_ = row;
      return Result::kInfeasible;
    }
    Pivot(row, column, rises ? LowOf(basic_[row]) : HighOf(basic_[row]));
  }
  return Result::kStuck;
}

double DualSimplex::Offset(std::size_t place) const {
  const std::ptrdiff_t where = where_[place];
  return where >= 0 ? values_[static_cast<std::size_t>(where)] : NonbasicValue(static_cast<std::size_t>(-1 - where));
}

std::vector<DualSimplex::Multiplier> DualSimplex::Multipliers(Result result) const {
  std::vector<Multiplier> multipliers;
  const auto add = [&](std::size_t variable, double value) {
    if (variable >= Places() && value > 0) multipliers.push_back({variable - Places(), value});
  };
  if (result == Result::kOptimal) {
    for (std::size_t j = 0; j < columns_; ++j) add(nonbasic_[j].variable, reduced_costs_[j]);
  } else if (result == Result::kInfeasible) {
    const double* row = Row(infeasible_row_);
    const double sign = values_[infeasible_row_] < LowOf(basic_[infeasible_row_]) ? 1 : -1;
    for (std::size_t j = 0; j < columns_; ++j) add(nonbasic_[j].variable, sign * row[j]);
    add(basic_[infeasible_row_], sign);
  }
  return multipliers;
}

}  // namespace privacy_score
