/*
 * release_utility_test.cpp - random queries: how they are drawn, and their answers against counting by definition.
 */
#include "core/buckets/release_utility.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "error_fixture.hpp"
#include "random_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::SeededRandom;

struct Row {
  std::vector<std::uint32_t> codes;
  std::uint32_t last;  // value or bucket
};

bool Has(const std::vector<std::uint32_t>& values, std::uint32_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool Matches(const Row& row, const CountQuery& query) {
  for (std::size_t n = 0; n < query.columns.size(); ++n)
    if (!Has(query.values[n], row.codes[query.columns[n]])) return false;
  return true;
}

// One query at a time, whose error tells the answer; rows come in parts, the release's by buckets.
TEST(ReleaseUtility, AnswersAsDefined) {
  struct Value {
    std::uint32_t bucket, value;
    std::int64_t count;
  };
  SeededRandom random(1);
  int answered = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::size_t columns = 1 + random.Below(4);
    const auto rows = static_cast<std::size_t>(1 + random.Below(40));
    const double selectivity = 0.05 + 0.01 * static_cast<double>(random.Below(90));
    std::vector<Row> source(rows), records(rows);
    std::vector<std::size_t> domains;
    for (std::size_t c = 0; c < columns; ++c) domains.push_back(3 + 2 * c);
    domains.push_back(5);
    for (Row& row : source) {
      for (std::size_t c = 0; c < columns; ++c)
        row.codes.push_back(static_cast<std::uint32_t>(random.Below(domains[c])));
      row.last = static_cast<std::uint32_t>(random.Below(5));
    }
    for (Row& row : records) {
      // Codes and values that the source does not have, and buckets without values.
      for (std::size_t c = 0; c < columns; ++c) row.codes.push_back(static_cast<std::uint32_t>(random.Below(9 + c)));
      row.last = static_cast<std::uint32_t>(random.Below(8));
    }
    std::vector<Value> values;
    for (std::size_t n = random.Below(60); n > 0; --n)
      values.push_back({static_cast<std::uint32_t>(random.Below(12)), static_cast<std::uint32_t>(random.Below(7)),
                        static_cast<std::int64_t>(random.Below(3))});

    // Two objects that draw the same queries: one is asked, of the other they are known.
    ReleaseUtility utility(columns, 1, selectivity);
    ReleaseUtility drawing(columns, 1, selectivity);
    utility.SetDomains(domains);
    drawing.SetDomains(domains);
    SeededRandom for_utility(static_cast<std::uint64_t>(round));
    SeededRandom for_drawing(static_cast<std::uint64_t>(round));
    ASSERT_TRUE(utility.DrawQueries(for_utility, 1));
    const CountQuery query = drawing.Draw(1, for_drawing);
    for (const Row& row : source) {
      utility.AddSource(row.codes.data(), row.last);
      if (random.Below(10) == 0) {
        ASSERT_TRUE(utility.Ask({}));
      }
    }
    for (std::uint32_t part = 0; part < 2; ++part) {
      for (const Row& row : records)
        if (row.last % 2 == part) utility.AddRecord(row.codes.data(), row.last / 2);
      for (const Value& value : values)
        if (value.bucket % 2 == part) utility.AddValue(value.bucket / 2, value.value, value.count);
      ASSERT_TRUE(utility.Ask({}));
    }
    utility.Judge();
    EXPECT_FALSE(utility.DrawQueries(for_utility, 1));

    double actual = 0;
    for (const Row& row : source) actual += Matches(row, query) && Has(query.sensitive, row.last) ? 1 : 0;
    double estimate = 0;
    for (const Row& row : records) {
      if (!Matches(row, query)) continue;
      std::int64_t all = 0;
      std::int64_t matching = 0;
      for (const Value& value : values) {
        if (value.bucket != row.last) continue;
        all += value.count;
        if (Has(query.sensitive, value.value)) matching += value.count;
      }
      if (all > 0) estimate += static_cast<double>(matching) / static_cast<double>(all);
    }
    const DimensionUtility result = utility.Result()[0];
    ASSERT_EQ(result.queries, actual > 0 ? 1 : 0) << round;
    if (actual == 0) continue;
    ASSERT_NEAR(result.mean_relative_error, std::abs(actual - estimate) / actual, 1e-9) << round;
    ++answered;
  }
  EXPECT_GT(answered, 300);
}

