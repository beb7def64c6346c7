/*
 * fake_values.cpp - see fake_values.hpp.
 */
#include "core/buckets/fake_values.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/buckets/bucket_thresholds.hpp"

namespace privacy_score {

namespace {

// Values that are looked at for a bucket before the best of them are taken.
constexpr std::size_t kMaxLooks = 1000;

}  // namespace

int LargestBucketForFakes(const std::vector<Rational>& thresholds, int fakes) {
  const Rational& threshold = thresholds.front();
  for (const Rational& other : thresholds)
    if (other != threshold)
      throw InvalidValue("fake values need the same threshold for all values", "Give l instead, such as l => 5.");
  const int smallest = SmallestBucket(thresholds);
  const auto room = static_cast<std::int64_t>(thresholds.size()) - fakes;
  if (room < smallest)
    throw InvalidValue("buckets of at least " + std::to_string(smallest) + " different values have no room for " +
                           std::to_string(fakes) + " fake ones: there are " + std::to_string(thresholds.size()) +
                           " values",
                       "Ask for fewer fake values, or raise the threshold.");
  // The least size with room for two records of a value, less one.
  const int twice = SmallestBucket({threshold * Rational(1, 2)});
  return static_cast<int>(std::min<std::int64_t>(twice - 1, room));
}

Associations::Associations(std::size_t attributes, const std::vector<std::int64_t>& counts, std::size_t memory_limit)
    : counts_(counts),
      words_((counts.size() + 63) / 64),
      memory_limit_(memory_limit),
      seen_(attributes),
      records_(attributes) {
  rows_ = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

void Associations::Learn(const std::uint32_t* codes, std::size_t value) {
  for (std::size_t a = 0; a < seen_.size(); ++a) {
    if (codes[a] >= records_[a].size()) {
      memory_ += (codes[a] + 1 - records_[a].size()) * (words_ + 1) * 8;
      if (memory_ > memory_limit_)
        throw Error("54000", "what goes with what in the table does not fit into maintenance_work_mem",
                    "Raise maintenance_work_mem, or publish fewer quasi-identifiers with many values.");
      records_[a].resize(std::size_t{codes[a]} + 1);
      seen_[a].resize((std::size_t{codes[a]} + 1) * words_);
    }
    ++records_[a][codes[a]];
    seen_[a][codes[a] * words_ + value / 64] |= std::uint64_t{1} << (value % 64);
  }
}

bool Associations::Seen(const std::uint32_t* codes, std::size_t value) const {
  for (std::size_t a = 0; a < seen_.size(); ++a)
    if (!SeenWith(a, codes[a], value)) return false;
  return true;
}

bool Associations::Possible(const std::uint32_t* codes, std::size_t value) const {
  for (std::size_t a = 0; a < seen_.size(); ++a) {
    if (SeenWith(a, codes[a], value)) continue;
    if (static_cast<__int128>(records_[a][codes[a]]) * counts_[value] >= static_cast<__int128>(kSurelySeen) * rows_)
      return false;
  }
  return true;
}

bool GivenAway(const Associations& associations, const std::vector<std::uint32_t>& codes, std::size_t records,
               std::size_t value) {
  for (std::size_t r = 0; r < records; ++r)
    if (associations.Possible(codes.data() + r * associations.attributes(), value)) return false;
  return true;
}

FakeValues::FakeValues(const Associations& associations)
    : associations_(associations), order_(associations.counts().size()), taken_(associations.counts().size()) {
  std::iota(order_.begin(), order_.end(), 0U);
}

// Values are drawn without putting back; the first that were seen with all records are taken. When there are too few,
// those that were seen with the most, or at least are possible for some record, make up for them.
const std::vector<std::uint32_t>& FakeValues::Draw(const std::vector<std::uint32_t>& codes, const std::uint32_t* values,
                                                   std::size_t records, std::size_t count, RandomSource& random) {
  for (std::size_t i = 0; i < records; ++i) taken_[values[i]] = true;
  drawn_.clear();
  std::vector<std::pair<std::size_t, std::uint32_t>> others;  // records that the value was seen with, value
  const std::size_t attributes = associations_.attributes();
  for (std::size_t i = 0, looks = 0; i < order_.size() && drawn_.size() < count && looks < kMaxLooks; ++i) {
    std::swap(order_[i], order_[i + static_cast<std::size_t>(random.Below(order_.size() - i))]);
    const std::uint32_t value = order_[i];
    if (taken_[value] || associations_.counts()[value] == 0) continue;
    ++looks;
    std::size_t seen = 0;
    bool possible = false;
    for (std::size_t r = 0; r < records; ++r) {
      const std::uint32_t* record = codes.data() + r * attributes;
      if (associations_.Seen(record, value))
        ++seen;
      else
        possible = possible || associations_.Possible(record, value);
    }
    if (seen == records)
      drawn_.push_back(value);
    else if (seen > 0 || possible)
      others.emplace_back(seen, value);
  }
  std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; drawn_.size() < count && i < others.size(); ++i) drawn_.push_back(others[i].second);
  for (std::size_t i = 0; i < records; ++i) taken_[values[i]] = false;
  if (drawn_.size() < count)
    throw InvalidValue("a bucket of " + std::to_string(records) + " records has room for " +
                           std::to_string(drawn_.size()) + " fake values only, not " + std::to_string(count),
                       "Too few other values go with its records. Ask for fewer, or leave out quasi-identifiers.");
  return drawn_;
}

}  // namespace privacy_score
