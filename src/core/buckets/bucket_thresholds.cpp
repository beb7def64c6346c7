/*
 * bucket_thresholds.cpp - thresholds of sensitive values (see bucket_thresholds.hpp).
 */
#include "core/buckets/bucket_thresholds.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

// The least integer that is not less.
Integer Ceiling(const Rational& value) { return -Floor(Rational(-value.numerator(), value.denominator())); }

}  // namespace

std::int64_t TotalRows(const std::vector<std::int64_t>& counts) {
  std::int64_t rows = 0;
  for (const std::int64_t count : counts) {
    if (count < 0)
      throw InvalidValue("a count must not be negative, as " + std::to_string(count) + " is",
                         "It is how often a value occurs.");
    if (count > kMaxBucketRows - rows)
      throw Error("22003", "the counts must add up to at most " + std::to_string(kMaxBucketRows),
                  "Publish fewer records at a time.");
    rows += count;
  }
  return rows;
}

void CheckThreshold(std::string_view parameter, const Rational& threshold) {
  if (threshold <= 0 || threshold > 1)
    throw InvalidValue(std::string(parameter) + " must be greater than 0 and at most 1, not " + TextOf(threshold),
                       "It is the greatest share of a bucket that a value may have.");
}

std::vector<Rational> FrequencyThresholds(const std::vector<std::int64_t>& counts, const Rational& theta,
                                          const Rational& floor) {
  if (theta < 0)
    throw InvalidValue("theta must not be negative, as " + TextOf(theta) + " is",
                       "The threshold of a value is theta times its frequency, and floor.");
  if (floor < 0 || floor > 1)
    throw InvalidValue("floor must be between 0 and 1, not " + TextOf(floor),
                       "The threshold of a value is theta times its frequency, and floor.");
  const std::int64_t rows = TotalRows(counts);
  std::vector<Rational> thresholds;
  thresholds.reserve(counts.size());
  for (const std::int64_t count : counts) {
    Rational threshold = rows == 0 ? floor : theta * Rational(count, rows) + floor;
    if (threshold > 1) threshold = 1;
    if (threshold <= 0) {
      throw InvalidValue("theta and floor give a threshold of 0 for a value that occurs " + std::to_string(count) +
                             (count == 1 ? " time" : " times"),
                         "Choose theta and floor greater than zero.");
    }
    thresholds.push_back(std::move(threshold));
  }
  return thresholds;
}

Rational DiversityThreshold(std::int64_t l) {
  if (l < 1) throw InvalidValue("l must be at least 1, not " + std::to_string(l), "A value may be 1/l of a bucket.");
  return Rational(1, l);
}

int SmallestBucket(const std::vector<Rational>& thresholds) {
  if (thresholds.empty())
    throw InvalidValue("there must be at least one threshold", "Give one for each sensitive value.");
  const Rational& greatest = *std::max_element(thresholds.begin(), thresholds.end());
  CheckThreshold("threshold", greatest);
  const Integer size = Ceiling(1 / greatest);
  if (size > std::numeric_limits<int>::max())
    throw Error("22003", "the thresholds need buckets of " + size.str() + " records, which is too many",
                "Raise the greatest of them.");
  return static_cast<int>(size);
}

std::vector<BrokenThreshold> BrokenThresholds(const std::vector<std::int64_t>& counts,
                                              const std::vector<Rational>& thresholds, int min_size, int max_size,
                                              GivesUp gives_up) {
  if (counts.size() != thresholds.size())
    throw InvalidValue("there must be one threshold for each of the " + std::to_string(counts.size()) +
                           " counts, not " + std::to_string(thresholds.size()),
                       "Give the thresholds in the order of the counts.");
  if (min_size < 1 || max_size < min_size)
    throw InvalidValue("bucket sizes must go from at least 1 upward, not from " + std::to_string(min_size) + " to " +
                           std::to_string(max_size),
                       "Give the least size first.");
  const Integer rows = TotalRows(counts);
  std::vector<BrokenThreshold> broken;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    GiveUpIfAsked(gives_up);
    CheckThreshold("threshold", thresholds[i]);
    if (counts[i] == 0) continue;
    // Of a bucket of S records at least ceil(f S) have to be of the value, in some size.
    Rational least = 1;
    for (int size = min_size; size <= max_size && least > thresholds[i]; ++size) {
      const Integer needed = (Integer(counts[i]) * size + rows - 1) / rows;
      const Rational share(needed, size);
      if (share < least) least = share;
    }
    if (least > thresholds[i]) broken.push_back({i, Rational(counts[i], rows), thresholds[i], least});
  }
  return broken;
}

}  // namespace privacy_score
