/*
 * release_check_test.cpp - facts of published tables: by hand, and against a plain computation on random ones.
 */
#include "core/buckets/release_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "core/base/error.hpp"
#include "error_fixture.hpp"

using namespace privacy_score;

namespace {

// Buckets of [Wang, table 2]: two records each, values of their own.
TEST(ReleaseCheck, TableOfThePaper) {
  ReleaseCheck check;
  for (const std::uint32_t bucket : {0U, 0U, 1U, 1U}) check.AddRecord(bucket);
  check.AddValue(0, 0, 1);
  check.AddValue(0, 1, 1);
  check.AddValue(1, 2, 1);
  check.AddValue(1, 3, 1);
  ASSERT_TRUE(check.Judge(nullptr));
  const ReleaseFacts& facts = check.facts();
  EXPECT_EQ(facts.buckets, 2);
  EXPECT_EQ(facts.records, 4);
  EXPECT_EQ(facts.values, 4);
  EXPECT_EQ(facts.smallest, 2);
  EXPECT_EQ(facts.largest, 2);
  EXPECT_EQ(facts.repeating, 0);
  for (const ValueShare& worst : facts.worst) {
    EXPECT_EQ(worst.occurrences, 1);
    EXPECT_EQ(worst.records, 2);
  }
  const std::vector<Rational> half(4, Rational(1, 2));
  EXPECT_TRUE(BrokenPromises(facts, half).empty());
  std::vector<Rational> less = half;
  less[2] = Rational(Integer("499999999999999999999"), Integer("1000000000000000000000"));
  EXPECT_EQ(BrokenPromises(facts, less), std::vector<std::uint32_t>{2});
}

TEST(ReleaseCheck, FindsOrphansAndWrongSizes) {
  ReleaseCheck check;
  for (const std::uint32_t bucket : {0U, 1U, 1U, 2U, 2U, 2U}) check.AddRecord(bucket);
  check.AddValue(1, 0, 2);
  check.AddValue(2, 0, 1);
  check.AddValue(2, 1, 4);
  check.AddValue(9, 1, 1);
  ASSERT_TRUE(check.Judge(nullptr));
  const ReleaseFacts& facts = check.facts();
  EXPECT_EQ(facts.buckets, 3);
  EXPECT_EQ(facts.without_values, 1);
  EXPECT_EQ(facts.without_records, 1);
  EXPECT_EQ(facts.orphan, 9U);
  EXPECT_EQ(facts.least_extra, 0);
  EXPECT_EQ(facts.least_extra_bucket, 1U);
  EXPECT_EQ(facts.most_extra, 2);
  EXPECT_EQ(facts.most_extra_bucket, 2U);
  EXPECT_EQ(facts.repeating, 2);
  EXPECT_EQ(facts.worst[1].occurrences, 4);  // more than the bucket has records
  EXPECT_EQ(facts.worst[1].records, 3);
}

TEST(ReleaseCheck, OfNothing) {
  ReleaseCheck check;
  ASSERT_TRUE(check.Judge(nullptr));
  EXPECT_EQ(check.facts().buckets, 0);
  EXPECT_TRUE(BrokenPromises(check.facts(), {}).empty());
}

// Without keeping rows the facts are the same as long as rows come bucket by bucket, and it is told when they do not.
TEST(ReleaseCheck, JudgesRowsAsTheyCome) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    ReleaseCheck keeping;
    ReleaseCheck passing(ReleaseCheck::Keeps::kNone);
    for (std::uint32_t k = random() % 40; k > 0; --k) {
      const auto bucket = static_cast<std::uint32_t>(random() % 9);
      keeping.AddRecord(bucket);
      passing.AddRecord(bucket);
    }
    for (std::uint32_t bucket = 0; bucket < 11; ++bucket) {
      for (std::uint32_t k = random() % 5; k > 0; --k) {
        const auto value = static_cast<std::uint32_t>(random() % 4);
        const auto count = static_cast<std::int64_t>(1 + random() % (1 + static_cast<unsigned>(i) % 2));
        keeping.AddValue(bucket, value, count);
        passing.AddValue(bucket, value, count);
      }
    }
    ASSERT_TRUE(keeping.Judge(nullptr));
    ASSERT_TRUE(passing.Judge(nullptr));
    const ReleaseFacts& a = keeping.facts();
    const ReleaseFacts& b = passing.facts();
    EXPECT_EQ(a.scattered, 0);
    EXPECT_EQ(b.scattered, 0);
    EXPECT_EQ(std::tie(a.buckets, a.records, a.values, a.smallest, a.largest, a.without_values, a.without_records,
                       a.orphan, a.least_extra, a.most_extra, a.repeating, a.counts),
              std::tie(b.buckets, b.records, b.values, b.smallest, b.largest, b.without_values, b.without_records,
                       b.orphan, b.least_extra, b.most_extra, b.repeating, b.counts));
    ASSERT_EQ(a.worst.size(), b.worst.size());
    for (std::size_t value = 0; value < a.worst.size(); ++value)
      EXPECT_EQ(std::tie(a.worst[value].occurrences, a.worst[value].records, a.worst[value].bucket),
                std::tie(b.worst[value].occurrences, b.worst[value].records, b.worst[value].bucket));
  }
  ReleaseCheck scattered(ReleaseCheck::Keeps::kNone);
  for (const std::uint32_t bucket : {0U, 1U, 0U}) {
    scattered.AddRecord(bucket);
    scattered.AddValue(bucket, 0, 1);
  }
  ASSERT_TRUE(scattered.Judge(nullptr));
  EXPECT_EQ(scattered.facts().scattered, 1);
}

