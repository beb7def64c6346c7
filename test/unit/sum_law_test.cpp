/*
 * sum_law_test.cpp - sums of many records: near the mean and far from it, with and without noise, on fine grids.
 */
#include "core/loss/sum_law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

std::vector<double> DrawLaw(std::mt19937_64* random, std::size_t width) {
  std::vector<double> law(width);
  double total = 0;
  for (double& p : law) total += p = static_cast<double>(1 + (*random)() % 100);
  for (double& p : law) p /= total;
  return law;
}

std::vector<std::int64_t> Upto(std::size_t width) {
  std::vector<std::int64_t> images;
  for (std::size_t u = 0; u < width; ++u) images.push_back(static_cast<std::int64_t>(u));
  return images;
}

// The law of all records but one by long double convolution, without tilting: only where nothing underflows.
std::vector<long double> LawOfTheOthers(const std::vector<std::int64_t>& images, const SumGroup& group) {
  const auto range = static_cast<std::size_t>(images.back());
  std::vector<long double> law = {1};
  for (std::int64_t i = 1; i < group.records; ++i) {
    std::vector<long double> next(law.size() + range);
    for (std::size_t s = 0; s < law.size(); ++s)
      for (std::size_t u = 0; u < images.size(); ++u)
        next[s + static_cast<std::size_t>(images[u])] += law[s] * group.probability[u];
    law = std::move(next);
  }
  return law;
}

// Posteriors of one record, by the law of the others.
std::vector<long double> Reference(const std::vector<std::int64_t>& images, const SumGroup& group,
                                   const std::vector<long double>& law, std::int64_t sum) {
  std::vector<long double> posterior;
  long double total = 0;
  for (std::size_t u = 0; u < images.size(); ++u) {
    const std::int64_t rest = sum - images[u];
    const bool there = rest >= 0 && rest < static_cast<std::int64_t>(law.size());
    posterior.push_back(there ? group.probability[u] * law[static_cast<std::size_t>(rest)] : 0.0L);
    total += posterior.back();
  }
  for (long double& p : posterior) p /= total;
  return posterior;
}

// Relative error below 1e-12 within 30 standard deviations.
TEST(SumLaw, FarFromTheMean) {
  std::mt19937_64 random(3);
  const std::vector<std::int64_t> images = Upto(20);
  const SumGroup group = {DrawLaw(&random, 20), 1000};
  double mean = 0;
  double square = 0;
  for (std::size_t u = 0; u < 20; ++u) {
    mean += group.probability[u] * static_cast<double>(u);
    square += group.probability[u] * static_cast<double>(u * u);
  }
  const double deviation = std::sqrt(1000 * (square - mean * mean));
  const SumLaw law(images, {group});
  const std::vector<long double> others = LawOfTheOthers(images, group);
  for (const double away : {0.0, 1.0, 6.0, -15.0, 30.0, -30.0}) {
    const auto sum = static_cast<std::int64_t>(std::llround(1000 * mean + away * deviation));
    const SumPosterior got = law.Given(sum, {}, {});
    const std::vector<long double> wanted = Reference(images, group, others, sum);
    ASSERT_TRUE(got.possible);
    for (std::size_t u = 0; u < 20; ++u)
      EXPECT_LT(std::abs(got.probability[0][u] / static_cast<double>(wanted[u]) - 1), 1e-12) << away << " " << u;
  }
}

// A sum that only one improbable value reaches, and one that none does.
TEST(SumLaw, ImprobableIsNotImpossible) {
  const std::vector<std::int64_t> images = {0, 1000, 1001};
  const SumLaw law(images, {{{0.5, 0.5 - 1e-14, 1e-14}, 400}});
  const SumPosterior got = law.Given(100'001, {}, {});
  ASSERT_TRUE(got.possible);
  EXPECT_NEAR(got.probability[0][2], 1.0 / 400, 1e-12);
  EXPECT_FALSE(law.Given(100'999, {}, {}).possible && law.Given(500, {}, {}).possible);
  EXPECT_FALSE(law.Given(500, {}, {}).possible);
  EXPECT_FALSE(law.Given(-1, {}, {}).possible);
  EXPECT_FALSE(law.Given(400 * 1001 + 1, {}, {}).possible);
}

// Beyond all sums the noise weighs them all alike: a tilt.
TEST(SumLaw, NoiseBeyondAllSums) {
  const SumLaw law({0, 1, 3}, {{{0.2, 0.5, 0.3}, 50}});
  for (const std::int64_t released : {-7, -100'000, 151, 100'000'000}) {
    const SumPosterior got = law.Given(released, {0.25, 1}, {});
    ASSERT_TRUE(got.possible);
    const double tilt = released < 0 ? -0.25 : 0.25;
    const double weights[3] = {0.2, 0.5 * std::exp(tilt), 0.3 * std::exp(3 * tilt)};
    const double total = weights[0] + weights[1] + weights[2];
    for (std::size_t u = 0; u < 3; ++u) EXPECT_NEAR(got.probability[0][u], weights[u] / total, 1e-12) << released;
    EXPECT_NEAR(got.log_probability / (std::log(std::tanh(0.125)) + 50 * std::log(total) -
                                       0.25 * std::abs(static_cast<double>(released))),
                1, 1e-12);
  }
}

// Two thousand million records of one value: nothing to learn, whatever the noise.
TEST(SumLaw, OneValue) {
  const SumLaw law({0, 3}, {{{0, 1}, 2'000'000'000}});
  const SumPosterior got = law.Given(6'000'000'010, {0.5, 2}, {});
  ASSERT_TRUE(got.possible);
  EXPECT_EQ(got.probability[0][1], 1);
  EXPECT_NEAR(got.log_probability, std::log(std::tanh(0.25)) - 2.5, 1e-12);
  EXPECT_FALSE(law.Given(6'000'000'011, {0.5, 2}, {}).possible);
}

TEST(SumLaw, TooFineGrids) {
  std::vector<std::int64_t> images;
  std::mt19937_64 random(5);
  for (std::int64_t value = 0; images.size() < 1000; value += 1 + static_cast<std::int64_t>(random() % 1'000'000'000))
    images.push_back(value);
  const SumLaw law(images, {{std::vector<double>(1000, 1e-3), 1000}});
  EXPECT_EQ(ErrorOf([&] { law.Given(images.back() * 500, {}, {}); }),
            "54000 the values lie on too fine a grid to compute the posterior exactly");
  EXPECT_EQ(ErrorOf([] { SumLaw({0, std::int64_t{1} << 61}, {{{0.5, 0.5}, 2}}); }), "54000 the sums are too large");
}

}  // namespace
}  // namespace privacy_score
