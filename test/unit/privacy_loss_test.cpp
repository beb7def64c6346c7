/*
 * privacy_loss_test.cpp - losses of releases: the worked cases, random databases against their enumeration, bad input.
 */
#include "core/loss/privacy_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "error_fixture.hpp"
#include "loss_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::Decimals;
using testing_support::Enumerate;
using testing_support::Enumerated;
using testing_support::ErrorOf;

PriorRows OnePrior(std::vector<double> probabilities) {
  PriorRows rows;
  rows.rows = probabilities.empty() ? 0 : 1;
  rows.width = probabilities.size();
  rows.probabilities = std::move(probabilities);
  return rows;
}

// The loss of one record; NaN when the release is impossible.
double LossOf(const std::vector<const char*>& domain, std::int64_t records, const char* statistic, const char* released,
              std::vector<double> prior = {}) {
  PrivacyLoss loss(RecordPriors(Decimals(domain), records, OnePrior(std::move(prior))), ReleaseStatisticOf(statistic));
  EXPECT_TRUE(loss.Release(ParseDecimal("released", released), {}, {}));
  return loss.possible() ? loss.LossOf(0).loss : std::nan("");
}

double ExpectedOf(const std::vector<const char*>& domain, std::int64_t records, const char* statistic) {
  PrivacyLoss loss(RecordPriors(Decimals(domain), records, {}), ReleaseStatisticOf(statistic));
  EXPECT_TRUE(loss.Expect({}));
  return loss.expected();
}

// pub-001 to pub-006.
TEST(PrivacyLoss, WorkedCases) {
  EXPECT_NEAR(LossOf({"100", "200", "300"}, 3, "average", "200"), 0.0283057932583, 1e-12);
  EXPECT_NEAR(LossOf({"100", "200", "300"}, 3, "average", "100"), 1.58496250072, 1e-11);
  EXPECT_NEAR(LossOf({"100", "200", "300"}, 3, "sum", "700"), 0.125814583694, 1e-12);
  EXPECT_TRUE(std::isnan(LossOf({"0.5", "-1", "2"}, 2, "average", "0.75", {0.2, 0.3, 0.5})));
  EXPECT_NEAR(LossOf({"0", "1"}, 2, "sum", "1", {0.9, 0.1}), -0.531004406411, 1e-12);
  EXPECT_NEAR(ExpectedOf({"100", "200", "300"}, 3, "average"), 0.328808909577, 1e-12);
}

TEST(PrivacyLoss, RoundedAverages) {
  // The sum 400 of three records, as the server prints its average.
  EXPECT_NEAR(LossOf({"100", "200", "300"}, 3, "average", "133.3333333333333333"),
              LossOf({"100", "200", "300"}, 3, "sum", "400"), 1e-15);
  EXPECT_NEAR(LossOf({"100", "200", "300"}, 3, "average", "133"), LossOf({"100", "200", "300"}, 3, "sum", "400"),
              1e-15);
  EXPECT_TRUE(std::isnan(LossOf({"100", "200", "300"}, 3, "average", "133.34")));
  EXPECT_NEAR(LossOf({"-1", "-2"}, 3, "average", "-1.67"), LossOf({"-1", "-2"}, 3, "sum", "-5"), 1e-15);
  EXPECT_EQ(ErrorOf([] {
              LossOf({"0", "1"}, 999, "average", "0.33");
            }),
            "22023 the average 0.33 stands for several sums");
}

struct RandomCase {
  std::vector<std::int64_t> values;
  std::vector<std::vector<double>> priors;  // one a record
  PriorRows rows;
  std::vector<Decimal> domain;
};