TEST(ReleaseCheck, RefusesCountsBelowOne) {
  ReleaseCheck check;
  EXPECT_EQ(testing_support::ErrorOf([&] { check.AddValue(0, 0, 0); }), "22023 a count must be at least 1, not 0");
  check.AddValue(0, 0, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(testing_support::ErrorOf([&] { check.AddValue(1, 0, 1); }),
            "22003 the counts of a release add up to more than 64 bits hold");
}

TEST(ReleaseCheck, EqualsAPlainComputationInAnyOrder) {
  std::mt19937_64 random(3);
  const auto draw = [&](int most) { return static_cast<std::uint32_t>(random() % static_cast<unsigned>(most + 1)); };
  for (int i = 0; i < 300; ++i) {
    struct Row {
      std::uint32_t bucket, value;
      std::int64_t count;
    };
    std::vector<Row> rows;
    std::vector<std::uint32_t> records;
    const int buckets = 1 + static_cast<int>(draw(8));
    for (std::uint32_t k = draw(60); k > 0; --k) records.push_back(draw(buckets));
    for (std::uint32_t k = draw(60); k > 0; --k) rows.push_back({draw(buckets), draw(5), 1 + draw(i % 3)});
    if (i % 4 == 0) std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.bucket < b.bucket; });
    ReleaseCheck check;
    std::map<std::uint32_t, std::int64_t> size, shown;
    std::map<std::uint32_t, std::map<std::uint32_t, std::int64_t>> times;
    for (const std::uint32_t bucket : records) {
      check.AddRecord(bucket);
      ++size[bucket];
    }
    for (const Row& row : rows) {
      check.AddValue(row.bucket, row.value, row.count);
      times[row.bucket][row.value] += row.count;
      shown[row.bucket] += row.count;
    }
    while (!check.Judge([] { return true; })) {
    }
    const ReleaseFacts& facts = check.facts();
    EXPECT_EQ(facts.buckets, static_cast<std::int64_t>(size.size()));
    std::set<std::uint32_t> missing;
    for (const auto& [bucket, count] : size)
      if (shown.count(bucket) == 0) missing.insert(bucket);
    EXPECT_EQ(facts.without_values, static_cast<std::int64_t>(missing.size()));
    std::int64_t repeating = 0, least = 1000, most = -1000;
    for (const auto& [bucket, values] : times) {
      bool repeats = false;
      for (const auto& [value, count] : values) {
        repeats = repeats || count > 1;
        if (size.count(bucket) == 0) continue;
        const ValueShare& worst = facts.worst[value];
        EXPECT_GE(worst.occurrences * size[bucket], count * worst.records);
        EXPECT_EQ(times[worst.bucket][value], worst.occurrences);
        EXPECT_EQ(size[worst.bucket], worst.records);
      }
      repeating += repeats ? 1 : 0;
      if (size.count(bucket) == 0) continue;
      least = std::min(least, shown[bucket] - size[bucket]);
      most = std::max(most, shown[bucket] - size[bucket]);
    }
    EXPECT_EQ(facts.repeating, repeating);
    if (most >= least) {
      EXPECT_EQ(facts.least_extra, least);
      EXPECT_EQ(facts.most_extra, most);
    }
  }
}

}  // namespace
