/*
 * key_selection_test.cpp - votes for groups, their threshold, and that groups of few persons stay hidden.
 *
 * Privacy is tested as neighbour_fixture.hpp says, with new seeds in each run.
 */
#include "core/private_sql/key_selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "core/noise/discrete_laplace.hpp"
#include "error_fixture.hpp"
#include "neighbour_fixture.hpp"
#include "random_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::Answer;
using testing_support::ErrorOf;
using testing_support::NeighbourTest;
using testing_support::SeededRandom;

constexpr HashKey kKey = {1, 2};

std::vector<std::uint64_t> HashesOf(std::size_t groups, std::uint64_t offset = 0) {
  std::vector<std::uint64_t> hashes(groups);
  for (std::size_t i = 0; i < groups; ++i) hashes[i] = (i + offset) * 0x9e3779b97f4a7c15U;
  return hashes;
}

// Person i is in the groups listed.
PersonRecords RecordsOf(const std::vector<std::vector<std::uint32_t>>& groups_of, std::size_t groups) {
  PersonSums sums(0);
  for (std::size_t person = 0; person < groups_of.size(); ++person)
    for (const std::uint32_t group : groups_of[person])
      for (int row = 0; row < 3; ++row) sums.Add({person + 10, 0}, group, nullptr);
  return sums.Finish(groups);
}

TEST(Votes, AreDividedOverThePersonsGroups) {
  const PersonRecords records = RecordsOf({{0}, {0, 1, 2}, {2, 3}}, 5);
  const std::vector<std::int64_t> votes = CountVotes(records, HashesOf(5), kKey);
  EXPECT_EQ(votes, (std::vector<std::int64_t>{kWholeVote + kWholeVote / 3, kWholeVote / 3,
                                              kWholeVote / 3 + kWholeVote / 2, kWholeVote / 2, 0}));
}

TEST(Votes, OfAPersonWithManyGroupsGoToSomeOfThem) {
  constexpr std::size_t kGroups = 3000;
  std::vector<std::uint32_t> all(kGroups);
  std::iota(all.begin(), all.end(), 0U);
  const std::vector<std::int64_t> votes = CountVotes(RecordsOf({all}, kGroups), HashesOf(kGroups), kKey);
  EXPECT_EQ(std::count(votes.begin(), votes.end(), kWholeVote / 1000), 1000);
  EXPECT_EQ(std::count(votes.begin(), votes.end(), 0), 2000);
  // Numbered otherwise, with five groups of others before them: the same ones.
  std::vector<std::uint32_t> later(kGroups);
  std::iota(later.begin(), later.end(), 5U);
  std::vector<std::uint64_t> hashes = HashesOf(kGroups);
  hashes.insert(hashes.begin(), {11, 12, 13, 14, 15});
  const std::vector<std::int64_t> again = CountVotes(RecordsOf({later}, kGroups + 5), hashes, kKey);
  EXPECT_TRUE(std::equal(votes.begin(), votes.end(), again.begin() + 5));
  EXPECT_NE(CountVotes(RecordsOf({all}, kGroups), HashesOf(kGroups), {3, 4}), votes) << "the key decides";
}

TEST(Votes, OfOnePersonAreOneAtMost) {
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    const std::size_t groups = 1 + random() % 1500;
    std::vector<std::vector<std::uint32_t>> groups_of(3);
    for (auto& hers : groups_of)
      for (std::uint32_t group = 0; group < groups; ++group)
        if (random() % 3 != 0) hers.push_back(group);
    const std::vector<std::int64_t> with = CountVotes(RecordsOf(groups_of, groups), HashesOf(groups), kKey);
    groups_of.pop_back();
    const std::vector<std::int64_t> without = CountVotes(RecordsOf(groups_of, groups), HashesOf(groups), kKey);
    std::int64_t moved = 0;
    for (std::size_t i = 0; i < groups; ++i) moved += std::abs(with[i] - without[i]);
    ASSERT_LE(moved, kWholeVote) << "seed " << seed;
  }
}

