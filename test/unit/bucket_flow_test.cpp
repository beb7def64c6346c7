/*
 * bucket_flow_test.cpp - the flow holds what it says, and where there is none the values that are in the way.
 */
#include "core/buckets/bucket_flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bucket_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ForEachSetting;
using testing_support::kSanitizerDivisor;
using testing_support::RandomProblem;
using testing_support::Thresholds;

// Records that must go to the values of some groups, because the others cannot fill the buckets, less those there are.
std::int64_t Excess(const BucketProblem& problem, const std::vector<std::int64_t>& buckets,
                    const std::vector<char>& tight) {
  std::int64_t excess = 0;
  for (std::size_t place = 0; place < problem.sizes().size(); ++place) {
    std::int64_t others = 0;
    for (std::size_t g = 0; g < problem.groups().size(); ++g) {
      const ValueGroup& group = problem.groups()[g];
      if (tight[g] == 0)
        others += problem.Capacities(group.capacity_class)[place] * static_cast<std::int64_t>(group.members.size());
    }
    excess += std::max<std::int64_t>(0, problem.sizes()[place] - others) * buckets[place];
  }
  for (std::size_t g = 0; g < problem.groups().size(); ++g) {
    const ValueGroup& group = problem.groups()[g];
    if (tight[g] != 0) excess -= group.count * static_cast<std::int64_t>(group.members.size());
  }
  return excess;
}

TEST(BucketFlow, HoldsOrNamesTheValuesInTheWay) {
  std::mt19937_64 random(23);
  int held = 0;
  int refused = 0;
  for (int round = 0; round < 2000 / kSanitizerDivisor; ++round) {
    const BucketProblem problem = RandomProblem(random, 18, 6, 6);
    ForEachSetting(problem, 6, [&](const BucketSetting& setting) {
      std::vector<std::int64_t> buckets(problem.sizes().size());
      for (const auto& [size, number] : setting) buckets[problem.PlaceOf(size)] = number;
      BucketFlow flow(problem, buckets, 1);
      if (!flow.Solve()) {
        ASSERT_GT(Excess(problem, buckets, flow.TightGroups()), 0) << round;
        ++refused;
        return;
      }
      ++held;
      std::vector<std::int64_t> filled(problem.sizes().size());
      for (std::size_t g = 0; g < problem.groups().size(); ++g) {
        const ValueGroup& group = problem.groups()[g];
        const auto members = static_cast<std::int64_t>(group.members.size());
        std::int64_t gone = 0;
        for (std::size_t place = 0; place < problem.sizes().size(); ++place) {
          const std::int64_t records = flow.Flow(g, place);
          ASSERT_GE(records, 0);
          ASSERT_LE(records, problem.Capacities(group.capacity_class)[place] * members * buckets[place]);
          gone += records;
          filled[place] += records;
        }
        ASSERT_EQ(gone, group.count * members);
      }
      for (std::size_t place = 0; place < problem.sizes().size(); ++place)
        ASSERT_EQ(filled[place], problem.sizes()[place] * buckets[place]);
    });
  }
  EXPECT_GT(held, 600 / kSanitizerDivisor);
  EXPECT_GT(refused, 600 / kSanitizerDivisor);
}

// A setting of halves of buckets is one of whole buckets for twice the records.
TEST(BucketFlow, FractionsOfBuckets) {
  const BucketProblem problem({3, 3}, Thresholds({"1/2", "1/2"}), {4});
  BucketFlow whole(problem, {1}, 1);
  EXPECT_FALSE(whole.Solve());
  BucketFlow halves(problem, {3}, 2);
  EXPECT_TRUE(halves.Solve());
}

}  // namespace
}  // namespace privacy_score
