/*
 * corner_relaxation.cpp - the group of a vertex and the search in it (see corner_relaxation.hpp).
 */
#include "core/buckets/corner_relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/buckets/finite_group.hpp"

namespace privacy_score {

namespace {

constexpr std::int64_t kMostDenominator = 1 << 16;
constexpr std::size_t kMostPoints = 1 << 17;
constexpr std::uint16_t kMostSteps = 256;
constexpr int kLooksBeforeStop = 256;
constexpr double kWholeTolerance = 1e-6;
constexpr std::uint32_t kUnreachable = std::numeric_limits<std::uint32_t>::max() / 2;

// The least denominator of a number by its continued fraction; more than kMostDenominator when there is none.
std::int64_t DenominatorOf(double value) {
  double rest = value - std::floor(value);
  std::int64_t before = 0;
  std::int64_t denominator = 1;
  while (denominator <= kMostDenominator) {
    const double scaled = value * static_cast<double>(denominator);
    if (std::abs(scaled - std::round(scaled)) < kWholeTolerance) return denominator;
    if (rest < 1e-12) break;
    const double inverse = 1 / rest;
    const double whole = std::floor(inverse);
    if (whole > static_cast<double>(kMostDenominator)) break;
    before = std::exchange(denominator, static_cast<std::int64_t>(whole) * denominator + before);
    rest = inverse - whole;
  }
  return kMostDenominator + 1;
}

}  // namespace

CornerRelaxation::CornerRelaxation(const BucketProgram& program, const std::vector<BucketCut>& cuts,
                                   const DualSimplex& simplex, std::int64_t limit, std::size_t most_entries,
                                   const std::function<bool()>& stop)
    : stop_(stop), limit_(limit) {
  if (!ReadVertex(program, cuts, simplex)) return;
  LeaveOutBlocked(simplex);
  std::stable_sort(directions_.begin(), directions_.end(),
                   [](const Direction& a, const Direction& b) { return a.cost > b.cost; });
  std::vector<std::vector<std::int64_t>> residues;
  const auto residue = [&](const std::vector<std::int64_t>& numbers) {
    std::vector<std::int64_t> modulo;
    for (const std::int64_t number : numbers) modulo.push_back((number % denominator_ + denominator_) % denominator_);
    return modulo;
  };
  residues.push_back(residue(offsets_));
  for (const Direction& direction : directions_) residues.push_back(residue(direction.effect));
  group_.emplace(denominator_, residues);
  if (group_->order() > most_entries / (directions_.size() + 1)) return;
  for (std::size_t q = 0; q < directions_.size(); ++q) directions_[q].element = group_->Column(q + 1);
  usable_ = FindDistances();
  if (!usable_) return;
  Add({0, 0, static_cast<std::uint32_t>(group_->Column(0)), 0, 0, 0});
}

// Takes the vertex over in integers; false when it cannot be.
bool CornerRelaxation::ReadVertex(const BucketProgram& program, const std::vector<BucketCut>& cuts,
                                  const DualSimplex& simplex) {
  const std::size_t places = program.costs.size();
  const SimplexBasis& nonbasic = simplex.nonbasic();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < simplex.basic().size(); ++i) {
    if (simplex.basic()[i] >= places) continue;  // a cut that is not tight
    rows.push_back(i);
    basic_.push_back(simplex.basic()[i]);
  }
  for (const std::size_t row : rows) {
    for (std::size_t j = 0; j <= nonbasic.size(); ++j) {
      const double entry = j < nonbasic.size() ? simplex.Row(row)[j] : simplex.values()[row];
      const double scaled = entry * static_cast<double>(denominator_);
      if (std::abs(scaled - std::round(scaled)) < kWholeTolerance) continue;
      denominator_ *= DenominatorOf(scaled);
      if (denominator_ > kMostDenominator) return false;
    }
  }
  vertex_.assign(places, 0);
  for (const std::size_t place : basic_) vertex_[place] = simplex.Origin(place);
  for (std::size_t j = 0; j < nonbasic.size(); ++j) {
    const std::size_t variable = nonbasic[j].variable;
    Direction direction{0, 0, {}, places, nonbasic[j].at_high ? -1 : 1};
    if (variable < places) {
      direction.place = variable;
      direction.cost = denominator_ * program.costs[variable] * direction.sign;
      vertex_[variable] = nonbasic[j].at_high ? simplex.high(variable) : simplex.low(variable);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double entry = simplex.Row(rows[i])[j] * static_cast<double>(denominator_);
      direction.effect.push_back(std::llround(entry) * direction.sign);
      direction.cost -= direction.effect.back() * program.costs[basic_[i]];
    }
    directions_.push_back(std::move(direction));
  }
  for (std::size_t k = 0; k < places; ++k)
    vertex_cost_ += static_cast<__int128>(program.costs[k]) * vertex_[k] * denominator_;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    offsets_.push_back(std::llround(simplex.values()[rows[i]] * static_cast<double>(denominator_)));
    vertex_cost_ += static_cast<__int128>(program.costs[basic_[i]]) * offsets_.back();
  }
  if (!Verify(program, cuts, simplex)) return false;

  // Steps that lead to the limit at once, and those of variables that cannot move, are none.
  __int128 most = static_cast<__int128>(limit_ - 1) * denominator_ - vertex_cost_;
  if (most >= kUnreachable) {
    limit_ = static_cast<std::int64_t>((vertex_cost_ + kUnreachable - 1) / denominator_);
    most = static_cast<__int128>(limit_ - 1) * denominator_ - vertex_cost_;
  }
  most_cost_ = static_cast<std::int64_t>(most);
  directions_.erase(std::remove_if(directions_.begin(), directions_.end(),
                                   [&](const Direction& direction) {
                                     return direction.cost > most_cost_ ||
                                            (direction.place < places &&
                                             simplex.low(direction.place) == simplex.high(direction.place));
                                   }),
                    directions_.end());
  return true;
}

