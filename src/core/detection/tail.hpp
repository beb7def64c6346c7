/*
 * tail.hpp - how rarely a figure is as great as it is.
 *
 * Up to the 90th percentile q of what was seen a tail is what was seen; beyond it is
 *   P(> q) exp(-(x - q) / beta), beta the mean excess over q.
 * What was seen is kept as at most about a thousand points, closest together where values are rarest.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace privacy_score {

// The distribution of some values, by how many are at and above points.
class Quantiles {
 public:
  struct Point {
    double value = 0;
    std::int64_t at_least = 0;  // values of at least this one
    std::int64_t above = 0;     // values above it
  };

  Quantiles() = default;
  // Of finite values in any order. All distinct ones are kept where there are few; else the numbers of values above two
  // neighbouring points differ by at most one in fifty, and the least and the greatest value are kept.
  explicit Quantiles(std::vector<double> values);
  // Points that were read. Throws Error XX001 unless they can be those of some values.
  explicit Quantiles(std::vector<Point> points);

  std::int64_t count() const { return points_.empty() ? 0 : points_.front().at_least; }
  // The share of values that are at least this one; where points are left out it may be above it by one in fifty.
  double ShareFrom(double value) const;
  // The least point above which there is at most this share of the values; 0 when there are no values.
  double Exceeded(double share) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
};

// What exceeds q.
struct Excess {
  double from = 0;  // q
  double rate = 1;  // P(> q), above 0
  double mean = 1;  // beta, above 0
};

class Tail {
 public:
  // Of nothing: no value is unusual.
  Tail() = default;
  // Of the values of all roles together. Where none exceeds q, one in one more is taken to do so, by one unit.
  explicit Tail(std::vector<double> values);
  // Of one role's values: rate and mean are drawn to those of `all` by the weight of five excesses.
  Tail(std::vector<double> values, const Tail& all);
  // What was read. Throws Error XX001 unless it can be a tail.
  Tail(Quantiles seen, const Excess& excess);

  // -log10 of the share of sessions whose figure is that great: 0 for the least and below, never less for a greater
  // value, finite. 0 for all when the tail is of nothing.
  double Unusual(double value) const;
  const Quantiles& seen() const { return seen_; }
  const Excess& excess() const { return excess_; }

 private:
  Quantiles seen_;
  Excess excess_;
};

}  // namespace privacy_score
