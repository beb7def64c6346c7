/*
 * sum_frequencies_test.cpp - likelihoods by frequencies against those by convolution.
 */
#include "core/loss/sum_frequencies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/loss/sum_convolution.hpp"

namespace privacy_score {
namespace {

std::vector<double> DrawLaw(std::mt19937_64* random, std::size_t width) {
  std::vector<double> law(width);
  double total = 0;
  for (double& p : law) total += p = static_cast<double>(1 + (*random)() % 100);
  for (double& p : law) p /= total;
  return law;
}

// For different priors, sparse values and noise.
TEST(SumFrequencies, AgreeWithConvolution) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::int64_t> images = {0, 1};
    for (std::size_t u = 1; u < 2 + random() % 6; ++u)
      images.push_back(images.back() + 1 + static_cast<std::int64_t>(random() % 5));
    std::vector<SumGroup> groups;
    std::int64_t least = 0;
    std::int64_t greatest = 0;
    for (std::size_t g = 0; g < 1 + random() % 4; ++g) {
      groups.push_back({DrawLaw(&random, images.size()), 20 + static_cast<std::int64_t>(random() % 30)});
      greatest += groups.back().records * images.back();
    }
    SumNoise noise;
    if (round % 2 != 0)
      noise = {0.02 + static_cast<double>(random() % 100) / 50, 1 + static_cast<std::int64_t>(random() % 3)};
    std::int64_t released =
        greatest / 4 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(greatest / 2));
    const TiltedSum tilted = TiltTo(images, groups, released, noise, {});
    const ReleaseWeight weight{released, noise, tilted.theta};
    const Likelihoods a = ConvolveOthers(images, tilted, weight, {});
    const Likelihoods b = OthersByFrequencies(images, tilted, least, greatest, weight, {});
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::size_t u = 0; u < images.size(); ++u) {
        double most = 0;
        for (const double likelihood : a[g]) most = std::max(most, likelihood);
        EXPECT_NEAR(a[g][u] / most, b[g][u] / most, 2e-12) << "round " << round;
      }
  }
}

}  // namespace
}  // namespace privacy_score