// Whether the rounded numbers satisfy the equation and the tight cuts exactly: basis times effect is the denominator
// times the column of each direction, and basis times offsets is what the vertex leaves of the limits. All columns of
// the unit matrix are among these, or combinations of them, so that the basis is not singular.
bool CornerRelaxation::Verify(const BucketProgram& program, const std::vector<BucketCut>& cuts,
                              const DualSimplex& simplex) const {
  const SimplexBasis& nonbasic = simplex.nonbasic();
  const std::size_t places = program.costs.size();
  const auto holds = [&](const auto& coefficients, std::int64_t limit, std::size_t slack) {
    __int128 rest = limit;
    for (std::size_t k = 0; k < places; ++k) rest -= static_cast<__int128>(coefficients[k]) * vertex_[k];
    rest *= denominator_;
    for (std::size_t i = 0; i < basic_.size(); ++i)
      rest -= static_cast<__int128>(coefficients[basic_[i]]) * offsets_[i];
    if (rest != 0) return false;
    for (std::size_t j = 0; j < directions_.size(); ++j) {
      const Direction& direction = directions_[j];
      const std::int64_t entry = direction.place < places        ? coefficients[direction.place]
                                 : nonbasic[j].variable == slack ? 1
                                                                 : 0;
      __int128 sum = static_cast<__int128>(entry) * direction.sign * denominator_;
      for (std::size_t i = 0; i < basic_.size(); ++i)
        sum -= static_cast<__int128>(coefficients[basic_[i]]) * direction.effect[i];
      if (sum != 0) return false;
    }
    return true;
  };
  if (!holds(program.weights, program.total, 0)) return false;
  bool has_place = false;
  for (const NonbasicVariable& each : nonbasic) {
    has_place = has_place || each.variable < places;
    if (each.variable < places) continue;
    const BucketCut& cut = cuts[each.variable - places];
    if (!holds(cut.coefficients, cut.limit, each.variable)) return false;
  }
  return has_place && std::all_of(directions_.begin(), directions_.end(),
                                  [](const Direction& direction) { return direction.cost >= 0; });
}

// Leaves out directions in which a single step breaks a bound of a basic variable that no direction can mend.
void CornerRelaxation::LeaveOutBlocked(const DualSimplex& simplex) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < basic_.size(); ++i) {
      for (const std::int64_t sign : {1, -1}) {  // the low bound, the high bound
        const std::int64_t bound = sign > 0 ? simplex.low(basic_[i]) : simplex.high(basic_[i]);
        if (bound == DualSimplex::kNoBound) continue;
        const __int128 slack = static_cast<__int128>(vertex_[basic_[i]] - bound) * denominator_ + offsets_[i];
        if (std::any_of(directions_.begin(), directions_.end(),
                        [&](const Direction& direction) { return sign * direction.effect[i] < 0; }))
          continue;
        const auto kept = std::remove_if(directions_.begin(), directions_.end(), [&](const Direction& direction) {
          return sign * direction.effect[i] > sign * slack;
        });
        changed = changed || kept != directions_.end();
        directions_.erase(kept, directions_.end());
      }
    }
  }
}

// Shortest paths to 0 with steps in the directions from each one on: one cycle of the group after the other, twice
// round, because the best entry into a cycle may be anywhere. False when it gave up.
bool CornerRelaxation::FindDistances() {
  const std::size_t directions = directions_.size();
  const auto order = static_cast<std::size_t>(group_->order());
  distances_.assign((directions + 1) * order, kUnreachable);
  distances_[directions * order] = 0;
  std::vector<char> seen(order);
  std::vector<std::uint32_t> cycle;
  for (std::size_t q = directions; q-- > 0;) {
    if (stop_()) return false;
    std::uint32_t* here = distances_.data() + q * order;
    std::copy(here + order, here + 2 * order, here);
    const Direction& direction = directions_[q];
    std::fill(seen.begin(), seen.end(), 0);
    for (std::size_t start = 0; start < order; ++start) {
      if (seen[start] != 0) continue;
      group_->Cycle(start, direction.element, cycle);
      for (const std::uint32_t e : cycle) seen[e] = 1;
      std::uint32_t distance = kUnreachable;
      for (std::size_t n = 2 * cycle.size(); n-- > 0;) {
        std::uint32_t& element = here[cycle[n % cycle.size()]];
        distance = std::min<std::uint32_t>(element, distance + static_cast<std::uint32_t>(direction.cost));
        element = std::min(distance, kUnreachable);
      }
    }
  }
  return true;
}

