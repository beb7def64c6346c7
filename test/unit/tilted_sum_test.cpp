/*
 * tilted_sum_test.cpp - the tilt makes the release the expected one, whatever is released.
 */
#include "core/loss/tilted_sum.hpp"

#include <gtest/gtest.h>

namespace privacy_score {
namespace {

const std::vector<std::int64_t> kImages = {0, 3, 100};
const std::vector<SumGroup> kGroups = {{{0.9, 0.1, 0}, 40}, {{1e-12, 0.5, 0.5 - 1e-12}, 60}};

TEST(TiltedSum, CentresOnTheRelease) {
  // From 0 to 6,120.
  for (const std::int64_t released : {1, 50, 3000, 6000, 6119}) {
    const TiltedSum tilted = TiltTo(kImages, kGroups, released, {}, {});
    double variance = 0;
    for (const TiltedGroup& group : tilted.groups) {
      double total = 0;
      for (std::size_t u = 0; u < kImages.size(); ++u) {
        total += group.probability[u];
        const double away = static_cast<double>(kImages[u]) - group.mean;
        variance += static_cast<double>(group.records) * group.probability[u] * away * away;
      }
      EXPECT_NEAR(total, 1, 1e-14);
    }
    EXPECT_NEAR(tilted.mean, static_cast<double>(released), 0.11 * std::sqrt(variance)) << released;
    EXPECT_EQ(tilted.groups[0].high, 3);
    EXPECT_EQ(tilted.groups[1].low, 0);
  }
}

TEST(TiltedSum, StaysBelowTheRateOfTheNoise) {
  for (const std::int64_t released : {-4, 3000, 6124}) {
    const TiltedSum tilted = TiltTo(kImages, kGroups, released, {0.01, 5}, {});
    EXPECT_LT(std::abs(tilted.theta), 0.002) << released;
  }
}

TEST(TiltedSum, LogTransform) {
  const TiltedSum tilted = TiltTo({0, 1}, {{{0.75, 0.25}, 8}}, 5, {}, {});
  EXPECT_NEAR(tilted.log_transform, 8 * std::log(0.75 + 0.25 * std::exp(tilted.theta)), 1e-12);
}

}  // namespace
}  // namespace privacy_score
