/*
 * tail.cpp - see tail.hpp.
 */
#include "core/detection/tail.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.hpp"
#include "core/scoring/ngram.hpp"

namespace privacy_score {

namespace {

constexpr double kTailShare = .1;           // beyond the 90th percentile
constexpr double kWeightOfAll = 5;          // in excesses
constexpr std::size_t kExactPoints = 1000;  // distinct values that are all kept
constexpr double kLog10OfE = 0.43429448190325182765;

// At most `share` of `count`, where a product that rounds to just below a whole number is that number.
bool IsWithin(std::int64_t above, double share, std::int64_t count) {
  return static_cast<double>(above) <= share * static_cast<double>(count) * (1 + 1e-12);
}

std::vector<double> Sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

// Of sorted values, all distinct ones.
std::vector<Quantiles::Point> PointsOf(const std::vector<double>& values) {
  std::vector<Quantiles::Point> points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at_least = static_cast<std::int64_t>(values.size() - i);
    if (points.empty() || values[i] > points.back().value) points.push_back({values[i], at_least, 0});
    points.back().above = at_least - 1;
  }
  return points;
}

struct Excesses {
  std::int64_t count = 0;
  double sum = 0;
};

// Over q, of sorted values.
Excesses ExcessesOf(const std::vector<double>& values, double q) {
  Excesses excesses;
  for (auto value = std::upper_bound(values.begin(), values.end(), q); value != values.end(); ++value) {
    ++excesses.count;
    excesses.sum += *value - q;
  }
  return excesses;
}

// q of sorted values, from all of them.
double TailStart(const std::vector<double>& values) {
  for (const Quantiles::Point& point : PointsOf(values))
    if (IsWithin(point.above, kTailShare, static_cast<std::int64_t>(values.size()))) return point.value;
  return 0;
}

}  // namespace

Quantiles::Quantiles(std::vector<double> values) : points_(PointsOf(Sorted(std::move(values)))) {
  if (points_.size() <= kExactPoints) return;
  // From the greatest down: a point is kept when the one below it would be too far from the last kept one.
  std::vector<Point> kept = {points_.back()};
  for (std::size_t i = points_.size() - 1; i-- > 1;) {
    if (points_[i - 1].above > kept.back().at_least + kept.back().at_least / 50) kept.push_back(points_[i]);
  }
  kept.push_back(points_.front());
  std::reverse(kept.begin(), kept.end());
  points_ = std::move(kept);
}

Quantiles::Quantiles(std::vector<Point> points) : points_(std::move(points)) {
  const Point* before = nullptr;
  for (const Point& point : points_) {
    const bool follows = before == nullptr ? point.at_least <= kMostCounted
                                           : point.value > before->value && point.at_least <= before->above;
    if (!std::isfinite(point.value) || !follows || point.above < 0 || point.above >= point.at_least)
      throw DamagedData("points of a distribution");
    before = &point;
  }
  if (before != nullptr && before->above != 0) throw DamagedData("points of a distribution");
}

double Quantiles::ShareFrom(double value) const {
  if (points_.empty()) return 0;
  const auto next = std::lower_bound(points_.begin(), points_.end(), value,
                                     [](const Point& point, double bound) { return point.value < bound; });
  std::int64_t from = count();
  if (next != points_.end() && next->value == value)
    from = next->at_least;
  else if (next != points_.begin())
    from = std::prev(next)->above;
  return static_cast<double>(from) / static_cast<double>(count());
}

double Quantiles::Exceeded(double share) const {
  const auto found = std::find_if(points_.begin(), points_.end(),
                                  [&](const Point& point) { return IsWithin(point.above, share, count()); });
  return found != points_.end() ? found->value : 0;
}

Tail::Tail(std::vector<double> values) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  excess_.from = TailStart(values);
  const Excesses excesses = ExcessesOf(values, excess_.from);
  const auto size = static_cast<double>(values.size());
  const auto count = static_cast<double>(excesses.count);
  excess_.rate = excesses.count > 0 ? count / size : 1 / (size + 1);
  excess_.mean = excesses.count > 0 ? excesses.sum / count : 1;
  seen_ = Quantiles(std::move(values));
}

Tail::Tail(std::vector<double> values, const Tail& all) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  excess_.from = TailStart(values);
  const Excesses excesses = ExcessesOf(values, excess_.from);
  const auto size = static_cast<double>(values.size());
  const double count = static_cast<double>(excesses.count) + kWeightOfAll;
  excess_.rate = count / (size + kWeightOfAll / all.excess_.rate);
  excess_.mean = (excesses.sum + kWeightOfAll * all.excess_.mean) / count;
  seen_ = Quantiles(std::move(values));
}

Tail::Tail(Quantiles seen, const Excess& excess) : seen_(std::move(seen)), excess_(excess) {
  // Beyond q it is no more likely than at q, so that a tail never rises.
  if (!(std::isfinite(excess.from) && std::isfinite(excess.mean) && excess.mean > 0 && excess.rate > 0 &&
        excess.rate <= 1) ||
      (seen_.count() > 0 && excess.rate > seen_.ShareFrom(excess.from)))
    throw DamagedData("a tail");
}

double Tail::Unusual(double value) const {
  if (seen_.count() == 0) return 0;
  if (value <= excess_.from) return std::max(0.0, -std::log10(seen_.ShareFrom(value)));
  return std::min(std::numeric_limits<double>::max(),
                  -std::log10(excess_.rate) + (value - excess_.from) / excess_.mean * kLog10OfE);
}

}  // namespace privacy_score
