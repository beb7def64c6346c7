/*
 * technique_posteriors_test.cpp - worked cases pub-027 to pub-036, and bounds of range sums against enumeration.
 */
#include "core/loss/technique_posteriors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "error_fixture.hpp"
#include "random_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::SeededRandom;

void ExpectNear(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-12) << i;
}

TEST(TechniquePosteriors, Sampling) {
  ExpectNear(SamplingProbabilities({3, 0, 2, 0, 0}, 20), {0.3, 0.15, 0.25, 0.15, 0.15});
  ExpectNear(SamplingProbabilities({0, 0, 0, 0}, 7), {0.25, 0.25, 0.25, 0.25});
  EXPECT_EQ(ErrorOf([] {
              SamplingProbabilities({1, 2}, 2);
            }),
            "22023 matching_in_population must be at least the 3 matching records of the sample, not 2");
  EXPECT_EQ(ErrorOf([] { SamplingProbabilities({0}, 0); }), "22023 matching_in_population must be at least 1, not 0");
}

TEST(TechniquePosteriors, CountsInDomain) {
  const auto decimals = [](const std::vector<const char*>& texts) {
    std::vector<Decimal> read;
    for (const char* text : texts) read.push_back(ParseDecimal("values", text));
    return read;
  };
  const std::vector<Decimal> domain = decimals({"2.5", "-1", "0.50", "10"});
  EXPECT_EQ(CountsInDomain(domain, decimals({"0.5", "10.000", "0.500", "-1"})),
            (std::vector<std::int64_t>{0, 1, 2, 1}));
  EXPECT_EQ(CountsInDomain(domain, {}), (std::vector<std::int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(ErrorOf([&] {
              CountsInDomain(domain, decimals({"0.5", "2.51"}));
            }),
            "22023 domain lacks the value 2.51 of the sample");
  EXPECT_EQ(ErrorOf([&] { CountsInDomain(domain, decimals({"0.001"})); }),
            "22023 domain lacks the value 0.001 of the sample");
  EXPECT_EQ(ErrorOf([&] {
              CountsInDomain(decimals({"1", "2", "1.0"}), {});
            }),
            "22023 domain has the value 1 more than once");
  EXPECT_EQ(ErrorOf([&] { CountsInDomain({}, {}); }), "22023 domain must not be empty");
}

TEST(TechniquePosteriors, SampleSize) {
  EXPECT_EQ(SampleSize(0.1, 1000), 100);
  EXPECT_EQ(SampleSize(0.5, 5), 3);  // 2.5 lies in the middle
  EXPECT_EQ(SampleSize(0.01, 49), 0);
  EXPECT_EQ(SampleSize(1, 7), 7);
  EXPECT_EQ(ErrorOf([] { SampleSize(0, 7); }), "22023 fraction must be greater than 0 and at most 1, not 0");
  EXPECT_EQ(ErrorOf([] { SampleSize(1.01, 7); }), "22023 fraction must be greater than 0 and at most 1, not 1.01");
  EXPECT_EQ(ErrorOf([] { SampleSize(std::nan(""), 7); }),
            "22023 fraction must be greater than 0 and at most 1, not nan");
}

TEST(TechniquePosteriors, Noise) {
  EXPECT_EQ(MaxNoise(20, 25), 4);  // 4.8 is nearer to 4 than to 6
  EXPECT_EQ(MaxNoise(25, 13), 4);  // 3 lies in the middle of 2 and 4
  EXPECT_EQ(MaxNoise(0, 100), 0);
  ExpectNear(BinomialNoise(4), {0.0625, 0.25, 0.375, 0.25, 0.0625});
  ExpectNear(BinomialNoise(0), {1});
  ExpectNear(NoisePosterior(10, {4, 9}, BinomialNoise(4)),
             {0, 0.03125, 0.125, 0.1875, 0.125, 0.03125, 1.0 / 30, 2.0 / 15, 0.2, 2.0 / 15});
  EXPECT_FALSE(Finishes([] { NoisePosterior(10, {4}, BinomialNoise(4), [] { return true; }); }));
  double total = 0;
  for (const double p : BinomialNoise(100'000)) total += p;
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_EQ(ErrorOf([] { BinomialNoise(3); }), "22023 max_noise must be even and from 0 to 100000000, not 3");
  EXPECT_EQ(ErrorOf([] { BinomialNoise(-2); }), "22023 max_noise must be even and from 0 to 100000000, not -2");
  EXPECT_EQ(ErrorOf([] { NoisePosterior(3, {6}, BinomialNoise(4)); }),
            "22023 released number 6 cannot come from any value");
  EXPECT_EQ(ErrorOf([] { MaxNoise(-1, 5); }), "22023 percent must be from 0 to 1000, not -1");
}

// 6.5 standard deviations: a right sampler fails with probability below 1e-9 in all.
TEST(TechniquePosteriors, DrawsFollowTheLaw) {
  for (const std::int64_t m : {2, 4, 64, 70}) {
    SeededRandom random(static_cast<std::uint64_t>(m));
    const std::vector<double> law = BinomialNoise(m);
    std::vector<int> seen(law.size());
    constexpr int kDraws = 20'000;
    for (int i = 0; i < kDraws; ++i) ++seen.at(static_cast<std::size_t>(DrawBinomialNoise(m, random) + m / 2));
    for (std::size_t k = 0; k < law.size(); ++k)
      EXPECT_LE(std::abs(seen[k] - kDraws * law[k]), 6.5 * std::sqrt(kDraws * law[k] * (1 - law[k])) + 1)
          << m << " " << k;
  }
}

// All integer databases with the same sums: their least and greatest values are the bounds, which are integers.
TEST(TechniquePosteriors, BoundsOfShiftedSums) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    const std::int64_t l = 1 + static_cast<std::int64_t>(random() % 2);
    const auto n = static_cast<std::size_t>(2 + random() % 6);
    const std::int64_t high = 1 + static_cast<std::int64_t>(random() % 3);
    std::vector<std::int64_t> values(n);
    for (std::int64_t& value : values)
      value = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high + 1));
    const auto sums = [&](const std::vector<std::int64_t>& database) {
      std::vector<std::int64_t> answers;
      for (std::int64_t first = 0; first + 2 * l <= static_cast<std::int64_t>(n); first += l) {
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < 2 * l; ++i) sum += database[static_cast<std::size_t>(first + i)];
        answers.push_back(sum);
      }
      return answers;
    };
    const std::vector<std::int64_t> answers = sums(values);
    std::vector<ValueRange> wanted(n, {high, 0});
    std::vector<std::int64_t> database(n);
    for (std::size_t i = 0; i < n;) {
      if (sums(database) == answers) {
        for (std::size_t j = 0; j < n; ++j) {
          wanted[j].lower = std::min(wanted[j].lower, database[j]);
          wanted[j].upper = std::max(wanted[j].upper, database[j]);
        }
      }
      for (i = 0; i < n && ++database[i] > high; ++i) database[i] = 0;
    }
    const std::vector<ValueRange> got = ShiftedSumBounds(values, l, 0, high);
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_EQ(got[j].lower, wanted[j].lower) << "round " << round << " record " << j;
      EXPECT_EQ(got[j].upper, wanted[j].upper) << "round " << round << " record " << j;
    }
  }
}