// For each number of groups that she is alone in, by the formula in long double: none is shown with more than delta/m.
TEST(VoteThresholds, HoldForEveryNumberOfGroups) {
  for (const char* epsilon : {"0.001", "0.025", "0.25", "1", "10"}) {
    for (const char* delta : {"1e-9", "1e-6", "0.01", "0.4"}) {
      const std::int64_t threshold = VoteThreshold(ParseRational("e", epsilon), ParseRational("d", delta));
      const auto scale = static_cast<long double>(ToDouble(Rational(kWholeVote) / ParseRational("e", epsilon)));
      const auto most = static_cast<long double>(ToDouble(ParseRational("d", delta)));
      const auto chance = [&](std::int64_t from, std::int64_t m) {
        const auto z = static_cast<long double>(from - kWholeVote / m);
        return z >= 1 ? std::exp(-z / scale) / (1 + std::exp(-1 / scale)) * static_cast<long double>(m) : 1.0L;
      };
      long double greatest_below = 0;
      for (std::int64_t m = 1; m <= 1000; ++m) {
        ASSERT_LE(chance(threshold, m), most * (1 + 1e-9L)) << epsilon << " " << delta << " " << m;
        greatest_below = std::max(greatest_below, chance(threshold - 2, m));
      }
      EXPECT_GT(greatest_below, most) << "no more than is needed, up to a rounding: " << epsilon << " " << delta;
    }
  }
}

TEST(VoteThresholds, RefuseWhatMakesNone) {
  EXPECT_EQ(ErrorOf([] { VoteThreshold(Rational(1), Rational(0)); }),
            "22023 delta must be greater than 0 and less than 1/2, not 0");
  EXPECT_EQ(ErrorOf([] { VoteThreshold(Rational(0), Rational(1, 100)); }),
            "22023 epsilon must be greater than zero, not 0");
}

TEST(Presence, IsSeldomSaidOfNobody) {
  // Scale 10: P(noise >= 24) = 0.0477, of 23 it is 0.0526.
  EXPECT_EQ(PresenceThreshold(ChooseClipGrid(1, Rational(1, 10), true)), 24);
  EXPECT_EQ(PresenceThreshold(ChooseClipGrid(1, Rational(100), true)), 1) << "one person at least";
  EXPECT_EQ(PresenceThreshold(ChooseClipGrid(1, Rational(100), false)), 1024) << "in steps of a 1024th";
  EXPECT_EQ(ShowByCounts({23, 24, -24, Int128{1} << 100}, 24), (ShownGroups{false, true, false, true}));
}

// --- privacy --------------------------------------------------------------------------------------------------------

const int kAnswers = testing_support::kSanitized ? 2000 : 100000;

class KeySelectionNeighbours : public testing::Test {
 protected:
  KeySelectionNeighbours() : seed_(std::random_device()()), random_(seed_) {}

  std::uint64_t seed_;
  SeededRandom random_;
};

// How many of the groups with these votes are shown.
Answer ShownOf(const std::vector<std::int64_t>& votes, const Rational& spent, std::int64_t threshold) {
  return [=](RandomSource& random) {
    const ShownGroups shown = ShowByVotes(votes, spent, threshold, random);
    return static_cast<double>(std::count(shown.begin(), shown.end(), true));
  };
}

// Others hold so many votes that with her the group is shown half the time.
TEST_F(KeySelectionNeighbours, OfGroupsOfManyAreWithinEpsilon) {
  const NeighbourTest test(1, 1e-6, kAnswers);
  const auto broken = [&](const Rational& spent) {
    const std::int64_t threshold = VoteThreshold(spent, Rational(1, 1000000));
    return test.IsBroken(ShownOf({threshold}, spent, threshold), ShownOf({threshold - kWholeVote}, spent, threshold),
                         random_);
  };
  EXPECT_FALSE(broken(Rational(1))) << "seed " << seed_;
  if (testing_support::kSanitized) return;
  EXPECT_TRUE(broken(Rational(11, 10))) << "seed " << seed_;
}

TEST_F(KeySelectionNeighbours, OfGroupsHeldAloneAreWithinDelta) {
  const Rational epsilon(1);
  const Rational delta(1, 100);
  const NeighbourTest test(1, 0.01, kAnswers);
  const std::int64_t threshold = VoteThreshold(epsilon, delta);
  for (const std::size_t alone : {1, 2, 20}) {
    std::vector<std::uint32_t> hers(alone);
    std::iota(hers.begin(), hers.end(), 0U);
    const std::vector<std::int64_t> votes = CountVotes(RecordsOf({hers}, alone), HashesOf(alone), kKey);
    EXPECT_FALSE(test.IsBroken(ShownOf(votes, epsilon, threshold), ShownOf({}, epsilon, threshold), random_))
        << alone << " groups, seed " << seed_;
  }
  if (testing_support::kSanitized) return;
  // A threshold for one group, which two whole votes pass with 2 delta.
  const std::int64_t for_one = kWholeVote + DiscreteLaplaceUpperQuantile(Rational(kWholeVote), delta);
  EXPECT_TRUE(
      test.IsBroken(ShownOf({kWholeVote, kWholeVote}, epsilon, for_one), ShownOf({}, epsilon, for_one), random_))
      << "seed " << seed_;
}

}  // namespace
}  // namespace privacy_score
