/*
 * bucket_contents.hpp - what a release shows of the values of a bucket.
 *
 * The order in which they are shown is drawn for itself, so it tells nothing about the order of the bucket's records.
 * One object serves all buckets, one after the other.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/random_source.hpp"

namespace privacy_score {

struct ShownValue {
  std::uint32_t value;
  std::uint32_t count;
};

class BucketContents {
 public:
  // Goes on to another bucket, of which nothing is known.
  void Begin() { values_.clear(); }
  // The value of one of the bucket's records.
  void Add(std::uint32_t value) { values_.push_back(value); }

  // Of all the bucket's records, in the order in which they came until Show() was called.
  const std::vector<std::uint32_t>& values() const { return values_; }

  // What a release shows, in random order: a row for each record, or with `counted` for each value, and one for each
  // fake, a value that the bucket does not have. Valid until the next call.
  const std::vector<ShownValue>& Show(const std::vector<std::uint32_t>& fakes, bool counted, RandomSource& random);

 private:
  std::vector<std::uint32_t> values_;
  std::vector<ShownValue> shown_;
};

}  // namespace privacy_score