void CornerRelaxation::Demand(const std::vector<std::int32_t>& coefficients, std::int64_t limit) {
  Condition condition;
  condition.slack = static_cast<__int128>(limit) * denominator_;
  for (std::size_t k = 0; k < vertex_.size(); ++k)
    condition.slack -= static_cast<__int128>(coefficients[k]) * vertex_[k] * denominator_;
  for (std::size_t i = 0; i < basic_.size(); ++i)
    condition.slack -= static_cast<__int128>(coefficients[basic_[i]]) * offsets_[i];
  for (const Direction& direction : directions_) {
    std::int64_t loss = 0;
    if (direction.place < vertex_.size()) loss = coefficients[direction.place] * direction.sign * denominator_;
    for (std::size_t i = 0; i < basic_.size(); ++i) loss -= coefficients[basic_[i]] * direction.effect[i];
    condition.losses.push_back(loss);
  }
  double price = std::numeric_limits<double>::infinity();
  condition.least_prices.assign(directions_.size() + 1, price);
  for (std::size_t q = directions_.size(); q-- > 0;) {
    if (condition.losses[q] < 0)
      price = std::min(price, static_cast<double>(directions_[q].cost) / -static_cast<double>(condition.losses[q]));
    condition.least_prices[q] = price;
  }
  conditions_.push_back(std::move(condition));
}

// A lower bound of what it costs to satisfy the demands from here on.
std::int64_t CornerRelaxation::CostToMend(const Point& point) const {
  double cost = 0;
  for (const Condition& condition : conditions_) {
    __int128 slack = condition.slack;
    for (const Point* at = &point; at->steps > 0; at = &points_[at->parent]) slack -= condition.losses[at->stepped];
    if (slack >= 0) continue;
    const double price = condition.least_prices[point.direction];
    if (std::isinf(price)) return kUnreachable;
    cost = std::max(cost, price * -static_cast<double>(slack));
  }
  // Doubles are right to some units in the last place.
  return static_cast<std::int64_t>(std::max(0.0, std::ceil(cost * (1 - 1e-12) - 1e-6)));
}

// Queues a point unless all its completions reach the limit.
void CornerRelaxation::Add(const Point& point) {
  std::int64_t rest = distances_[point.direction * static_cast<std::size_t>(group_->order()) + point.rest];
  if (rest < kUnreachable && !conditions_.empty()) rest = std::max(rest, CostToMend(point));
  if (rest >= kUnreachable) return;
  if (rest > most_cost_ - point.cost) return;
  queue_.push({point.cost + rest, point.steps, static_cast<std::uint32_t>(points_.size())});
  points_.push_back(point);
}

bool CornerRelaxation::Next(std::vector<std::int64_t>& buckets, std::int64_t& loss) {
  for (int looks = 1; !queue_.empty(); ++looks) {
    const Entry entry = queue_.top();
    bound_ = static_cast<std::int64_t>((vertex_cost_ + entry.cost + denominator_ - 1) / denominator_);
    if (looks % kLooksBeforeStop == 0 && stop_()) return false;
    if (points_.size() > kMostPoints || entry.steps == kMostSteps) return false;
    queue_.pop();
    const Point point = points_[entry.point];
    // Demands that are newer than the entry may have made it dearer.
    if (!conditions_.empty()) {
      const std::int64_t cost = point.cost + std::min<std::int64_t>(kUnreachable, CostToMend(point));
      if (cost > most_cost_) continue;
      if (cost > entry.cost) {
        queue_.push({cost, entry.steps, entry.point});
        continue;
      }
    }
    if (point.direction < directions_.size()) {
      const std::uint16_t q = point.direction;
      // The last one that is added is the first of equal cost.
      Add({point.cost + directions_[q].cost, entry.point,
           static_cast<std::uint32_t>(group_->Difference(point.rest, directions_[q].element)), q, q,
           static_cast<std::uint16_t>(point.steps + 1)});
      Point next = point;
      ++next.direction;
      Add(next);
      continue;
    }
    buckets = vertex_;
    std::vector<std::int64_t> offsets = offsets_;
    for (const Point* at = &point; at->steps > 0; at = &points_[at->parent]) {
      const Direction& direction = directions_[at->stepped];
      if (direction.place < buckets.size()) buckets[direction.place] += direction.sign;
      for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] -= direction.effect[i];
    }
    for (std::size_t i = 0; i < offsets.size(); ++i) buckets[basic_[i]] += offsets[i] / denominator_;
    loss = bound_;
    return true;
  }
  bound_ = limit_;
  return false;
}

}  // namespace privacy_score
