/*
 * norm_histogram_test.cpp - the bound of a person: its rules by hand, its errors on made-up people, its privacy.
 *
 * Seeds are new in each run. Errors are held to bounds that a right program passes but for less than one run in 10^7;
 * privacy as neighbour_fixture.hpp says.
 */
#include "core/private_sql/norm_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "neighbour_fixture.hpp"
#include "random_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::Answer;
using testing_support::NeighbourTest;
using testing_support::SeededRandom;

NormBins BinsOf(const std::vector<std::pair<int, std::int64_t>>& persons) {
  NormBins bins(kMostNormBin + 1);
  for (const auto& [bin, count] : persons) bins[static_cast<std::size_t>(bin)] = count;
  return bins;
}

// --- rules ----------------------------------------------------------------------------------------------------------

TEST(EstimatedNormsRule, BinsAreSeenFromTheirThreshold) {
  // epsilon 0.1: bin 3 from (ln 5 + 3 ln 2)/0.1 = 36.89.
  EXPECT_EQ(EstimatedNorms(BinsOf({{0, 500}, {2, 30}, {3, 37}}), 0.1, {})[3], 37);
  const std::vector<double> below = EstimatedNorms(BinsOf({{0, 500}, {2, 29}, {3, 36}}), 0.1, {});
  EXPECT_EQ(below[3], 0) << "nor does a tail go on behind an empty bin";
  EXPECT_EQ(below[2], 0);
  EXPECT_EQ(below[0], 500);
}

TEST(EstimatedNormsRule, WhatIsBelowTheGreatestCountsUnlessNegative) {
  const std::vector<double> norms = EstimatedNorms(BinsOf({{0, -7}, {1, 3}, {4, 1000}, {9, 20}}), 0.1, {});
  EXPECT_EQ(norms[0], 0);
  EXPECT_EQ(norms[1], 3);
  EXPECT_EQ(norms[4], 1000);
  EXPECT_EQ(norms[9], 0) << "not seen";
}

TEST(EstimatedNormsRule, AFallingTailGoesOn) {
  const std::vector<double> norms = EstimatedNorms(BinsOf({{4, 1000}, {5, 100}, {6, -80}}), 1, {});
  // Thresholds at epsilon 1: 5.77, 6.46, 7.15.
  EXPECT_NEAR(norms[6], std::log(5.0) + 6 * std::log(2.0), 1e-12) << "10 would have been seen";
  EXPECT_NEAR(norms[7], 1, 1e-12);
  EXPECT_NEAR(norms[8], 0.1, 1e-12);
  EXPECT_EQ(norms[9], 0);
  const std::vector<double> flat = EstimatedNorms(BinsOf({{4, 1000}, {5, 600}}), 1, {});
  EXPECT_EQ(flat[6], 0) << "0.6 is no falling tail";
  const std::vector<double> last = EstimatedNorms(BinsOf({{61, 100000}, {62, 1000}}), 1, {});
  EXPECT_EQ(last.size(), kMostNormBin + 1U);
}

TEST(EstimatedNormsRule, SmallPopulationsTakeTheShapeOfTheReference) {
  NormReference reference(kMostNormBin + 1);
  reference[4] = 0.25;
  reference[5] = 0.75;
  // n = 10 + 5 + 2/0.5 = 19, and 19 * 0.5 < 22.
  const std::vector<double> norms = EstimatedNorms(BinsOf({{0, 10}, {5, 5}, {6, 11}}), 0.5, reference);
  EXPECT_NEAR(norms[4], 19 * 0.25, 1e-12);
  EXPECT_NEAR(norms[5], 19 * 0.75, 1e-12);
  EXPECT_EQ(norms[0], 0);
  EXPECT_EQ(norms[6], 0);
  // n = 40 + 4 = 44, and 44 * 0.5 = 22: its own shape.
  EXPECT_EQ(EstimatedNorms(BinsOf({{0, 40}}), 0.5, reference)[0], 40);
  // Nothing seen, however many there seem to be: a negative sum is none.
  const std::vector<double> none = EstimatedNorms(BinsOf({{0, -900}}), 0.5, reference);
  EXPECT_NEAR(none[5], 4 * 0.75, 1e-12);
}

