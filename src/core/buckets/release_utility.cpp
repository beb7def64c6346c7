/*
 * release_utility.cpp - random count queries over coded rows (see release_utility.hpp).
 */
#include "core/buckets/release_utility.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/base/error.hpp"

namespace privacy_score {

ReleaseUtility::ReleaseUtility(std::size_t columns, std::int64_t queries, double selectivity)
    : queries_(queries),
      selectivity_(selectivity),
      domains_(columns + 1),
      order_(columns),
      errors_(columns),
      source_(columns),
      records_(columns) {
  if (queries < 1)
    throw InvalidValue("queries must be at least 1, not " + std::to_string(queries),
                       "Each query compares a count of the release with one of the source.");
  if (!(selectivity > 0 && selectivity <= 1))
    throw InvalidValue("selectivity must be greater than 0 and at most 1", "It is the expected share of the records.");
  std::iota(order_.begin(), order_.end(), 0);
}

void ReleaseUtility::SetDomains(const std::vector<std::size_t>& sizes) {
  for (std::size_t c = 0; c < domains_.size(); ++c) {
    domains_[c].values.resize(sizes[c]);
    std::iota(domains_[c].values.begin(), domains_[c].values.end(), 0U);
  }
}

void ReleaseUtility::AddSource(const std::uint32_t* codes, std::uint32_t value) {
  for (std::size_t c = 0; c < source_.size(); ++c) source_[c].push_back(codes[c]);
  source_values_.push_back(value);
}

void ReleaseUtility::AddRecord(const std::uint32_t* codes, std::uint32_t bucket) {
  for (std::size_t c = 0; c < records_.size(); ++c) records_[c].push_back(codes[c]);
  record_buckets_.push_back(bucket);
}

void ReleaseUtility::AddValue(std::uint32_t bucket, std::uint32_t value, std::int64_t count) {
  if (count <= 0) return;
  if (__builtin_add_overflow(total_, count, &total_))
    throw Error("22003", "the counts of a release add up to more than 64 bits hold",
                "No table has so many records: look for a wrong count.");
  values_.push_back({bucket, value, count});
}

void ReleaseUtility::Prepare() {
  std::sort(values_.begin(), values_.end(),
            [](const BucketValue& a, const BucketValue& b) { return a.bucket < b.bucket; });
  std::uint32_t most_bucket = 0;
  for (const std::uint32_t bucket : record_buckets_) most_bucket = std::max(most_bucket, bucket);
  if (!values_.empty()) most_bucket = std::max(most_bucket, values_.back().bucket);
  bucket_begins_.assign(std::size_t{most_bucket} + 2, 0);
  bucket_totals_.assign(std::size_t{most_bucket} + 1, 0);
  for (const BucketValue& each : values_) {
    ++bucket_begins_[std::size_t{each.bucket} + 1];
    bucket_totals_[each.bucket] += each.count;
  }
  std::partial_sum(bucket_begins_.begin(), bucket_begins_.end(), bucket_begins_.begin());

  // Marks for all codes of the domains and of the part.
  std::vector<std::size_t> codes;
  const auto greatest = [](const Column& column) {
    return column.empty() ? std::size_t{0} : std::size_t{*std::max_element(column.begin(), column.end())} + 1;
  };
  for (std::size_t c = 0; c < source_.size(); ++c)
    codes.push_back(std::max(greatest(source_[c]), greatest(records_[c])));
  codes.push_back(greatest(source_values_));
  for (const BucketValue& each : values_) codes.back() = std::max(codes.back(), std::size_t{each.value} + 1);
  for (std::size_t c = 0; c < domains_.size(); ++c)
    domains_[c].chosen.resize(std::max({domains_[c].chosen.size(), domains_[c].values.size(), codes[c]}));
  matching_.resize(std::max(source_values_.size(), record_buckets_.size()));
  is_prepared_ = true;
}

// b different values of a domain, all sets of them alike.
std::vector<std::uint32_t> ReleaseUtility::DrawValues(Domain& domain, std::size_t dimensions, RandomSource& random) {
  const std::size_t size = domain.values.size();
  const double share = std::pow(selectivity_, 1.0 / static_cast<double>(dimensions + 1));
  // A product that is an integer must not be rounded up to the next one.
  const auto wanted = static_cast<std::size_t>(std::ceil(static_cast<double>(size) * share - 1e-9));
  const std::size_t drawn = std::min(size, std::max<std::size_t>(1, wanted));
  for (std::size_t n = 0; n < drawn; ++n) std::swap(domain.values[n], domain.values[n + random.Below(size - n)]);
  return {domain.values.begin(), domain.values.begin() + static_cast<std::ptrdiff_t>(drawn)};
}

CountQuery ReleaseUtility::Draw(std::size_t dimensions, RandomSource& random) {
  CountQuery query;
  for (std::size_t n = 0; n < dimensions; ++n) {
    std::swap(order_[n], order_[n + random.Below(order_.size() - n)]);
    query.columns.push_back(order_[n]);
    query.values.push_back(DrawValues(domains_[order_[n]], dimensions, random));
  }
  query.sensitive = DrawValues(domains_.back(), dimensions, random);
  return query;
}

// Finds the rows whose columns have chosen values, and returns how many they are. Without branches: which rows match
// cannot be foreseen.
std::size_t ReleaseUtility::Match(const std::vector<Column>& rows, std::size_t count, const CountQuery& query) {
  std::size_t matches = count;
  for (std::size_t n = 0; n < query.columns.size(); ++n) {
    const std::uint32_t* codes = rows[query.columns[n]].data();
    const char* chosen = domains_[query.columns[n]].chosen.data();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < matches; ++i) {
      const std::uint32_t row = n == 0 ? static_cast<std::uint32_t>(i) : matching_[i];
      matching_[kept] = row;
      kept += static_cast<std::size_t>(chosen[codes[row]]);
    }
    matches = kept;
  }
  return matches;
}

