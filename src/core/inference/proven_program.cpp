/*
 * proven_program.cpp - see proven_program.hpp.
 */
#include "core/inference/proven_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr double kFractionError = 1e-8;
constexpr std::int64_t kGreatestDenominator = 10000;
constexpr double kGreatestMultiplier = 1 << 20;
constexpr unsigned kRoundedBits = 40;
// Beyond this a common denominator is no help.
constexpr unsigned kLongestDenominator = 4000;

// The fraction of a small denominator that a number was, before rounding: by its continued fraction.
bool FractionOf(double number, std::int64_t* numerator, std::int64_t* denominator) {
  std::int64_t before = 1, before_below = 0, now = std::llround(std::floor(number)), now_below = 1;
  double rest = number - std::floor(number);
  while (std::abs(number - static_cast<double>(now) / static_cast<double>(now_below)) > kFractionError) {
    if (rest < 1e-12) return false;
    const double inverse = 1 / rest;
    const auto whole = static_cast<std::int64_t>(std::floor(inverse));
    rest = inverse - std::floor(inverse);
    if (whole > kGreatestDenominator) return false;
    const std::int64_t next = whole * now + before, next_below = whole * now_below + before_below;
    if (next_below > kGreatestDenominator) return false;
    before = std::exchange(now, next);
    before_below = std::exchange(now_below, next_below);
  }
  *numerator = now;
  *denominator = now_below;
  return true;
}

bool InRange(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return std::isfinite(number) && std::abs(number) < kGreatestMultiplier; });
}

// Fractions over their common denominator; false when a number is none, or the denominator too long.
bool AsFractions(const std::vector<double>& numbers, std::vector<Integer>* numerators, Integer* denominator) {
  std::vector<std::pair<std::int64_t, std::int64_t>> fractions;
  *denominator = 1;
  for (const double number : numbers) {
    std::int64_t above = 0, below = 1;
    if (!FractionOf(number, &above, &below)) return false;
    fractions.emplace_back(above, below);
    if (below != 1) *denominator = boost::multiprecision::lcm(*denominator, Integer(below));
    if (boost::multiprecision::msb(*denominator) > kLongestDenominator) return false;
  }
  numerators->clear();
  for (const auto& [above, below] : fractions) numerators->push_back(*denominator / below * above);
  return true;
}

// The numbers rounded to a binary grid.
void Rounded(const std::vector<double>& numbers, std::vector<Integer>* numerators, Integer* denominator) {
  *denominator = PowerOfTwo(kRoundedBits);
  numerators->clear();
  for (const double number : numbers) numerators->emplace_back(std::llround(std::ldexp(number, kRoundedBits)));
}

}  // namespace

ProvenProgram::ProvenProgram(const PsLinearSolver& solver, std::vector<std::vector<int>> rows,
                             std::vector<Integer> sides, std::vector<Integer> uppers, const Integer& unit)
    : solver_(solver),
      rows_(std::move(rows)),
      sides_(std::move(sides)),
      uppers_(std::move(uppers)),
      unit_(unit, Integer(1)) {
  LinearForm form;
  for (const Integer& upper : uppers_) form.AddColumn(0, ToDouble(Rational(upper, unit)));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double side = ToDouble(Rational(sides_[i], unit));
    form.AddRow(rows_[i], std::vector<double>(rows_[i].size(), 1.0), side, side);
  }
  program_ = std::make_unique<LinearProgram>(solver_, form);
}

LinearSolution ProvenProgram::Solve(const std::vector<double>& costs, const WorkControl& control) {
  // Once the equations have turned out not to hold, only that proof is missing.
  if (slack_program_ != nullptr) ThrowContradiction(control);
  LinearSolution solution = program_->Minimise(costs, control);
  if (solution.status != LinearSolution::Status::kOptimal) ThrowContradiction(control);
  values_ = solution.columns;
  return solution;
}

void ProvenProgram::Push(const std::vector<int>& variables, bool up, const WorkControl& control) {
  std::vector<double> costs(uppers_.size());
  for (const int variable : variables) costs[static_cast<std::size_t>(variable)] = up ? -1 : 1;
  Solve(costs, control);
}