// Domains of 100, 10 and 4 values, and 50 of the sensitive attribute.
TEST(ReleaseUtility, DrawsDifferentValuesByTheSelectivity) {
  ReleaseUtility utility(3, 1, 0.01);
  utility.SetDomains({100, 10, 4, 50});
  SeededRandom random(2);
  const std::size_t domains[] = {100, 10, 4};
  std::vector<int> columns_drawn(3);
  std::vector<int> values_drawn(10);
  for (int n = 0; n < 6000; ++n) {
    for (std::size_t dimensions = 1; dimensions <= 3; ++dimensions) {
      const CountQuery query = utility.Draw(dimensions, random);
      ASSERT_EQ(std::set<std::size_t>(query.columns.begin(), query.columns.end()).size(), dimensions);
      const double share = std::pow(0.01, 1.0 / static_cast<double>(dimensions + 1));
      const auto drawn = [&](std::size_t domain) {
        return static_cast<std::size_t>(std::ceil(static_cast<double>(domain) * share - 1e-9));
      };
      for (std::size_t i = 0; i < dimensions; ++i) {
        const std::set<std::uint32_t> values(query.values[i].begin(), query.values[i].end());
        ASSERT_EQ(values.size(), query.values[i].size());
        ASSERT_EQ(values.size(), drawn(domains[query.columns[i]]));
        ASSERT_LT(*values.rbegin(), domains[query.columns[i]]);
        if (dimensions == 1) ++columns_drawn[query.columns[0]];
        if (dimensions == 1 && query.columns[0] == 1) ++values_drawn[*values.begin()];
      }
      ASSERT_EQ(query.sensitive.size(), drawn(50));
    }
  }
  ASSERT_EQ(utility.Draw(1, random).sensitive.size(), 5U);  // 50 times a tenth, not 6
  // Six standard deviations of 6000 draws of one of three, and of 2000 of one of ten.
  for (const int count : columns_drawn) EXPECT_NEAR(count, 2000, 220);
  for (const int count : values_drawn) EXPECT_NEAR(count, columns_drawn[1] / 10.0, 85);
}

TEST(ReleaseUtility, BucketsOfOneAreExact) {
  SeededRandom random(3);
  ReleaseUtility utility(2, 500, 0.1);
  utility.SetDomains({7, 11, 13});
  int batches = 0;
  for (; utility.DrawQueries(random, 1000); ++batches) {
    for (std::uint32_t i = 0; i < 200; ++i) {
      const std::uint32_t codes[] = {i % 7, i / 7 % 11};
      utility.AddSource(codes, i % 13);
      utility.AddRecord(codes, i);
      utility.AddValue(i, i % 13, 1);
    }
    ASSERT_TRUE(utility.Ask({}));
    utility.Judge();
  }
  EXPECT_GT(batches, 20);  // of some queries each
  const std::vector<DimensionUtility> result = utility.Result();
  ASSERT_EQ(result.size(), 2U);
  for (const DimensionUtility& each : result) {
    EXPECT_GT(each.queries, 200);
    EXPECT_LE(each.queries, 250);
    EXPECT_NEAR(each.mean_relative_error, 0, 1e-12);
    EXPECT_NEAR(each.median_relative_error, 0, 1e-12);
  }
}

// One bucket of all records: every value is expected alike.
TEST(ReleaseUtility, MeanAndMedian) {
  SeededRandom random(4);
  ReleaseUtility utility(1, 3000, 0.000001);
  utility.SetDomains({1, 3});
  ASSERT_TRUE(utility.DrawQueries(random, std::numeric_limits<std::size_t>::max()));
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t code = 0;
    utility.AddSource(&code, i < 6 ? 0 : i - 5);
    utility.AddRecord(&code, 0);
    utility.AddValue(0, i < 4 ? 0 : i < 6 ? 1 : 2, 1);
  }
  ASSERT_TRUE(utility.Ask({}));
  utility.Judge();
  const DimensionUtility each = utility.Result()[0];
  EXPECT_EQ(each.queries, 3000);
  // Value 0: 6 records, 4 expected; 1: 1 and 2; 2: 1 and 2.
  EXPECT_NEAR(each.mean_relative_error, (1.0 / 3 + 1 + 1) / 3, 0.04);
  EXPECT_NEAR(each.median_relative_error, 1, 1e-12);
}

TEST(ReleaseUtility, PausesAndGoesOn) {
  static int looks = 0;
  SeededRandom random(5);
  ReleaseUtility utility(1, 100, 0.5);
  const std::uint32_t code = 0;
  utility.SetDomains({1, 1});
  ASSERT_TRUE(utility.DrawQueries(random, std::numeric_limits<std::size_t>::max()));
  utility.AddSource(&code, 0);
  WorkControl control;
  control.interrupted = [] { return ++looks % 3 == 0; };
  int pauses = 0;
  while (!utility.Ask(control)) ASSERT_LT(++pauses, 1000);
  utility.Judge();
  EXPECT_GT(pauses, 20);
  EXPECT_EQ(utility.Result()[0].queries, 100);
  EXPECT_EQ(utility.Result()[0].mean_relative_error, 1);  // the record is not in the release
}

TEST(ReleaseUtility, NoRows) {
  SeededRandom random(6);
  ReleaseUtility utility(2, 10, 0.01);
  utility.SetDomains({0, 0, 0});
  EXPECT_FALSE(utility.DrawQueries(random, 1000));
  EXPECT_EQ(utility.Result()[0].queries, 0);
  EXPECT_EQ(utility.Result()[1].queries, 0);
}

TEST(ReleaseUtility, RefusesArguments) {
  EXPECT_EQ(ErrorOf([] { ReleaseUtility(1, 0, 0.1); }), "22023 queries must be at least 1, not 0");
  for (const double selectivity : {0.0, -1.0, 1.5, std::nan("")})
    EXPECT_EQ(ErrorOf([&] { ReleaseUtility(1, 1, selectivity); }),
              "22023 selectivity must be greater than 0 and at most 1");
}

TEST(ReleaseUtility, RefusesMoreValuesThanCanBeCounted) {
  ReleaseUtility utility(1, 1, 0.1);
  utility.AddValue(0, 0, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(ErrorOf([&] { utility.AddValue(1, 0, 1); }),
            "22003 the counts of a release add up to more than 64 bits hold");
}

}  // namespace
}  // namespace privacy_score