CountAnswer ReleaseUtility::Answer(const CountQuery& query) {
  const auto choose = [&](char mark) {
    for (std::size_t n = 0; n < query.columns.size(); ++n)
      for (const std::uint32_t value : query.values[n]) domains_[query.columns[n]].chosen[value] = mark;
    for (const std::uint32_t value : query.sensitive) domains_.back().chosen[value] = mark;
  };
  choose(1);
  const char* chosen = domains_.back().chosen.data();
  CountAnswer answer{0, 0};
  const std::size_t in_source = Match(source_, source_values_.size(), query);
  for (std::size_t n = 0; n < in_source; ++n) answer.actual += chosen[source_values_[matching_[n]]];
  const std::size_t in_release = Match(records_, record_buckets_.size(), query);
  double share = 0;  // of the values of the record before that match
  for (std::size_t n = 0; n < in_release; ++n) {
    const std::uint32_t bucket = record_buckets_[matching_[n]];
    if (n == 0 || bucket != record_buckets_[matching_[n - 1]]) {
      std::int64_t matching_values = 0;
      for (std::size_t i = bucket_begins_[bucket]; i < bucket_begins_[std::size_t{bucket} + 1]; ++i)
        matching_values += chosen[values_[i].value] != 0 ? values_[i].count : 0;
      share =
          matching_values == 0 ? 0 : static_cast<double>(matching_values) / static_cast<double>(bucket_totals_[bucket]);
    }
    answer.estimate += share;
  }
  choose(0);
  return answer;
}

bool ReleaseUtility::DrawQueries(RandomSource& random, std::size_t memory) {
  at_hand_.clear();
  if (domains_.back().values.empty()) return false;  // there is nothing to ask about
  for (std::size_t bytes = 0; drawn_ < queries_ && (at_hand_.empty() || bytes < memory); ++drawn_) {
    const CountQuery& query =
        at_hand_.emplace_back(Draw(1 + static_cast<std::size_t>(drawn_) % errors_.size(), random));
    bytes += sizeof query + sizeof(CountAnswer) + query.sensitive.capacity() * sizeof(std::uint32_t);
    for (const auto& values : query.values) bytes += sizeof values + values.capacity() * sizeof(std::uint32_t);
  }
  answers_.assign(at_hand_.size(), {0, 0});
  return !at_hand_.empty();
}

bool ReleaseUtility::Ask(const WorkControl& control) {
  if (!is_prepared_) Prepare();
  for (; asked_ < at_hand_.size(); ++asked_) {
    if (control.Interrupted()) return false;
    const CountAnswer answer = Answer(at_hand_[asked_]);
    answers_[asked_].actual += answer.actual;
    answers_[asked_].estimate += answer.estimate;
  }
  asked_ = 0;
  is_prepared_ = false;
  for (Column& column : source_) column.clear();
  for (Column& column : records_) column.clear();
  source_values_.clear();
  record_buckets_.clear();
  values_.clear();
  total_ = 0;
  return true;
}

void ReleaseUtility::Judge() {
  for (std::size_t n = 0; n < at_hand_.size(); ++n) {
    if (answers_[n].actual == 0) continue;
    const auto actual = static_cast<double>(answers_[n].actual);
    errors_[at_hand_[n].columns.size() - 1].push_back(std::abs(actual - answers_[n].estimate) / actual);
  }
}

std::vector<DimensionUtility> ReleaseUtility::Result() const {
  std::vector<DimensionUtility> result;
  for (std::vector<double> errors : errors_) {
    DimensionUtility& each = result.emplace_back();
    if (errors.empty()) continue;
    each.queries = static_cast<std::int64_t>(errors.size());
    const auto count = static_cast<double>(errors.size());
    each.mean_relative_error = std::accumulate(errors.begin(), errors.end(), 0.0) / count;
    std::sort(errors.begin(), errors.end());
    each.median_relative_error = (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]) / 2;
  }
  return result;
}

}  // namespace privacy_score