Rational ProvenProgram::Least(int variable, const WorkControl& control) {
  return std::max(ProvenMinimum(variable, 1, control), Rational(0));
}

Rational ProvenProgram::Greatest(int variable, const WorkControl& control) {
  return std::min(Rational(0) - ProvenMinimum(variable, -1, control),
                  Rational(uppers_[static_cast<std::size_t>(variable)], 1));
}

Rational ProvenProgram::ProvenMinimum(int variable, int sign, const WorkControl& control) {
  std::vector<double> costs(uppers_.size());
  costs[static_cast<std::size_t>(variable)] = sign;
  const LinearSolution solution = Solve(costs, control);
  Multipliers multipliers;
  const auto proves = [&](Rational* bound) {
    *bound = Proof(multipliers, variable, sign);
    const double gap = solution.objective - ToDouble(*bound / unit_);
    return std::abs(gap) <= kTightness * std::max(1.0, std::abs(solution.objective));
  };
  Rational bound;
  if (InRange(solution.row_duals)) {
    if (AsFractions(solution.row_duals, &multipliers.numerators, &multipliers.denominator) && proves(&bound))
      return bound;
    Rounded(solution.row_duals, &multipliers.numerators, &multipliers.denominator);
    if (proves(&bound)) return bound;
  }
  throw Error("XX000", "the solver of linear programs found no bound that can be proved");
}

Rational ProvenProgram::Proof(const Multipliers& multipliers, int variable, int sign) const {
  std::vector<Integer> reduced(uppers_.size());
  if (variable >= 0) reduced[static_cast<std::size_t>(variable)] = multipliers.denominator * sign;
  Integer bound = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Integer& multiplier = multipliers.numerators[i];
    if (multiplier == 0) continue;
    bound += multiplier * sides_[i];
    for (const int column : rows_[i]) reduced[static_cast<std::size_t>(column)] -= multiplier;
  }
  for (std::size_t j = 0; j < reduced.size(); ++j)
    if (reduced[j] < 0) bound += reduced[j] * uppers_[j];
  return Rational(bound, multipliers.denominator);
}

// The least sum of amounts by which the equations fail, and its multipliers: when these prove that 0 is more than 0, no
// s satisfies the equations.
void ProvenProgram::ThrowContradiction(const WorkControl& control) {
  std::vector<double> costs(uppers_.size());
  costs.resize(uppers_.size() + 2 * rows_.size(), 1.0);
  if (slack_program_ == nullptr) {
    LinearForm form;
    for (const Integer& upper : uppers_) form.AddColumn(0, ToDouble(Rational(upper, 1) / unit_));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::vector<int> columns = rows_[i];
      std::vector<double> values(columns.size(), 1.0);
      for (const double slack : {1.0, -1.0}) {
        columns.push_back(form.AddColumn(0, kNoLinearBound));
        values.push_back(slack);
      }
      const double side = ToDouble(Rational(sides_[i], 1) / unit_);
      form.AddRow(columns, values, side, side);
    }
    slack_program_ = std::make_unique<LinearProgram>(solver_, form);
  }
  const LinearSolution solution = slack_program_->Minimise(costs, control);
  Multipliers multipliers;
  const auto proves = [&] { return Proof(multipliers, -1, 1) > Rational(0); };
  bool proved = false;
  if (solution.status == LinearSolution::Status::kOptimal && InRange(solution.row_duals)) {
    proved = AsFractions(solution.row_duals, &multipliers.numerators, &multipliers.denominator) && proves();
    if (!proved) {
      Rounded(solution.row_duals, &multipliers.numerators, &multipliers.denominator);
      proved = proves();
    }
  }
  if (!proved) throw Error("XX000", "the solver of linear programs could not tell whether there is a solution");
  Contradiction contradiction;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (multipliers.numerators[i] != 0) contradiction.rows.push_back(static_cast<int>(i));
  throw contradiction;
}

}  // namespace privacy_score