// pub-032 and pub-033: 155 sums of 32 over 2,500 records, 3 of 4 over 8. Who has nothing is known wherever a sum
// reaches.
TEST(TechniquePosteriors, HowManySums) {
  const auto reached = [](std::size_t records, std::int64_t l) {
    std::int64_t count = 0;
    for (const ValueRange& range : ShiftedSumBounds(std::vector<std::int64_t>(records), l, 0, 100)) {
      EXPECT_EQ(range.lower, 0);
      count += range.upper == 0 ? 1 : 0;
    }
    return count;
  };
  // A sum more reaches l records more.
  EXPECT_EQ(reached(2500, 16) / 16 - 1, 155);
  EXPECT_EQ(reached(2500, 16) % 16, 0);
  EXPECT_EQ(reached(8, 2) / 2 - 1, 3);
}

// pub-030: two salaries of 40 to 120 that sum to 157.
TEST(TechniquePosteriors, TwoSalaries) {
  const std::vector<ValueRange> bounds = ShiftedSumBounds({107, 50}, 1, 40, 120);
  EXPECT_EQ(bounds[0].lower, 40);
  EXPECT_EQ(bounds[0].upper, 117);
  std::vector<double> p(81);
  AddBetween(bounds[0].lower - 40, bounds[0].upper - 40, 1, &p);
  EXPECT_NEAR(p[77], 0.0128205128205, 1e-12);
  EXPECT_EQ(p[78], 0);
}

}  // namespace
}  // namespace privacy_score
