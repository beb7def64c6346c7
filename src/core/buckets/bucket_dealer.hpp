/*
 * bucket_dealer.hpp - which bucket an arriving record goes into, at random among equals.
 *
 * The places that a plan has for the records of a value are shuffled, and each record of the value gets the next one,
 * so that neither the order of the input nor anything else about a record but its value shows in where it goes. A
 * value's places lie together, so the shuffle stays within memory that is close by. Values come in random order.
 * Buckets are named by the numbers 1..buckets in random order, which tell neither sizes nor contents. Takes 4 bytes a
 * record, and while it prepares 4 a bucket; 8 each from 2^32 records on.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/base/random_source.hpp"
#include "core/buckets/bucket_plan.hpp"

namespace privacy_score {

class BucketDealer {
 public:
  // `random` must outlive the dealer.
  BucketDealer(const BucketPlan& plan, RandomSource& random);

  // Lays the places out and shuffles them. Returns false when `interrupted` (null: never) asks for a pause: call it
  // again to go on.
  bool Prepare(bool (*interrupted)());

  std::int64_t buckets() const { return round_robin_.buckets(); }
  // Records of the value that have no bucket yet.
  std::int64_t Left(std::size_t value) const { return ends_[value] - next_[value]; }
  // The bucket, 1..buckets, of the next record of the value. Left(value) > 0, and Prepare() was true.
  std::int64_t Deal(std::size_t value);

  std::size_t values() const { return next_.size(); }
  std::int64_t rows() const { return ends_.empty() ? 0 : ends_.back(); }

 private:
  template <typename Word>
  struct Places {
    std::vector<Word> names;    // of the buckets; empty when all places are laid out
    std::vector<Word> buckets;  // of the places, value after value
  };
  template <typename Word>
  bool LayOut(Places<Word>& places, bool (*interrupted)());

  RoundRobin round_robin_;
  RandomSource& random_;
  std::variant<Places<std::uint32_t>, Places<std::uint64_t>> places_;
  std::size_t laid_value_ = 0;      // the value whose places are laid out next
  std::vector<std::int64_t> next_;  // by value: its next place
  std::vector<std::int64_t> ends_;  // by value: the place behind its last
};

}  // namespace privacy_score