// 120 persons of 3 rows; the noise of the reference, which knows the same persons for epsilon 0.05, hid their bin.
TEST(EstimatedNormsRule, WhoIsSeenBeyondTheReferenceCounts) {
  NormReference reference(kMostNormBin + 1);
  reference[1] = 1;
  const NormBins own = BinsOf({{2, 120}});
  EXPECT_EQ(EstimatedNorms(own, 250, reference)[2], 120);
  EXPECT_EQ(ChooseNormBound(own, Rational(250), reference, 1, Rational(750)).log_bound, 2) << "2 leaves a third out";
  // A bin that is just seen, at 0.5 from 11.5 on, is no population: n = 15 + 12 + 4 = 31, of 44.
  EXPECT_EQ(EstimatedNorms(BinsOf({{0, 15}, {6, 12}}), 0.5, reference)[6], 0);
}

TEST(ReferenceOfHistogram, AreShares) {
  const NormReference reference = ReferenceOf(BinsOf({{0, 600}, {1, -3}, {2, 400}}), 0.05);
  ASSERT_EQ(reference.size(), kMostNormBin + 1U);
  EXPECT_NEAR(std::accumulate(reference.begin(), reference.end(), 0.0), 1, 1e-12);
  EXPECT_NEAR(reference[0], 0.6, 1e-12);
  EXPECT_NEAR(reference[2], 0.4, 1e-12);
  EXPECT_TRUE(ReferenceOf(BinsOf({{0, 3}}), 0.05).empty());
}

// The minimum by a loop over all bounds and persons at the middle of their bins.
TEST(NormBoundChoice, IsTheLeastSumOfWhatIsLeftOutAndNoise) {
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    NormBins bins(kMostNormBin + 1);
    const std::size_t top = random() % 30;
    for (std::size_t bin = 0; bin <= top; ++bin) bins[bin] = static_cast<std::int64_t>(random() % 5000);
    bins[top] += 5000;
    const auto groups = static_cast<std::int64_t>(1 + random() % 100);
    const Rational epsilon(1, 1 + static_cast<std::int64_t>(random() % 50));
    const std::vector<double> persons = EstimatedNorms(bins, 1, {});
    double least = HUGE_VAL;
    double of_all = 0;
    int best = 0;
    double out_of_best = 0;
    for (int j = 0; j <= kMostNormBin; ++j) {
      double out = 0;
      of_all = 0;
      for (int b = 0; b <= kMostNormBin; ++b) {
        const double middle = b == 0 ? 1 : (std::exp2(b - 1) + 1 + std::exp2(b)) / 2;
        of_all += persons[static_cast<std::size_t>(b)] * middle;
        if (b > j) out += persons[static_cast<std::size_t>(b)] * std::max(0.0, middle - std::exp2(j));
      }
      const double error = out + static_cast<double>(groups) * std::exp2(j) / ToDouble(epsilon);
      if (error >= least) continue;
      least = error;
      best = j;
      out_of_best = out;
    }
    const NormBound bound = ChooseNormBound(bins, Rational(1), {}, groups, epsilon);
    ASSERT_EQ(bound.log_bound, best) << "seed " << seed << ", round " << round;
    ASSERT_NEAR(bound.left_out, out_of_best / of_all, 1e-9) << "seed " << seed << ", round " << round;
  }
}

TEST(NormBoundChoice, OfNobodyIsOne) {
  const NormBound bound = ChooseNormBound(NormBins(kMostNormBin + 1), Rational(1), {}, 1, Rational(1));
  EXPECT_EQ(bound.log_bound, 0);
  EXPECT_EQ(bound.left_out, 0);
}

