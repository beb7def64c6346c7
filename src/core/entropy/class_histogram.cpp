/*
 * class_histogram.cpp - see class_histogram.hpp.
 */
#include "core/entropy/class_histogram.hpp"

#include <algorithm>

namespace privacy_score {

namespace {

constexpr std::size_t kUnsorted = 256;

// Both lists in one, by ascending size, each size once. `sorted` is so already.
ClassSizes Merged(const ClassSizes& sorted, ClassSizes unsorted) {
  const auto smaller = [](const SizeCount& a, const SizeCount& b) { return a.size < b.size; };
  std::sort(unsorted.begin(), unsorted.end(), smaller);
  ClassSizes both(sorted.size() + unsorted.size());
  std::merge(sorted.begin(), sorted.end(), unsorted.begin(), unsorted.end(), both.begin(), smaller);
  ClassSizes merged;
  for (const SizeCount& entry : both) AddClasses(&merged, entry);
  return merged;
}

}  // namespace

void ClassHistogram::AddLarge(std::int64_t size, std::int64_t count) {
  AddClasses(&large_, {size, count});
  if (large_.size() < std::max(kUnsorted, large_sorted_.size())) return;
  large_sorted_ = Merged(large_sorted_, std::move(large_));
  large_.clear();
}

void ClassHistogram::Add(const ClassHistogram& other) {
  for (const SizeCount& entry : other.Sizes()) Add(entry.size, entry.count);
}

bool ClassHistogram::empty() const {
  return large_.empty() && large_sorted_.empty() &&
         std::all_of(counters_.begin() + 1, counters_.end(), [](std::int64_t count) { return count == 0; });
}

ClassSizes ClassHistogram::Sizes() const {
  ClassSizes sizes;
  for (std::size_t size = 1; size < counters_.size(); ++size)
    if (counters_[size] != 0) sizes.push_back({static_cast<std::int64_t>(size), counters_[size]});
  const ClassSizes large = Merged(large_sorted_, large_);
  sizes.insert(sizes.end(), large.begin(), large.end());
  return sizes;
}

}  // namespace privacy_score
