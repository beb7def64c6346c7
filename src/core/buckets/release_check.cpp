/*
 * release_check.cpp - see release_check.hpp.
 */
#include "core/buckets/release_check.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kBucketsBetweenLooks = 1024;
constexpr std::size_t kMaxShownRows = 4294967295;

}  // namespace

void ReleaseCheck::AddRecord(std::uint32_t bucket) {
  if (bucket >= records_.size()) records_.resize(static_cast<std::size_t>(bucket) + 1);
  ++records_[bucket];
}

void ReleaseCheck::AddValue(std::uint32_t bucket, std::uint32_t value, std::int64_t count) {
  if (count < 1)
    throw InvalidValue("a count must be at least 1, not " + std::to_string(count),
                       "It is how often a value is in its bucket.");
  if (__builtin_add_overflow(total_, count, &total_))
    throw Error("22003", "the counts of a release add up to more than 64 bits hold",
                "No table has so many records: look for a wrong count.");
  if (!shown_.empty() && bucket != shown_.back().bucket) {
    if (keeps_ == Keeps::kNone)
      JudgeRowsAtHand();
    else if (bucket < shown_.back().bucket)
      sorted_ = false;
  }
  if (shown_.size() == kMaxShownRows)
    throw Error("54000", "a release must not have more than " + std::to_string(kMaxShownRows) + " values",
                "Judge fewer buckets at a time.");
  if (count != 1 && counts_.empty()) counts_.assign(shown_.size(), 1);
  shown_.push_back({bucket, value});
  if (!counts_.empty() || count != 1) counts_.push_back(count);
}

// Puts rows that are kept in order, by a counting sort: next_row[bucket] is where the bucket's next row goes.
void ReleaseCheck::Start() {
  started_ = true;
  for (const Shown& row : shown_)
    if (row.bucket >= records_.size()) records_.resize(static_cast<std::size_t>(row.bucket) + 1);
  if (sorted_) return;
  std::vector<std::uint32_t> next_row(records_.size() + 1);
  for (const Shown& row : shown_) ++next_row[row.bucket + 1];
  std::partial_sum(next_row.begin(), next_row.end(), next_row.begin());
  order_.resize(shown_.size());
  for (std::size_t row = 0; row < shown_.size(); ++row)
    order_[next_row[shown_[row].bucket]++] = static_cast<std::uint32_t>(row);
}

bool ReleaseCheck::Judge(bool (*interrupted)()) {
  if (!started_) Start();
  for (std::size_t looked = 0; next_ < shown_.size();) {
    const std::uint32_t bucket = shown_[RowAt(next_)].bucket;
    std::size_t end = next_ + 1;
    while (end < shown_.size() && shown_[RowAt(end)].bucket == bucket) ++end;
    JudgeBucket(next_, end);
    next_ = end;
    if (++looked % kBucketsBetweenLooks == 0 && interrupted != nullptr && interrupted()) return false;
  }
  JudgeBuckets();
  return true;
}

// What there is to say of buckets without their values.
void ReleaseCheck::JudgeBuckets() {
  judged_.resize(records_.size());
  for (std::size_t bucket = 0; bucket < records_.size(); ++bucket) {
    if (records_[bucket] == 0) continue;
    facts_.smallest = facts_.buckets == 0 ? records_[bucket] : std::min(facts_.smallest, records_[bucket]);
    facts_.largest = std::max(facts_.largest, records_[bucket]);
    ++facts_.buckets;
    facts_.records += records_[bucket];
    if (judged_[bucket]) continue;
    ++facts_.without_values;
    if (facts_.without_records == 0) facts_.orphan = static_cast<std::uint32_t>(bucket);
  }
}

void ReleaseCheck::JudgeRowsAtHand() {
  JudgeBucket(0, shown_.size());
  shown_.clear();
  counts_.clear();
}

void ReleaseCheck::JudgeBucket(std::size_t begin, std::size_t end) {
  const std::uint32_t bucket = shown_[RowAt(begin)].bucket;
  if (bucket >= records_.size()) records_.resize(std::size_t{bucket} + 1);
  if (bucket >= judged_.size()) judged_.resize(std::max(records_.size(), std::size_t{bucket} + 1));
  if (judged_[bucket]) ++facts_.scattered;
  judged_[bucket] = true;
  const std::int64_t records = records_[bucket];
  std::int64_t rows = 0;
  bool repeats = false;
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t row = RowAt(i);
    const std::size_t value = shown_[row].value;
    if (value >= in_bucket_.size()) {
      in_bucket_.resize(value + 1);
      facts_.counts.resize(value + 1);
      facts_.worst.resize(value + 1);
    }
    const std::int64_t count = counts_.empty() ? 1 : counts_[row];
    std::int64_t& times = in_bucket_[value];
    times += count;
    repeats = repeats || times > 1;
    rows += count;
    facts_.counts[value] += count;
  }
  facts_.values += rows;
  if (repeats) ++facts_.repeating;
  if (records == 0) {
    ++facts_.without_records;
    facts_.orphan = bucket;
  } else {
    const std::int64_t extra = rows - records;
    if (!any_extra_ || extra < facts_.least_extra) {
      facts_.least_extra = extra;
      facts_.least_extra_bucket = bucket;
    }
    if (!any_extra_ || extra > facts_.most_extra) {
      facts_.most_extra = extra;
      facts_.most_extra_bucket = bucket;
    }
    any_extra_ = true;
  }
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint32_t value = shown_[RowAt(i)].value;
    std::int64_t& times = in_bucket_[value];
    ValueShare& worst = facts_.worst[value];
    // times/records > worst; counted once, then put back to zero for the next bucket.
    if (times > 0 && records > 0 &&
        (worst.records == 0 ||
         static_cast<__int128>(times) * worst.records > static_cast<__int128>(worst.occurrences) * records))
      worst = {times, records, bucket};
    times = 0;
  }
}

std::vector<std::uint32_t> ReleaseCheck::Values(std::uint32_t bucket) const {
  std::size_t begin = 0;
  for (std::size_t end = shown_.size(); begin < end;) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (shown_[RowAt(middle)].bucket < bucket)
      begin = middle + 1;
    else
      end = middle;
  }
  std::vector<std::uint32_t> values;
  for (; begin < shown_.size() && shown_[RowAt(begin)].bucket == bucket; ++begin)
    values.push_back(shown_[RowAt(begin)].value);
  return values;
}

std::vector<std::uint32_t> BrokenPromises(const ReleaseFacts& facts, const std::vector<Rational>& thresholds) {
  std::vector<std::uint32_t> broken;
  for (std::size_t value = 0; value < facts.worst.size(); ++value) {
    const ValueShare& worst = facts.worst[value];
    if (worst.records == 0 || Rational(worst.occurrences, worst.records) <= thresholds[value]) continue;
    broken.push_back(static_cast<std::uint32_t>(value));
  }
  return broken;
}

}  // namespace privacy_score
