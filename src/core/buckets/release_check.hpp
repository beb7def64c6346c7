/*
 * release_check.hpp - what a pair of published tables says of itself: buckets, sizes, and how sure each value can be
 * told.
 *
 * Judges any pair, whoever made it: the rows of the table of quasi-identifiers come as bucket numbers, those of the
 * table of sensitive values as bucket and value numbers, in any order. P(value | bucket) is the value's occurrences
 * over the records of the bucket [Wang, section 3.1]; fake values add rows to the second table, not records, so that
 * what is judged is an upper bound of it. Takes 8 bytes a bucket, and with rows that are kept 8 bytes a row, 12 when
 * they do not come bucket by bucket.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/rational.hpp"

namespace privacy_score {

// Where a value is most likely: `occurrences` of it in a bucket of `records`. None occurs where `records` is 0.
struct ValueShare {
  std::int64_t occurrences = 0;
  std::int64_t records = 0;
  std::uint32_t bucket = 0;
};

struct ReleaseFacts {
  std::int64_t buckets = 0;  // that have records
  std::int64_t records = 0;
  std::int64_t values = 0;  // rows of the second table, counted ones as often as they count
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  std::int64_t without_values = 0;   // buckets with records only
  std::int64_t without_records = 0;  // buckets with values only
  std::uint32_t orphan = 0;          // one of either kind
  // Values beyond the records of a bucket, over the buckets that have both: the same number of fakes in each, or the
  // sizes do not fit; and the buckets with the least and the most.
  std::int64_t least_extra = 0;
  std::int64_t most_extra = 0;
  std::uint32_t least_extra_bucket = 0;
  std::uint32_t most_extra_bucket = 0;
  std::int64_t repeating = 0;  // buckets that show a value more than once
  std::int64_t scattered = 0;  // times that rows of a bucket came when it was judged already: nothing else is right
  std::vector<std::int64_t> counts;  // of each value
  std::vector<ValueShare> worst;     // of each value
};

class ReleaseCheck {
 public:
  // What rows of the second table are kept for: to come in any order and to be asked for later. kNone: all records come
  // before them, and each bucket is judged when the next one begins.
  enum class Keeps { kNone, kRows };
  explicit ReleaseCheck(Keeps keeps = Keeps::kRows) : keeps_(keeps) {}

  void AddRecord(std::uint32_t bucket);
  // A row that shows a value `count` >= 1 times. Throws Error 22003 when all counts add up to more than 64 bits hold.
  void AddValue(std::uint32_t bucket, std::uint32_t value, std::int64_t count);

  // Gathers the facts. Returns false when `interrupted` (null: never) asks for a pause: call it again to go on.
  bool Judge(bool (*interrupted)());
  // After Judge() was true.
  const ReleaseFacts& facts() const { return facts_; }
  // The values of the rows of a bucket in the order in which they came. After Judge() was true, of rows that are kept.
  std::vector<std::uint32_t> Values(std::uint32_t bucket) const;

 private:
  struct Shown {
    std::uint32_t bucket;
    std::uint32_t value;
  };
  std::size_t RowAt(std::size_t i) const { return sorted_ ? i : order_[i]; }
  void Start();
  void JudgeBuckets();
  // Judges rows begin..end of those that are kept, all of one bucket, and counts buckets that have values.
  void JudgeBucket(std::size_t begin, std::size_t end);
  void JudgeRowsAtHand();

  Keeps keeps_;
  std::vector<std::int64_t> records_;  // by bucket
  std::vector<bool> judged_;           // by bucket: has values
  std::vector<Shown> shown_;           // without Keeps::kRows those of the bucket at hand
  std::vector<std::int64_t> counts_;   // of the rows in shown_; empty while all are 1
  bool sorted_ = true;                 // rows came bucket by bucket
  std::vector<std::uint32_t> order_;   // else: places in shown_ by bucket
  std::int64_t total_ = 0;             // of the counts
  bool started_ = false;
  bool any_extra_ = false;
  std::size_t next_ = 0;                 // the first row that is not judged
  std::vector<std::int64_t> in_bucket_;  // of each value in the bucket at hand
  ReleaseFacts facts_;
};

// The values that are likelier than their thresholds somewhere, in ascending order.
std::vector<std::uint32_t> BrokenPromises(const ReleaseFacts& facts, const std::vector<Rational>& thresholds);

}  // namespace privacy_score
