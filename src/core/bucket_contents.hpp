/*
 * bucket_contents.hpp - the values that each bucket of a release shows.
 *
 * Known before any record is dealt: which values a bucket has does not depend on which of their records go there. The
 * order in which a bucket's values are shown is drawn for itself, so it tells nothing about the order of its records.
 * Takes 4 bytes a record and 4 a bucket.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bucket_dealer.hpp"
#include "random_source.hpp"

namespace privacy_score {

constexpr std::int64_t kMaxContentRows = 4294967295;

struct ShownValue {
  std::uint32_t value;
  std::uint32_t count;
};

class BucketContents {
 public:
  // `dealer` is prepared, has dealt nothing yet, and is needed until Prepare() was true. Throws Error 54000 for more
  // than kMaxContentRows records.
  explicit BucketContents(const BucketDealer& dealer);

  // Returns false when `interrupted` (null: never) asks for a pause: call it again to go on.
  bool Prepare(bool (*interrupted)());

  std::int64_t buckets() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  // Buckets are named 1..buckets; the rest after Prepare() was true.
  std::int64_t Size(std::int64_t bucket) const { return End(bucket) - Begin(bucket); }
  // The values of the records of a bucket, in ascending order: Size(bucket) of them.
  const std::uint32_t* Values(std::int64_t bucket) const { return values_.data() + Begin(bucket); }

  // What a release shows of a bucket, in random order: a row for each record, or with `counted` for each value, and one
  // for each fake, a value that the bucket does not have. Valid until the next call.
  const std::vector<ShownValue>& Show(std::int64_t bucket, const std::vector<std::uint32_t>& fakes, bool counted,
                                      RandomSource& random);

 private:
  std::int64_t Begin(std::int64_t bucket) const { return starts_[static_cast<std::size_t>(bucket) - 1]; }
  std::int64_t End(std::int64_t bucket) const { return starts_[static_cast<std::size_t>(bucket)]; }

  const BucketDealer* dealer_;
  bool counted_ = false;   // sizes of the buckets are known
  std::size_t value_ = 0;  // where Prepare() is: a value, and how many of its places are done
  std::int64_t done_ = 0;
  std::vector<std::uint32_t> starts_;  // of the bucket's values, by bucket
  std::vector<std::uint32_t> values_;
  std::vector<ShownValue> shown_;
};

}  // namespace privacy_score
