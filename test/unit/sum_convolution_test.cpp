/*
 * sum_convolution_test.cpp - likelihoods of small sums by hand, and how much work they are.
 */
#include "core/loss/sum_convolution.hpp"

#include <gtest/gtest.h>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

TiltedSum Untilted(const std::vector<std::int64_t>& images, const std::vector<SumGroup>& groups) {
  TiltedSum sum;
  for (const SumGroup& group : groups)
    sum.groups.push_back({group.probability, group.records, 0, images.front(), images.back()});
  return sum;
}

// Two records of 0, 1 or 5, one of them mostly 5: what the other comes to.
TEST(SumConvolution, LeavesEachGroupOut) {
  const std::vector<std::int64_t> images = {0, 1, 5};
  const std::vector<SumGroup> groups = {{{0.5, 0.3, 0.2}, 1}, {{0.1, 0.1, 0.8}, 1}};
  const TiltedSum sum = Untilted(images, groups);
  const Likelihoods exact = ConvolveOthers(images, sum, {6, {}, 0}, {});
  EXPECT_EQ(exact[0], (std::vector<double>{0, 0.8, 0.1}));
  EXPECT_EQ(exact[1], (std::vector<double>{0, 0.2, 0.3}));
  // With noise in steps of 2 the other may be 2 j away from the rest.
  const Likelihoods noisy = ConvolveOthers(images, sum, {6, {1, 2}, 0}, {});
  EXPECT_NEAR(noisy[0][0], 0.1 * std::exp(-3), 1e-15);
  EXPECT_NEAR(noisy[0][1], 0.8 + 0.1 * std::exp(-2), 1e-15);
  EXPECT_NEAR(noisy[0][2], 0.1 + 0.8 * std::exp(-2), 1e-15);
}

// Values that no grid holds: the sums are listed, not laid out.
TEST(SumConvolution, SparseValues) {
  const std::int64_t wide = 1'000'000'000'000;
  const std::vector<std::int64_t> images = {0, wide, 3 * wide + 1};
  const Likelihoods given =
      ConvolveOthers(images, Untilted(images, {{{0.25, 0.25, 0.5}, 3}}), {4 * wide + 1, {}, 0}, {});
  EXPECT_EQ(given[0], (std::vector<double>{2 * 0.25 * 0.5, 2 * 0.25 * 0.5, 2 * 0.25 * 0.25}));
}

TEST(SumConvolution, Work) {
  const auto work = [](std::int64_t range, std::int64_t records) {
    const std::vector<std::int64_t> images = {0, range / 2, range};
    return ConvolutionWork(images, Untilted(images, {{{0.2, 0.3, 0.5}, records}}));
  };
  EXPECT_LT(work(2, 1000), 1e7);
  EXPECT_GT(work(1'000'000, 1000), 1e8);
  EXPECT_LT(work(1'000'000, 20), 1e5);
}

// A thousand values whose sums are all different: of three records there are too many.
TEST(SumConvolution, RefusesTooManySums) {
  std::vector<std::int64_t> images;
  for (std::int64_t i = 0; i < 1000; ++i) images.push_back(i * i * i * 1'000'003);
  const std::vector<double> law(images.size(), 1.0 / static_cast<double>(images.size()));
  const auto convolve = [&](std::int64_t records) {
    return testing_support::ErrorOf([&] {
      ConvolveOthers(images, Untilted(images, {{law, records}, {law, 1}}), {images.back(), {}, 0}, {});
    });
  };
  EXPECT_EQ(convolve(1), "");
  EXPECT_EQ(convolve(4), "54000 there are too many possible sums to compute the posterior exactly");
}

}  // namespace
}  // namespace privacy_score
