/*
 * fake_values.hpp - values that no record of a bucket has, against who knows some of the others.
 *
 * A bucket of s records shows s + sigma values; who has found out q of the records is left with s + sigma - q values of
 * which sigma are fake [Wang, section 6]. A fake must not be told by what is known of the records: a value that none of
 * the bucket's records could have is none. What a record could have is learned from the table, attribute by attribute:
 * an attribute's value and a sensitive value that were never seen together do not go together if they should have been
 * seen at least kSurelySeen times by their frequencies. Otherwise their absence tells nothing; still, values that were
 * seen with all attributes of as many records as possible come first.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/random_source.hpp"
#include "core/base/rational.hpp"

namespace privacy_score {

// A pair that is expected three times is missing by chance in e^-3, 5 % of all cases.
constexpr std::int64_t kSurelySeen = 3;

// The greatest size of a bucket all of whose values differ because of their thresholds, and that leaves room for fakes.
// Throws Error 22023 when thresholds differ, or when there is no room in any bucket.
int LargestBucketForFakes(const std::vector<Rational>& thresholds, int fakes);

// Which sensitive values go with which values of the attributes. One bit for each pair.
class Associations {
 public:
  // Records have codes for each of their `attributes`, from 0, and one of the values with these counts. Throws Error
  // 54000 in Learn() when it would take more than `memory_limit` bytes.
  Associations(std::size_t attributes, const std::vector<std::int64_t>& counts, std::size_t memory_limit);

  void Learn(const std::uint32_t* codes, std::size_t value);

  // Whether the record's attributes were all seen with the value; whether each that was not is too rare to tell.
  bool Seen(const std::uint32_t* codes, std::size_t value) const;
  bool Possible(const std::uint32_t* codes, std::size_t value) const;

  std::size_t attributes() const { return seen_.size(); }
  const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
  bool SeenWith(std::size_t attribute, std::uint32_t code, std::size_t value) const {
    return (seen_[attribute][code * words_ + value / 64] >> (value % 64) & 1) != 0;
  }

  std::vector<std::int64_t> counts_;
  std::int64_t rows_ = 0;
  std::size_t words_;  // of the bits of one code
  std::size_t memory_limit_;
  std::size_t memory_ = 0;
  std::vector<std::vector<std::uint64_t>> seen_;    // by attribute: bits of the values, by code
  std::vector<std::vector<std::int64_t>> records_;  // by attribute: records that have the code
};

// Whether a value is one that none of the records with these codes (record by record) could have.
bool GivenAway(const Associations& associations, const std::vector<std::uint32_t>& codes, std::size_t records,
               std::size_t value);

class FakeValues {
 public:
  explicit FakeValues(const Associations& associations);

  // Draws `count` values for a bucket whose records have these codes (record by record) and these values, all different
  // and none of them the bucket's. Valid until the next call. Throws Error 22023 when there are not so many.
  const std::vector<std::uint32_t>& Draw(const std::vector<std::uint32_t>& codes, const std::uint32_t* values,
                                         std::size_t records, std::size_t count, RandomSource& random);

 private:
  const Associations& associations_;
  std::vector<std::uint32_t> order_;  // of all values; what was drawn stands in front
  std::vector<bool> taken_;           // by value, of the bucket at hand
  std::vector<std::uint32_t> drawn_;
};

}  // namespace privacy_score
