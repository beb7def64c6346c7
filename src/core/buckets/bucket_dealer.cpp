/*
 * bucket_dealer.cpp - places of values in random order (see bucket_dealer.hpp).
 *
 * Shuffles grow with their lists [Knuth, algorithm P]: a place that is added changes places with any of those up to it.
 */
#include "core/buckets/bucket_dealer.hpp"

#include <limits>
#include <utility>

namespace privacy_score {

namespace {

constexpr std::size_t kStepsBetweenLooks = 1 << 16;

std::size_t ValuesOf(const BucketPlan& plan) {
  return plan.setting.empty() ? 0 : plan.records.size() / plan.setting.size();
}

}  // namespace

BucketDealer::BucketDealer(const BucketPlan& plan, RandomSource& random)
    : round_robin_(plan, RandomOrder(ValuesOf(plan), random)), random_(random) {
  std::int64_t rows = 0;
  const std::size_t values = ValuesOf(plan);
  for (std::size_t value = 0; value < values; ++value) {
    next_.push_back(rows);
    rows += round_robin_.records(value);
    ends_.push_back(rows);
  }
  if (rows > std::numeric_limits<std::uint32_t>::max()) places_.emplace<Places<std::uint64_t>>();
  std::visit(
      [&](auto& places) {
        places.names.reserve(static_cast<std::size_t>(buckets()));
        places.buckets.reserve(static_cast<std::size_t>(rows));
      },
      places_);
}

bool BucketDealer::Prepare(bool (*interrupted)()) {
  return std::visit([&](auto& places) { return LayOut(places, interrupted); }, places_);
}

template <typename Word>
bool BucketDealer::LayOut(Places<Word>& places, bool (*interrupted)()) {
  const auto pauses = [&](std::size_t step) {
    return step % kStepsBetweenLooks == 0 && interrupted != nullptr && interrupted();
  };
  if (laid_value_ == 0 && places.buckets.empty()) {
    while (places.names.size() < static_cast<std::size_t>(buckets())) {
      const std::size_t name = places.names.size();
      places.names.push_back(static_cast<Word>(name + 1));
      std::swap(places.names[name], places.names[random_.Below(name + 1)]);
      if (pauses(name + 1)) return false;
    }
  }
  for (; laid_value_ < next_.size(); ++laid_value_) {
    const auto begin = static_cast<std::size_t>(next_[laid_value_]);
    while (places.buckets.size() < static_cast<std::size_t>(ends_[laid_value_])) {
      const std::size_t record = places.buckets.size() - begin;
      places.buckets.push_back(
          places
              .names[static_cast<std::size_t>(round_robin_.BucketOf(laid_value_, static_cast<std::int64_t>(record)))]);
      std::swap(places.buckets[begin + record], places.buckets[begin + random_.Below(record + 1)]);
      if (pauses(places.buckets.size())) return false;
    }
  }
  places.names = {};
  return true;
}

std::int64_t BucketDealer::Deal(std::size_t value) {
  const auto next = static_cast<std::size_t>(next_[value]++);
  return std::visit([&](const auto& places) { return static_cast<std::int64_t>(places.buckets[next]); }, places_);
}

}  // namespace privacy_score
