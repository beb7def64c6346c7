/*
 * bucket_contents.cpp - counting and shuffling the values of a bucket (see bucket_contents.hpp).
 */
#include "core/buckets/bucket_contents.hpp"

#include <algorithm>
#include <utility>

namespace privacy_score {

const std::vector<ShownValue>& BucketContents::Show(const std::vector<std::uint32_t>& fakes, bool counted,
                                                    RandomSource& random) {
  if (counted) std::sort(values_.begin(), values_.end());
  shown_.clear();
  for (const std::uint32_t value : values_) {
    if (counted && !shown_.empty() && value == shown_.back().value)
      ++shown_.back().count;
    else
      shown_.push_back({value, 1});
  }
  for (const std::uint32_t fake : fakes) shown_.push_back({fake, 1});
  for (std::size_t left = shown_.size(); left > 1; --left)
    std::swap(shown_[left - 1], shown_[static_cast<std::size_t>(random.Below(left))]);
  return shown_;
}

}  // namespace privacy_score
