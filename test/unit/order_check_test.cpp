/*
 * order_check_test.cpp - releases in random order pass, and each way to keep an order is found.
 */
#include "core/buckets/order_check.hpp"
#include "sanitizers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace privacy_score;

namespace {

enum class Fault { kNone, kSameOrderInBuckets, kSourceOrder, kBucketsInSourceOrder };

std::uint64_t Hash(std::uint64_t record) { return std::mt19937_64(record)(); }

// 2000 records in buckets of 5, values from 20, each record with a hash of its own.
OrderFindings Judged(Fault fault, std::uint64_t seed, std::uint32_t records = 2000, std::uint32_t values = 20) {
  std::mt19937_64 random(seed);
  constexpr std::uint32_t kSize = 5;
  std::vector<std::uint32_t> value_of(records), order(records);
  for (std::uint32_t i = 0; i < records; ++i) {
    value_of[i] = static_cast<std::uint32_t>(random() % values);
    order[i] = i;
  }
  if (fault != Fault::kBucketsInSourceOrder) std::shuffle(order.begin(), order.end(), random);
  std::vector<std::uint32_t> bucket_of(records);
  for (std::uint32_t i = 0; i < records; ++i) bucket_of[order[i]] = i / kSize;
  if (fault == Fault::kSourceOrder) std::sort(order.begin(), order.end());
  if (fault == Fault::kBucketsInSourceOrder) std::shuffle(order.begin(), order.end(), random);
  OrderCheck check;
  ReleaseCheck release;
  std::vector<std::vector<std::uint32_t>> shown(records / kSize);
  for (const std::uint32_t record : order) {
    release.AddRecord(bucket_of[record]);
    check.AddRecord(Hash(record), bucket_of[record]);
    shown[bucket_of[record]].push_back(value_of[record]);
  }
  for (std::uint32_t bucket = 0; bucket < shown.size(); ++bucket) {
    if (fault != Fault::kSameOrderInBuckets) std::shuffle(shown[bucket].begin(), shown[bucket].end(), random);
    for (const std::uint32_t value : shown[bucket]) release.AddValue(bucket, value, 1);
  }
  for (std::uint32_t i = 0; i < records; ++i) check.AddSource(Hash(i), value_of[i]);
  EXPECT_TRUE(release.Judge(nullptr));
  std::vector<std::int64_t> numbers(records / kSize);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  return check.Judge(release, numbers);
}

TEST(OrderCheck, RandomOrderHolds) {
  double squares = 0;
  const int kReleases = testing_support::Instances(200);
  for (int i = 0; i < kReleases; ++i) {
    const OrderFindings findings = Judged(Fault::kNone, static_cast<std::uint64_t>(i));
    EXPECT_EQ(findings.known, 2000);
    EXPECT_TRUE(findings.pairing_holds && findings.places_hold && findings.buckets_hold);
    squares += std::pow(static_cast<double>(findings.matches) - findings.expected, 2);
  }
  if (testing_support::kSanitized) return;  // so few releases tell nothing
  // Values in a bucket differ mostly, so that about one record a bucket stands right by chance, with variance about 1.
  EXPECT_NEAR(squares / kReleases / 400, 1.0, 0.5);
}

TEST(OrderCheck, FindsEachOrderThatTells) {
  const OrderFindings pairing = Judged(Fault::kSameOrderInBuckets, 1);
  EXPECT_EQ(pairing.matches, 2000);
  EXPECT_FALSE(pairing.pairing_holds);
  EXPECT_TRUE(pairing.places_hold && pairing.buckets_hold);
  const OrderFindings places = Judged(Fault::kSourceOrder, 2);
  EXPECT_TRUE(places.pairing_holds && places.buckets_hold);
  EXPECT_FALSE(places.places_hold);
  EXPECT_DOUBLE_EQ(places.place_correlation, 1);
  const OrderFindings buckets = Judged(Fault::kBucketsInSourceOrder, 3);
  EXPECT_TRUE(buckets.pairing_holds && buckets.places_hold);
  EXPECT_FALSE(buckets.buckets_hold);
}

TEST(OrderCheck, AHundredRecordsAreEnough) { EXPECT_FALSE(Judged(Fault::kSameOrderInBuckets, 4, 100).pairing_holds); }

// A part of many rows is looked at, and that is enough.
TEST(OrderCheck, ManyRowsAreSampled) {
  const OrderFindings findings = Judged(Fault::kSameOrderInBuckets, 5, 600000, 50);
  EXPECT_GT(findings.known, 90000);
  EXPECT_LE(findings.known, 200000);
  EXPECT_EQ(findings.known, findings.matches);
  EXPECT_FALSE(findings.pairing_holds);
}

TEST(OrderCheck, RecordsThatAreNotUniqueTellNothing) {
  OrderCheck check;
  ReleaseCheck release;
  for (std::uint32_t i = 0; i < 10; ++i) {
    check.AddSource(1, i);
    check.AddRecord(1, 0);
    release.AddRecord(0);
    release.AddValue(0, i, 1);
  }
  ASSERT_TRUE(release.Judge(nullptr));
  EXPECT_EQ(check.Judge(release, {}).known, 0);
  EXPECT_TRUE(check.Judge(release, {}).pairing_holds);
}

// Exact moments against all orders of a bucket: values a a b c, of whose records two are known to have a, one to have
// c.
TEST(OrderCheck, ExpectationIsThatOfAllOrders) {
  std::vector<std::uint32_t> values = {0, 0, 1, 2};
  double expected = -1, sum = 0, count = 0;
  do {
    OrderCheck check;
    ReleaseCheck release;
    const std::uint32_t known[] = {0, 2, 0};
    for (std::uint32_t i = 0; i < 4; ++i) {
      release.AddRecord(0);
      check.AddRecord(i, 0);
      if (i < 3) check.AddSource(i, known[i]);
    }
    for (const std::uint32_t value : values) release.AddValue(0, value, 1);
    ASSERT_TRUE(release.Judge(nullptr));
    const OrderFindings findings = check.Judge(release, {});
    if (expected < 0) expected = findings.expected;
    EXPECT_DOUBLE_EQ(findings.expected, expected);
    sum += static_cast<double>(findings.matches);
    ++count;
  } while (std::next_permutation(values.begin(), values.end()));
  EXPECT_EQ(count, 12);
  EXPECT_DOUBLE_EQ(expected, sum / count);
}

TEST(OrderCheck, RankCorrelationOfTies) {
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {10, 20, 30}), 1);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(RankCorrelation({1, 2, 3}, {7, 7, 7}), 0);
  EXPECT_NEAR(RankCorrelation({1, 2, 3, 4}, {1, 1, 2, 2}), 0.894427191, 1e-9);
}

}  // namespace
