/*
 * order_check.hpp - whether the order of rows in a release tells who has which value: a statistical test.
 *
 * Whoever has the source knows the value and the place of each record whose quasi-identifiers are unique. In a release
 * whose rows are in random order the n-th record of a bucket has the n-th value of the bucket no more often than
 * chance has it, and neither the place of a record nor the number of its bucket goes with its place in the source.
 * Rows are told apart by 64-bit hashes, and of many rows a part is looked at, chosen by these.
 */
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/buckets/release_check.hpp"

namespace privacy_score {

// Each of the tests calls a good release bad with at most this probability.
constexpr double kOrderFalseAlarm = 1e-7;

struct OrderFindings {
  std::int64_t known = 0;         // records whose value is known
  std::int64_t matches = 0;       // of which stand where their value stands
  double expected = 0;            // as many would by chance
  double match_chance = 1;        // an upper bound of the probability to be as far from that by chance
  double place_correlation = 0;   // of places in the source and in the release [Spearman]
  double bucket_correlation = 0;  // of places in the source and numbers of buckets
  bool pairing_holds = true;
  bool places_hold = true;
  bool buckets_hold = true;
};

class OrderCheck {
 public:
  // Rows of the source in their order.
  void AddSource(std::uint64_t hash, std::uint32_t value);
  // Rows of the table of quasi-identifiers in their order.
  void AddRecord(std::uint64_t hash, std::uint32_t bucket);

  // `check` was judged, and its values came in their order, one a row. `numbers` are those of the buckets, when they
  // are integers; else empty.
  OrderFindings Judge(const ReleaseCheck& check, const std::vector<std::int64_t>& numbers) const;

 private:
  struct SourceRow {
    std::uint32_t value;
    bool unique;
    std::int64_t place;
  };
  struct Record {
    std::uint64_t hash;
    std::uint32_t bucket;
    std::uint32_t position;  // within the bucket
  };
  bool IsLookedAt(std::uint64_t hash) const { return hash % every_ == 0; }
  void LookAtHalf();

  std::uint64_t every_ = 1;  // a power of two
  std::int64_t source_rows_ = 0;
  std::unordered_map<std::uint64_t, SourceRow> source_;
  std::vector<Record> records_;
  std::vector<std::uint32_t> in_bucket_;  // records so far, by bucket
};

// Spearman's rank correlation of two lists of the same length, ties at their mean rank; 0 when one is constant.
double RankCorrelation(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b);

}  // namespace privacy_score