RandomCase DrawCase(std::mt19937_64* random) {
  const auto below = [random](std::uint64_t bound) { return (*random)() % bound; };
  RandomCase drawn;
  const std::size_t width = 1 + below(4);
  const std::size_t records = 1 + below(6);
  std::int64_t value = -static_cast<std::int64_t>(below(6));
  for (std::size_t v = 0; v < width; ++v) {
    drawn.values.push_back(value);
    drawn.domain.push_back({value, 0});
    value += 1 + static_cast<std::int64_t>(below(4));
  }
  const bool one = below(2) == 0;
  std::vector<std::vector<double>> laws;
  for (std::size_t law = 0; law < (one ? 1 : 1 + below(records)); ++law) {
    std::vector<double> p(width);
    double total = 0;
    for (double& share : p) {
      share = below(5) == 0 ? 0 : std::pow(10, -static_cast<double>(below(5))) * static_cast<double>(1 + below(100));
      total += share;
    }
    if (total == 0) total = p[0] = 1;
    for (double& share : p) share /= total;
    laws.push_back(p);
  }
  for (std::size_t i = 0; i < records; ++i) drawn.priors.push_back(laws[below(laws.size())]);
  drawn.rows.rows = one ? 1 : records;
  drawn.rows.width = width;
  for (std::size_t i = 0; i < drawn.rows.rows; ++i)
    drawn.rows.probabilities.insert(drawn.rows.probabilities.end(), drawn.priors[i].begin(), drawn.priors[i].end());
  return drawn;
}

double Entropy(const std::vector<double>& law) {
  double sum = 0;
  for (const double p : law) sum -= p > 0 ? p * std::log2(p) : 0;
  return sum;
}

constexpr const char* kStatistics[] = {"sum", "average", "count", "minimum", "maximum", "median"};

// Records with equal or different priors, possible and impossible releases, with noise and without it.
TEST(PrivacyLoss, AgreesWithEnumeration) {
  std::mt19937_64 random(7);
  int possible = 0;
  int impossible = 0;
  for (int round = 0; round < 1000; ++round) {
    const RandomCase drawn = DrawCase(&random);
    const std::size_t n = drawn.priors.size();
    for (const char* name : kStatistics) {
      const ReleaseStatistic statistic = ReleaseStatisticOf(name);
      const double rate = random() % 2 == 0 ? 0 : 0.05 + static_cast<double>(random() % 300) / 100;
      // Half of the time what some database has, else about there.
      std::vector<std::int64_t> database(n);
      for (std::int64_t& value : database) value = drawn.values[random() % drawn.values.size()];
      std::int64_t released2 = testing_support::TwiceStatistic(statistic, database);
      if (random() % 2 == 0) released2 += static_cast<std::int64_t>(random() % 17) - 8;
      const bool average = statistic == ReleaseStatistic::kAverage;
      // Averages are given as decimals only where they are.
      if (average && n % 3 == 0) continue;
      const auto divisor = static_cast<std::int64_t>(average ? 2 * n : std::size_t{2});
      const Decimal released = {static_cast<Int128>(released2) * (10000 / divisor), 4};
      const Enumerated wanted = Enumerate(statistic, drawn.values, drawn.priors, released2, rate);
      PrivacyLoss loss(RecordPriors(drawn.domain, static_cast<std::int64_t>(n), drawn.rows), statistic);
      ASSERT_TRUE(loss.Release(released, rate > 0 ? std::optional<double>(1 / rate) : std::nullopt, {}));
      ASSERT_EQ(loss.possible(), wanted.probability > 0) << name << " round " << round;
      if (!loss.possible()) {
        ++impossible;
        continue;
      }
      ++possible;
      double greatest = -HUGE_VAL;
      for (std::size_t i = 0; i < n; ++i) {
        const RecordLoss& got = loss.LossOf(static_cast<std::int64_t>(i));
        EXPECT_NEAR(got.entropy_before, Entropy(drawn.priors[i]), 1e-12);
        EXPECT_NEAR(got.entropy_after, Entropy(wanted.posterior[i]), 1e-10) << name << " round " << round;
        EXPECT_NEAR(got.loss, got.entropy_before - got.entropy_after, 1e-15);
        greatest = std::max(greatest, got.loss);
      }
      EXPECT_EQ(loss.LossOf(loss.GreatestLoser()).loss, greatest);
    }
  }
  EXPECT_GT(possible, 2000);
  EXPECT_GT(impossible, 500);
}

