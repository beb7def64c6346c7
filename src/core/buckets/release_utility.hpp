/*
 * release_utility.hpp - how far counts from a release are from the counts of its source, over random queries.
 *
 * The queries are those of [Anatomy, section 6] and [Wang, section 7.2.2]: so many quasi-identifiers at random, and the
 * sensitive attribute, each compared with b random values of its domain, b = ceil(domain * selectivity^(1/(d + 1))) for
 * d quasi-identifiers, so that a query selects that share of the records if attributes are independent. The estimate is
 * that of estimate_count(): of each record that matches, the share of its bucket's values that match. A query that
 * selects nothing of the source has no relative error |actual - estimate|/actual, and is left out.
 *
 * Rows come as codes, 4 bytes a column, in parts that fit into memory: queries are drawn from the domains, which are
 * known before, each part is asked all queries at hand, and is forgotten.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/random_source.hpp"
#include "core/base/work_control.hpp"

namespace privacy_score {

// Values that columns are compared with: the attribute is one of them.
struct CountQuery {
  std::vector<std::size_t> columns;
  std::vector<std::vector<std::uint32_t>> values;  // by place in `columns`
  std::vector<std::uint32_t> sensitive;
};

struct CountAnswer {
  std::int64_t actual;
  double estimate;
};

struct DimensionUtility {
  std::int64_t queries = 0;        // that select something
  double mean_relative_error = 0;  // of no queries 0
  double median_relative_error = 0;
};

class ReleaseUtility {
 public:
  // With so many quasi-identifiers, at least one. Throws Error 22023 unless queries >= 1 and 0 < selectivity <= 1.
  ReleaseUtility(std::size_t columns, std::int64_t queries, double selectivity);

  // How many values the source has of each column, and last of the sensitive attribute: their codes are 0, 1, ...
  void SetDomains(const std::vector<std::size_t>& sizes);
  // A random query of `dimensions` quasi-identifiers.
  CountQuery Draw(std::size_t dimensions, RandomSource& random);
  // Draws the next queries to ask, as many as `memory` bytes hold but at least one; false when all have been asked. As
  // many of each dimension are asked in all.
  bool DrawQueries(RandomSource& random, std::size_t memory);

  // Rows of a part: of the source, and of the release, of whose buckets all rows are in one part. Other codes than
  // those of the domains may come in the release. Buckets are numbered from 0 in each part.
  void AddSource(const std::uint32_t* codes, std::uint32_t value);
  void AddRecord(const std::uint32_t* codes, std::uint32_t bucket);
  void AddValue(std::uint32_t bucket, std::uint32_t value, std::int64_t count);
  // Asks the part all queries at hand, and forgets it. Returns false when the control asks for a pause: call it again.
  bool Ask(const WorkControl& control);
  // All parts have been asked.
  void Judge();

  // After all queries; the n-th is of n + 1 dimensions.
  std::vector<DimensionUtility> Result() const;

 private:
  using Column = std::vector<std::uint32_t>;
  struct BucketValue {
    std::uint32_t bucket;
    std::uint32_t value;
    std::int64_t count;
  };
  struct Domain {
    std::vector<std::uint32_t> values;  // in an order that drawing shuffles
    std::vector<char> chosen;           // by code, also those that are not in the domain
  };

  void Prepare();
  CountAnswer Answer(const CountQuery& query);
  std::vector<std::uint32_t> DrawValues(Domain& domain, std::size_t dimensions, RandomSource& random);
  std::size_t Match(const std::vector<Column>& rows, std::size_t count, const CountQuery& query);

  std::int64_t queries_;
  double selectivity_;
  std::vector<Domain> domains_;  // by column, the sensitive one last
  std::vector<std::size_t> order_;
  std::int64_t drawn_ = 0;  // of all queries
  std::vector<CountQuery> at_hand_;
  std::vector<CountAnswer> answers_;         // to these
  std::vector<std::vector<double>> errors_;  // by dimension
  // The part.
  std::vector<Column> source_;  // by column
  Column source_values_;
  std::vector<Column> records_;
  Column record_buckets_;
  std::int64_t total_ = 0;                  // of the counts
  std::vector<BucketValue> values_;         // by bucket once it is prepared
  std::vector<std::size_t> bucket_begins_;  // by bucket, its first in values_; one more at the end
  std::vector<std::int64_t> bucket_totals_;
  std::vector<std::uint32_t> matching_;  // the first ones are the rows that Match() found
  bool is_prepared_ = false;
  std::size_t asked_ = 0;  // of the queries at hand
};

}  // namespace privacy_score