// A bin that nobody is in seems seen with probability 2^-b/10 or so: a^x/(1 + a) at the threshold, rounded up.
TEST(NoisyNormsOfNobody, AreSeldomSeen) {
  const std::uint64_t seed = std::random_device()();
  SeededRandom random(seed);
  const int kRounds = testing_support::kSanitized ? 2000 : 20000;
  for (int bin = 0; bin < 5; ++bin) {
    const double threshold = std::ceil((std::log(5.0) + bin * std::log(2.0)) / 0.1);
    const double p = std::exp(-0.1 * threshold) / (1 + std::exp(-0.1));
    EXPECT_NEAR(p, std::exp2(-bin) / 10, 0.01);
    int seen = 0;
    for (int i = 0; i < kRounds; ++i) {
      NormBins noisy = NoisyNorms(NormBins(5), Rational(1, 10), random);
      for (int other = 0; other < 5; ++other)
        if (other != bin) noisy[static_cast<std::size_t>(other)] = 0;
      seen += EstimatedNorms(noisy, 0.1, {})[static_cast<std::size_t>(bin)] > 0 ? 1 : 0;
    }
    EXPECT_NEAR(seen, kRounds * p, 7 * std::sqrt(kRounds * p)) << "bin " << bin << ", seed " << seed;
  }
}

// --- errors ---------------------------------------------------------------------------------------------------------

constexpr int kRuns = 101;

// Of a count, in %: the median of the runs, epsilon with 1/4 for the histogram.
double MedianError(const std::vector<std::int64_t>& rows, double epsilon, const NormReference& reference,
                   RandomSource& random) {
  PersonSums sums(0);
  for (std::size_t person = 0; person < rows.size(); ++person)
    for (std::int64_t row = 0; row < rows[person]; ++row) sums.Add({person, 0}, 0, nullptr);
  const double truth = static_cast<double>(sums.rows());
  const PersonRecords records = sums.Finish(1);
  const NormBins bins = CountNorms(records, {}, {});
  const Rational whole = RationalOf("epsilon", epsilon);
  const Rational histogram = whole / Rational(4);
  std::vector<double> errors;
  for (int run = 0; run < kRuns; ++run) {
    const NormBins noisy = NoisyNorms(bins, histogram, random);
    const NormBound bound = ChooseNormBound(noisy, histogram, reference, 1, whole - histogram);
    const ClipGrid grid = ChooseClipGrid(std::int64_t{1} << bound.log_bound, whole - histogram, false);
    std::vector<Int128> totals = ClippedTotals(records, {}, grid, {});
    AddNoise(totals, grid, {}, random);
    const double answer = std::ldexp(static_cast<double>(totals[0]), grid.exponent);
    errors.push_back(100 * std::abs(answer - truth) / truth);
  }
  std::nth_element(errors.begin(), errors.begin() + kRuns / 2, errors.end());
  return errors[kRuns / 2];
}

// Persons with the shapes that are measured. Noise of scale t/(0.75 epsilon) has the median 0.69 of that; the
// median of 101 errors is beyond 2.2 times the median with a probability below 10^-8.
TEST(ErrorsOfCounts, AreNearTheBestBound) {
  const std::uint64_t seed = std::random_device()();
  SeededRandom random(seed);
  std::mt19937_64 engine(seed);
  const int kPersons = testing_support::kSanitized ? 2000 : 20000;
  const double kFewer = 20000.0 / kPersons;
  std::normal_distribution<double> normal(1, 1);
  std::poisson_distribution<std::int64_t> poisson(40);
  std::vector<std::int64_t> log_normal(kPersons);
  std::vector<std::int64_t> around_40(kPersons);
  for (auto& rows : log_normal) rows = std::max<std::int64_t>(1, std::llround(std::exp(normal(engine))));
  for (auto& rows : around_40) rows = poisson(engine);
  // t = 1 of 20,000 rows; t = 64 of 800,000; t = 128 or 256 of 90,000, and what is left out.
  EXPECT_LT(MedianError(std::vector<std::int64_t>(kPersons, 1), 1, {}, random), 2.2 * 0.0046 * kFewer)
      << "seed " << seed;
  EXPECT_LT(MedianError(around_40, 1, {}, random), 2.2 * 0.0074 * kFewer) << "seed " << seed;
  EXPECT_LT(MedianError(log_normal, 1, {}, random), 2.2 * 0.27 * kFewer) << "seed " << seed;
}

// 20 persons of 20 rows at epsilon 0.5: they are not seen. Without a reference t is 1 and 95 % is cut off; with one of
// 1,000 such persons t is 32, and the error is noise, of median 15 %.
TEST(ErrorsOfCounts, OfAHandfulNeedTheReference) {
  const std::uint64_t seed = std::random_device()();
  SeededRandom random(seed);
  const std::vector<std::int64_t> rows(20, 20);
  NormBins many(kMostNormBin + 1);
  many[5] = 1000;
  const NormReference reference =
      ReferenceOf(NoisyNorms(many, ParseRational("epsilon", kReferenceEpsilon), random), 0.05);
  EXPECT_GT(MedianError(rows, 0.5, {}, random), 85) << "seed " << seed;
  EXPECT_LT(MedianError(rows, 0.5, reference, random), 2.2 * 15) << "seed " << seed;
}