TEST(PrivacyLoss, ExpectationsAgreeWithEnumeration) {
  std::mt19937_64 random(8);
  for (int round = 0; round < testing_support::Instances(150); ++round) {
    const RandomCase drawn = DrawCase(&random);
    const std::size_t n = drawn.priors.size();
    for (const char* name : kStatistics) {
      const ReleaseStatistic statistic = ReleaseStatisticOf(name);
      std::map<std::int64_t, bool> releases;
      std::vector<std::size_t> at(n);
      for (std::size_t i = 0; i < n;) {
        std::vector<std::int64_t> database(n);
        for (std::size_t j = 0; j < n; ++j) database[j] = drawn.values[at[j]];
        releases[testing_support::TwiceStatistic(statistic, database)] = true;
        for (i = 0; i < n && ++at[i] == drawn.values.size(); ++i) at[i] = 0;
      }
      double expected = 0;
      for (const auto& [released2, seen] : releases) {
        const Enumerated given = Enumerate(statistic, drawn.values, drawn.priors, released2, 0);
        if (given.probability <= 0) continue;
        double greatest = -HUGE_VAL;
        for (std::size_t i = 0; i < n; ++i)
          greatest = std::max(greatest, Entropy(drawn.priors[i]) - Entropy(given.posterior[i]));
        expected += given.probability * greatest;
      }
      PrivacyLoss loss(RecordPriors(drawn.domain, static_cast<std::int64_t>(n), drawn.rows), statistic);
      ASSERT_TRUE(loss.Expect({}));
      EXPECT_NEAR(loss.expected(), expected, 1e-10) << name << " round " << round;
    }
  }
}

// The statistic of a database that is known is the release of that statistic.
TEST(PrivacyLoss, ReleaseOfADatabase) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    const RandomCase drawn = DrawCase(&random);
    const std::size_t n = drawn.priors.size();
    std::vector<std::int64_t> database(n);
    std::vector<ValueCount> counts;
    bool possible = true;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t v = random() % drawn.values.size();
      database[i] = drawn.values[v];
      counts.push_back({{database[i] * 10, 1}, 1});
      bool had = false;
      for (const auto& prior : drawn.priors) had = had || prior[v] > 0;
      possible = possible && had;
    }
    for (const char* name : kStatistics) {
      const ReleaseStatistic statistic = ReleaseStatisticOf(name);
      const std::optional<double> scale = round % 2 == 0 ? std::nullopt : std::optional<double>(1.5);
      const RecordPriors priors(drawn.domain, static_cast<std::int64_t>(n), drawn.rows);
      PrivacyLoss loss(priors, statistic);
      const auto release = [&] { ASSERT_TRUE(loss.ReleaseOf(counts, scale, {})); };
      if (!possible) {
        EXPECT_EQ(ErrorOf(release), "22023 a record has a value that the prior excludes");
        continue;
      }
      release();
      const std::int64_t released2 = testing_support::TwiceStatistic(statistic, database);
      const Enumerated wanted = Enumerate(statistic, drawn.values, drawn.priors, released2, scale ? 1 / *scale : 0);
      ASSERT_EQ(loss.possible(), wanted.probability > 0);
      if (!loss.possible()) continue;
      for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR(loss.LossOf(static_cast<std::int64_t>(i)).entropy_after, Entropy(wanted.posterior[i]), 1e-10)
            << name << " round " << round;
    }
  }
}

// Many records: 10^7 and more databases, and far more than can be counted.
TEST(PrivacyLoss, ManyRecords) {
  const double binary = LossOf({"0", "1"}, 1'000'000, "sum", "400000");
  EXPECT_NEAR(binary, 1 - (0.4 * std::log2(1 / 0.4) + 0.6 * std::log2(1 / 0.6)), 1e-12);
  EXPECT_NEAR(LossOf({"0", "1"}, 1'000'000, "count", "1"), 1 - Entropy({1e-6, 1 - 1e-6}), 1e-12);
  EXPECT_NEAR(LossOf({"0", "5"}, 1001, "median", "5"), LossOf({"-5", "0"}, 1001, "median", "-5"), 1e-12);
  // A median between the two values: as many records have one as the other.
  EXPECT_NEAR(LossOf({"1", "2"}, 1'000'000, "median", "1.5", {0.3, 0.7}), Entropy({0.3, 0.7}) - 1, 1e-12);
  // Nobody is below the minimum, and some others reach it almost surely.
  EXPECT_NEAR(LossOf({"1", "2", "3", "4"}, 1'000'000, "minimum", "2"), 2 - std::log2(3), 1e-12);
  EXPECT_NEAR(LossOf({"1", "2", "3", "4"}, 1'000'000, "maximum", "1"), 2, 1e-12);
}

