/*
 * bucket_problem.hpp - what a bucket setting has to satisfy: how often each value occurs, and how many of it a bucket
 * of each size may hold.
 *
 * The capacities floor(f' S) are computed once, exactly. Values that occur equally often and have equal capacities form
 * a group, and groups with equal capacities a class: conditions on values need to look at a class or a group only once,
 * so that the work depends on how many kinds of values there are. A size class has at most about 770 capacity vectors
 * for sizes up to 50, because they change at the fractions a/S only.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/paused.hpp"
#include "core/base/rational.hpp"

namespace privacy_score {

constexpr int kMaxSearchSize = 1000;  // the greatest bucket size that a search for a setting takes
constexpr std::size_t kMaxCapacities = std::size_t{1} << 26U;  // of all classes and sizes, 4 bytes each

// Values that occur equally often and have equal capacities.
struct ValueGroup {
  std::int64_t count;                // occurrences of each of them, greater than zero
  std::size_t capacity_class;        // row of the capacities
  std::vector<std::size_t> members;  // the values, by their places in the counts
};

class BucketProblem {
 public:
  // Sizes in ascending order. Whoever works on the problem throws Paused (paused.hpp) when `gives_up` says so, the
  // constructor too. Throws Error 22023 for counts and thresholds of different number, negative counts, thresholds
  // outside of (0, 1], sizes that do not ascend from at least 1; 22003 for too many rows; 54000 for more than
  // kMaxCapacities capacities.
  BucketProblem(const std::vector<std::int64_t>& counts, const std::vector<Rational>& thresholds,
                std::vector<int> sizes, GivesUp gives_up = nullptr);

  // All sizes from min_size (0: the least that can hold a value) to max_size; without those that are too small for any
  // value. Throws Error 22023 unless 0 <= min_size <= max_size <= kMaxSearchSize and max_size >= 1.
  static BucketProblem WithSizes(const std::vector<std::int64_t>& counts, const std::vector<Rational>& thresholds,
                                 int min_size, int max_size, GivesUp gives_up = nullptr);

  // The same thresholds with other counts, one a value: a part of the records.
  BucketProblem WithCounts(const std::vector<std::int64_t>& counts) const;

  std::size_t values() const { return class_of_value_.size(); }
  std::int64_t rows() const { return rows_; }
  std::int64_t count(std::size_t value) const { return counts_[value]; }

  const std::vector<int>& sizes() const { return sizes_; }
  // Place of `size` in sizes(), or sizes().size().
  std::size_t PlaceOf(int size) const;

  std::size_t classes() const { return class_first_group_.size() - 1; }
  // For each place in sizes() how many records of a value of the class a bucket may hold.
  const std::int32_t* Capacities(std::size_t capacity_class) const {
    return capacities_.data() + capacity_class * sizes_.size();
  }
  std::int32_t Capacity(std::size_t value, std::size_t place) const {
    return Capacities(class_of_value_[value])[place];
  }

  // Groups sorted by class, within a class by count; values that do not occur are in none.
  const std::vector<ValueGroup>& groups() const { return groups_; }
  // Groups of a class: from ClassBegin(c) to ClassBegin(c + 1), perhaps none.
  std::size_t ClassBegin(std::size_t capacity_class) const { return class_first_group_[capacity_class]; }

  // Counts steps of work on the problem, each of some nanoseconds, and now and then asks whether to give up.
  void Work(std::size_t steps) const {
    work_ += steps;
    if (work_ >= kStepsBetweenQuestions) Ask();
  }

 private:
  static constexpr std::size_t kStepsBetweenQuestions = std::size_t{1} << 20U;

  BucketProblem() = default;
  void Ask() const;
  void SetCounts(const std::vector<std::int64_t>& counts);

  std::vector<int> sizes_;
  std::vector<std::int32_t> capacities_;     // class by place
  std::vector<std::size_t> class_of_value_;  // of each value
  std::vector<std::int64_t> counts_;
  std::int64_t rows_ = 0;
  std::vector<ValueGroup> groups_;
  std::vector<std::size_t> class_first_group_;
  GivesUp gives_up_ = nullptr;
  mutable std::size_t work_ = 0;
};

}  // namespace privacy_score
