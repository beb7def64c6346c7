/*
 * order_check.cpp - see order_check.hpp.
 */
#include "core/buckets/order_check.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

namespace privacy_score {

namespace {

constexpr std::size_t kMaxLookedAt = 200000;
// A standard normal variable is as far from 0 with probability kOrderFalseAlarm.
constexpr double kNormalLimit = 5.3268;

std::vector<double> Ranks(const std::vector<std::int64_t>& list) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return list[a] < list[b]; });
  std::vector<double> ranks(list.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && list[order[end]] == list[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return ranks;
}

// The known records of one bucket: at which position each stands, and which value it has.
using KnownInBucket = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Moments {
  std::int64_t matches = 0;
  double mean = 0;
  double variance = 0;
};

// The number of known records that stand where their value stands, and its moments when the bucket's values are in
// random order: with n_v of them v, and a_v records known to have it, out of N values,
// E X = sum a n / N and E X(X-1) = ((sum a n)^2 - sum (a n)^2 + sum a (a-1) n (n-1)) / (N (N-1)).
Moments MatchesOf(const KnownInBucket& known, const std::vector<std::uint32_t>& values) {
  Moments moments;
  std::map<std::uint32_t, std::pair<double, double>> by_value;  // a, n
  for (const auto& [position, value] : known) {
    ++by_value[value].first;
    if (position < values.size() && values[position] == value) ++moments.matches;
  }
  for (const std::uint32_t value : values) {
    const auto found = by_value.find(value);
    if (found != by_value.end()) ++found->second.second;
  }
  double products = 0, squares = 0, same = 0;
  for (const auto& [value, counts] : by_value) {
    const auto [a, n] = counts;
    products += a * n;
    squares += a * n * a * n;
    same += a * (a - 1) * n * (n - 1);
  }
  const auto size = static_cast<double>(values.size());
  if (size == 0) return moments;
  moments.mean = products / size;
  const double pairs = size > 1 ? (products * products - squares + same) / (size * (size - 1)) : 0;
  moments.variance = std::max(0.0, pairs + moments.mean - moments.mean * moments.mean);
  return moments;
}

}  // namespace

double RankCorrelation(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const std::vector<double> ranks_a = Ranks(a);
  const std::vector<double> ranks_b = Ranks(b);
  const double mean = (static_cast<double>(a.size()) - 1) / 2;
  double product = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    square_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    square_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  return square_a > 0 && square_b > 0 ? product / std::sqrt(square_a * square_b) : 0;
}

void OrderCheck::LookAtHalf() {
  every_ *= 2;
  records_.erase(
      std::remove_if(records_.begin(), records_.end(), [&](const Record& record) { return !IsLookedAt(record.hash); }),
      records_.end());
  for (auto row = source_.begin(); row != source_.end();)
    row = IsLookedAt(row->first) ? std::next(row) : source_.erase(row);
}

void OrderCheck::AddSource(std::uint64_t hash, std::uint32_t value) {
  const std::int64_t place = source_rows_++;
  if (!IsLookedAt(hash)) return;
  const auto [row, fresh] = source_.emplace(hash, SourceRow{value, true, place});
  if (!fresh) row->second.unique = false;
  if (source_.size() > kMaxLookedAt) LookAtHalf();
}

void OrderCheck::AddRecord(std::uint64_t hash, std::uint32_t bucket) {
  if (bucket >= in_bucket_.size()) in_bucket_.resize(std::size_t{bucket} + 1);
  const std::uint32_t position = in_bucket_[bucket]++;
  if (!IsLookedAt(hash)) return;
  records_.push_back({hash, bucket, position});
  if (records_.size() > kMaxLookedAt) LookAtHalf();
}

OrderFindings OrderCheck::Judge(const ReleaseCheck& check, const std::vector<std::int64_t>& numbers) const {
  OrderFindings findings;
  std::unordered_map<std::uint32_t, KnownInBucket> known;
  std::vector<std::int64_t> source_places, places, buckets;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const Record& record = records_[i];
    const auto row = source_.find(record.hash);
    if (row == source_.end() || !row->second.unique) continue;
    known[record.bucket].emplace_back(record.position, row->second.value);
    source_places.push_back(row->second.place);
    places.push_back(static_cast<std::int64_t>(i));
    if (!numbers.empty()) buckets.push_back(numbers[record.bucket]);
  }
  double variance = 0;
  double largest = 1;  // by which one bucket can move the sum
  for (const auto& [bucket, rows] : known) {
    const std::vector<std::uint32_t> values = check.Values(bucket);
    const Moments moments = MatchesOf(rows, values);
    findings.known += static_cast<std::int64_t>(rows.size());
    findings.matches += moments.matches;
    findings.expected += moments.mean;
    variance += moments.variance;
    largest = std::max(largest, static_cast<double>(rows.size()));
  }
  // Bernstein's inequality over the buckets, which are independent; for both sides.
  const double away = std::abs(static_cast<double>(findings.matches) - findings.expected);
  if (away > 0) {
    const double exponent = away * away / (2 * variance + 2 * largest * away / 3);
    findings.match_chance = std::min(1.0, 2 * std::exp(-exponent));
  }
  findings.pairing_holds = findings.match_chance >= kOrderFalseAlarm;
  if (source_places.size() < 2) return findings;
  // Under independence the correlation has variance 1/(n-1).
  const double limit = kNormalLimit / std::sqrt(static_cast<double>(source_places.size()) - 1);
  findings.place_correlation = RankCorrelation(source_places, places);
  findings.places_hold = std::abs(findings.place_correlation) <= limit;
  if (numbers.empty()) return findings;
  findings.bucket_correlation = RankCorrelation(source_places, buckets);
  findings.buckets_hold = std::abs(findings.bucket_correlation) <= limit;
  return findings;
}

}  // namespace privacy_score
