/*
 * class_histogram.hpp - the class sizes of a partition while they are being counted.
 *
 * Small sizes have a counter each; large ones are few (at most N/size of them) and are listed, and sorted together when
 * the list grows. There are never more than sqrt(2N) different sizes, so the list stays short.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/entropy/entropy.hpp"

namespace privacy_score {

class ClassHistogram {
 public:
  // Sizes below `counters` are counted without being listed; more counters cost 8 bytes each and save time.
  explicit ClassHistogram(std::size_t counters) : counters_(counters, 0) {}

  void Add(std::int64_t size, std::int64_t count = 1) {
    if (static_cast<std::uint64_t>(size) < counters_.size()) {
      counters_[static_cast<std::size_t>(size)] += count;
    } else {
      AddLarge(size, count);
    }
  }
  void Add(const ClassHistogram& other);

  // The counters, for loops that know that no size reaches counters(). What is counted for size 0 is ignored.
  std::int64_t* counters() { return counters_.data(); }
  std::size_t counter_count() const { return counters_.size(); }

  bool empty() const;
  // By ascending size, each size once.
  ClassSizes Sizes() const;

 private:
  void AddLarge(std::int64_t size, std::int64_t count);

  std::vector<std::int64_t> counters_;
  ClassSizes large_;         // as they came
  ClassSizes large_sorted_;  // each size once
};

}  // namespace privacy_score