// Goes on after interrupts, to the same answer.
TEST(PrivacyLoss, PausesAndGoesOn) {
  static int questions;
  questions = 0;
  WorkControl control;
  control.interrupted = [] { return ++questions % 2000 == 0; };
  control.work_between_questions = 1;
  PrivacyLoss loss(RecordPriors(Decimals({"0", "1", "2", "5"}), 60, {}), ReleaseStatistic::kSum);
  int pauses = 0;
  while (!loss.Expect(control)) ++pauses;
  EXPECT_GT(pauses, 0);
  EXPECT_EQ(loss.expected(), ExpectedOf({"0", "1", "2", "5"}, 60, "sum"));
}

TEST(PrivacyLoss, DuplicatesAndOrder) {
  EXPECT_EQ(LossOf({"300", "100", "200", "100"}, 3, "sum", "700"), LossOf({"100", "200", "300"}, 3, "sum", "700"));
  EXPECT_NEAR(LossOf({"2", "1", "2.0"}, 3, "sum", "4", {0.2, 0.5, 0.3}), LossOf({"1", "2"}, 3, "sum", "4"), 1e-15);
  EXPECT_NEAR(LossOf({"0", "1", "7"}, 2, "sum", "1", {0.9, 0.1, 0}), -0.531004406411, 1e-12);
}

TEST(PrivacyLoss, Refusals) {
  const auto refusal = [](std::int64_t records, std::vector<double> prior) {
    return ErrorOf([&] { LossOf({"0", "1", "2"}, records, "sum", "1", std::move(prior)); });
  };
  EXPECT_EQ(refusal(0, {}), "22023 records must be at least 1, not 0");
  EXPECT_EQ(refusal(2, {0.5, 0.4, 0.2}), "22023 the probabilities of prior must sum to one, not to 1.1");
  EXPECT_EQ(refusal(2, {1.2, -0.1, -0.1}), "22023 probability 1 of prior must be from 0 to 1, not 1.2");
  EXPECT_EQ(refusal(2, {0.5, -0.1, 0.6}), "22023 probability 2 of prior must be from 0 to 1, not -0.1");
  EXPECT_EQ(refusal(2, {0.5, std::nan(""), 0.5}), "22023 probability 2 of prior must be from 0 to 1, not nan");
  EXPECT_EQ(refusal(2, {0.5, 0.5}), "22023 prior must have one probability for each of the 3 values, not 2");
  EXPECT_EQ(ErrorOf([] { RecordPriors({}, 1, {}); }), "22023 domain must not be empty");
  EXPECT_EQ(ErrorOf([] {
              RecordPriors(Decimals({"1"}), 3, {2, 1, {1, 1}});
            }),
            "22023 prior must have one row or one for each of the 3 records, not 2");
  EXPECT_EQ(ErrorOf([] { ReleaseStatisticOf("mode"); }), "22023 unknown statistic \"mode\"");
  EXPECT_EQ(ErrorOf([] {
              PrivacyLoss loss(RecordPriors(Decimals({"1"}), 3, {}), ReleaseStatistic::kSum);
              loss.Release({3, 0}, 0.0, {});
            }),
            "22023 noise_scale must be finite and greater than 0, not 0");
}

// Values of as many digits as there can be: sums that do not fit are refused, not wrapped.
TEST(PrivacyLoss, SumsThatAreTooLarge) {
  const std::string large(36, '9');
  const auto loss = [&](std::int64_t records) {
    PrivacyLoss loss(RecordPriors(Decimals({("-" + large).c_str(), large.c_str()}), records, {}),
                     ReleaseStatistic::kAverage);
    EXPECT_TRUE(loss.Release(Decimals({large.c_str()})[0], std::nullopt, {}));
    EXPECT_TRUE(loss.possible());
    return loss.LossOf(0).loss;
  };
  EXPECT_EQ(loss(50), 1);
  EXPECT_EQ(ErrorOf([&] { loss(160); }), "54000 the values span too many grid steps");
}

}  // namespace
}  // namespace privacy_score
