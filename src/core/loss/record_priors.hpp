/*
 * record_priors.hpp - what is known of independent records before a release: their values, and how probable each is.
 *
 * Equal values are merged, values that no record can have are dropped, and records with equal priors form a group,
 * which is treated as one.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/decimal_grid.hpp"
#include "core/loss/sum_law.hpp"

namespace privacy_score {

// Probabilities row by row as they were given. No rows: all values are equally probable. One row: all records have it.
struct PriorRows {
  std::size_t rows = 0;
  std::size_t width = 0;
  std::vector<double> probabilities;
};

class RecordPriors {
 public:
  // Throws Error 22023 unless there is a value, a record, and for each record a law over the values.
  RecordPriors(const std::vector<Decimal>& domain, std::int64_t records, const PriorRows& priors);

  std::int64_t records() const { return records_; }
  // Ascending, in steps 10^-decimals.
  const std::vector<Int128>& values() const { return values_; }
  int decimals() const { return decimals_; }
  // Probabilities by value.
  const std::vector<SumGroup>& groups() const { return groups_; }
  std::size_t GroupOf(std::int64_t record) const {
    return group_of_.empty() ? 0 : group_of_[static_cast<std::size_t>(record)];
  }

 private:
  std::int64_t records_;
  int decimals_ = 0;
  std::vector<Int128> values_;
  std::vector<SumGroup> groups_;
  std::vector<std::size_t> group_of_;  // empty: all records are in group 0
};

}  // namespace privacy_score