// --- privacy --------------------------------------------------------------------------------------------------------

const int kAnswers = testing_support::kSanitized ? 2000 : 100000;

class NormHistogramNeighbours : public testing::Test {
 protected:
  NormHistogramNeighbours() : seed_(std::random_device()()), random_(seed_) {}

  std::uint64_t seed_;
  SeededRandom random_;
};

// One person more in one bin.
TEST_F(NormHistogramNeighbours, OfTheHistogramAreWithinEpsilon) {
  const auto answers = [](std::int64_t persons, const Rational& spent) {
    return [=](RandomSource& random) { return static_cast<double>(NoisyNorms({5, persons}, spent, random)[1]); };
  };
  const NeighbourTest test(1, 0, kAnswers);
  EXPECT_FALSE(test.IsBroken(answers(3, Rational(1)), answers(4, Rational(1)), random_)) << "seed " << seed_;
  if (testing_support::kSanitized) return;  // so few answers tell nothing
  EXPECT_TRUE(test.IsBroken(answers(3, Rational(11, 10)), answers(4, Rational(11, 10)), random_)) << "seed " << seed_;
}

// All that is released of one level: the noisy histogram and the clipped count, with the bound that follows. The person
// who comes in addition has `rows` rows in two groups. Her bin and the first group's count both speak for her: the
// score is the less convincing of the two.
Answer HistogramAndCount(bool with_her, std::int64_t rows, const Rational& spent) {
  PersonSums sums(0);
  for (std::uint64_t person = 0; person < 40; ++person)
    for (std::uint64_t row = 0; row < 1 + person % 8; ++row) sums.Add({person, 0}, 0, nullptr);
  if (with_her)
    for (std::int64_t row = 0; row < rows; ++row) sums.Add({1000, 0}, row % 8 == 7 ? 1 : 0, nullptr);
  const auto records = std::make_shared<PersonRecords>(sums.Finish(2));
  NormBins bins = CountNorms(*records, {}, {});
  int her_bin = 0;
  while (std::int64_t{1} << her_bin < rows) ++her_bin;
  bins.resize(std::max(static_cast<std::size_t>(her_bin) + 1, std::size_t{6}));  // those above are noise alone
  const Rational histogram = spent / Rational(4);
  const Rational measure = spent - histogram;
  return [=, totals = std::map<int, std::vector<Int128>>()](RandomSource& random) mutable {
    const NormBins noisy = NoisyNorms(bins, histogram, random);
    const int log_bound = ChooseNormBound(noisy, histogram, {}, 2, measure).log_bound;
    const ClipGrid grid = ChooseClipGrid(std::int64_t{1} << log_bound, measure, false);
    std::vector<Int128>& kept = totals[log_bound];
    if (kept.empty()) kept = ClippedTotals(*records, {}, grid, {});
    std::vector<Int128> answer = kept;
    AddNoise(answer, grid, {}, random);
    // 40 persons of 1 to 8 rows: 180 rows.
    const double count = std::ldexp(static_cast<double>(answer[0]), grid.exponent - log_bound);
    const double before = 180 / std::ldexp(1.0, log_bound);
    return std::min(static_cast<double>(noisy[static_cast<std::size_t>(her_bin)]), 4 * (count - before));
  };
}

TEST_F(NormHistogramNeighbours, OfHistogramAndCountAreWithinEpsilon) {
  const int kFewer = kAnswers * 3 / 10;
  for (const std::int64_t rows : {1, 64, 4096}) {
    const NeighbourTest test(1, 0, kFewer);
    EXPECT_FALSE(
        test.IsBroken(HistogramAndCount(false, rows, Rational(1)), HistogramAndCount(true, rows, Rational(1)), random_))
        << rows << " rows, seed " << seed_;
  }
}

}  // namespace
}  // namespace privacy_score
