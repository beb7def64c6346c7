/*
 * bucket_contents.cpp - sorting the places of values by bucket, and shuffling them (see bucket_contents.hpp).
 */
#include "bucket_contents.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "error.hpp"

namespace privacy_score {

namespace {

constexpr std::int64_t kStepsBetweenLooks = 1 << 16;

}  // namespace

BucketContents::BucketContents(const BucketDealer& dealer) : dealer_(&dealer) {
  if (dealer.rows() > kMaxContentRows)
    throw Error("54000", "a release must not have more than " + std::to_string(kMaxContentRows) + " records",
                "Publish fewer records at a time.");
  starts_.resize(static_cast<std::size_t>(dealer.buckets()) + 1);
  values_.resize(static_cast<std::size_t>(dealer.rows()));
}

// A counting sort. While values are filled in, starts_[b - 1] is where the next one of bucket b goes; when all are, it
// has moved on to where bucket b + 1 begins, so everything is shifted by one in the end.
bool BucketContents::Prepare(bool (*interrupted)()) {
  const auto visit = [&](auto each) {
    for (; value_ < dealer_->values(); ++value_, done_ = 0) {
      for (const std::int64_t count = dealer_->Left(value_); done_ < count;) {
        each(static_cast<std::size_t>(dealer_->Peek(value_, done_)));
        if (++done_ % kStepsBetweenLooks == 0 && interrupted != nullptr && interrupted()) return false;
      }
    }
    value_ = 0;
    return true;
  };
  if (!counted_) {
    if (!visit([&](std::size_t bucket) { ++starts_[bucket]; })) return false;
    for (std::size_t bucket = 1; bucket < starts_.size(); ++bucket) starts_[bucket] += starts_[bucket - 1];
    counted_ = true;
  }
  if (!visit([&](std::size_t bucket) { values_[starts_[bucket - 1]++] = static_cast<std::uint32_t>(value_); }))
    return false;
  std::copy_backward(starts_.begin(), starts_.end() - 1, starts_.end());
  starts_.front() = 0;
  return true;
}

const std::vector<ShownValue>& BucketContents::Show(std::int64_t bucket, const std::vector<std::uint32_t>& fakes,
                                                    bool counted, RandomSource& random) {
  shown_.clear();
  const std::uint32_t* values = Values(bucket);
  for (std::int64_t i = 0; i < Size(bucket); ++i) {
    if (counted && i > 0 && values[i] == values[i - 1])
      ++shown_.back().count;
    else
      shown_.push_back({values[i], 1});
  }
  for (const std::uint32_t fake : fakes) shown_.push_back({fake, 1});
  for (std::size_t left = shown_.size(); left > 1; --left)
    std::swap(shown_[left - 1], shown_[static_cast<std::size_t>(random.Below(left))]);
  return shown_;
}

}  // namespace privacy_score
