/*
 * fake_values_test.cpp - fakes that what is known of the records does not give away.
 */
#include "core/buckets/fake_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "error_fixture.hpp"
#include "random_fixture.hpp"

using namespace privacy_score;
using namespace testing_support;

namespace {

constexpr std::size_t kRoom = 1 << 20;
constexpr std::uint32_t kFemale = 0, kMale = 1;

// Sex and age group; values 0 to 3 come with everybody, 4 with women only.
Associations Hospital() {
  Associations associations(2, {40, 40, 40, 40, 40}, kRoom);
  for (std::uint32_t value = 0; value < 5; ++value) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      const std::uint32_t record[] = {value == 4 ? kFemale : i % 2, i / 2 % 2};
      associations.Learn(record, value);
    }
  }
  return associations;
}

TEST(FakeValues, BucketsOfDifferentValuesOnly) {
  const auto largest = [](std::vector<Rational> thresholds, int fakes) {
    return LargestBucketForFakes(thresholds, fakes);
  };
  EXPECT_EQ(largest(std::vector<Rational>(50, Rational(1, 5)), 2), 9);  // floor(9/5) = 1, floor(10/5) = 2
  EXPECT_EQ(largest(std::vector<Rational>(50, Rational(2, 7)), 2), 6);  // floor(2 * 6 / 7) = 1
  EXPECT_EQ(largest(std::vector<Rational>(9, Rational(1, 5)), 2), 7);   // nine values in all
  EXPECT_EQ(largest(std::vector<Rational>(3, Rational(1)), 2), 1);
  EXPECT_EQ(ErrorOf([&] { largest(std::vector<Rational>(6, Rational(1, 5)), 2); }),
            "22023 buckets of at least 5 different values have no room for 2 fake ones: there are 6 values");
  EXPECT_EQ(ErrorOf([&] {
              largest({Rational(1, 2), Rational(1, 3)}, 1);
            }),
            "22023 fake values need the same threshold for all values");
}

TEST(FakeValues, NoValueThatNobodyInTheBucketCouldHave) {
  const Associations associations = Hospital();
  FakeValues fakes(associations);
  SeededRandom random(1);
  const std::uint32_t bucket[] = {0, 1};
  for (int i = 0; i < 200; ++i) {
    // Two men: the value of women would be seen through.
    const auto& drawn = fakes.Draw({kMale, 0, kMale, 1}, bucket, 2, 2, random);
    EXPECT_EQ(std::set<std::uint32_t>(drawn.begin(), drawn.end()), (std::set<std::uint32_t>{2, 3}));
  }
  EXPECT_EQ(ErrorOf([&] {
              fakes.Draw({kMale, 0, kMale, 1}, bucket, 2, 3, random);
            }),
            "22023 a bucket of 2 records has room for 2 fake values only, not 3");
  EXPECT_TRUE(GivenAway(associations, {kMale, 0, kMale, 1}, 2, 4));
  EXPECT_FALSE(GivenAway(associations, {kMale, 0, kFemale, 1}, 2, 4));
  EXPECT_FALSE(GivenAway(associations, {kMale, 0, kMale, 1}, 2, 3));
  // One of them a woman: it could be hers, but values that both could have come first.
  for (int i = 0; i < 200; ++i) {
    const auto& drawn = fakes.Draw({kMale, 0, kFemale, 1}, bucket, 2, 2, random);
    EXPECT_EQ(std::set<std::uint32_t>(drawn.begin(), drawn.end()), (std::set<std::uint32_t>{2, 3}));
    const auto& three = fakes.Draw({kMale, 0, kFemale, 1}, bucket, 2, 3, random);
    EXPECT_EQ(std::set<std::uint32_t>(three.begin(), three.end()), (std::set<std::uint32_t>{2, 3, 4}));
  }
}

// A code that occurs once was seen with one value; that says nothing of the others.
// [Wang, section 6] a bucket of 5 with 2 fakes shows 7 values; when 4 records are found out 3 are left, 2 of them fake.
TEST(FakeValues, WhatIsLeftWhenRecordsAreFoundOut) {
  SeededRandom random(8);
  const std::vector<std::int64_t> counts(9, 10);
  const Associations associations(0, counts, kRoom);
  FakeValues fakes(associations);
  const std::uint32_t values[] = {0, 2, 4, 6, 8};
  for (int round = 0; round < 20; ++round) {
    std::set<std::uint32_t> shown(std::begin(values), std::end(values));
    for (const std::uint32_t fake : fakes.Draw({}, values, 5, 2, random)) shown.insert(fake);
    ASSERT_EQ(shown.size(), 7U);
    for (std::size_t q = 0; q < 4; ++q) shown.erase(values[q]);
    ASSERT_EQ(shown.size(), 3U);
    ASSERT_EQ(shown.count(8), 1U);  // the record that is not found out: one of three
  }
}

TEST(FakeValues, RareAttributesTellNothing) {
  Associations associations(1, {10, 10, 10}, kRoom);
  for (std::uint32_t i = 0; i < 30; ++i) associations.Learn(&i, i / 10);
  const std::uint32_t code = 0;
  EXPECT_TRUE(associations.Seen(&code, 0));
  EXPECT_FALSE(associations.Seen(&code, 1));
  EXPECT_TRUE(associations.Possible(&code, 1));
  FakeValues fakes(associations);
  SeededRandom random(2);
  const std::uint32_t bucket[] = {0};
  EXPECT_EQ(fakes.Draw({0}, bucket, 1, 2, random).size(), 2U);
}

// Nine records of a code, a third of all values: expected three times and never seen.
TEST(FakeValues, AnAssociationNeedsThreeExpectedPairs) {
  for (const std::uint32_t records : {8U, 9U}) {
    Associations associations(1, {10, 10, 10}, kRoom);
    const std::uint32_t one = 0, other = 1;
    for (std::uint32_t i = 0; i < 30; ++i) associations.Learn(i < records ? &one : &other, i / 10);
    EXPECT_EQ(associations.Possible(&one, 2), records == 8);
  }
}

TEST(FakeValues, AreDrawnAlike) {
  const Associations associations = Hospital();
  FakeValues fakes(associations);
  SeededRandom random(3);
  std::map<std::uint32_t, int> times;
  constexpr int kDraws = 30000;
  const std::uint32_t bucket[] = {0};
  for (int i = 0; i < kDraws; ++i) ++times[fakes.Draw({kMale, 0}, bucket, 1, 1, random)[0]];
  ASSERT_EQ(times.size(), 3U);
  double chi_square = 0;
  for (const auto& [value, count] : times) chi_square += std::pow(count - kDraws / 3.0, 2) / (kDraws / 3.0);
  EXPECT_LT(chi_square, 27.6);  // two degrees of freedom, false-alarm rate 1e-6, fixed seed
}

TEST(FakeValues, ValuesThatDoNotOccurAreNoFakes) {
  Associations associations(0, {5, 0, 5}, kRoom);
  FakeValues fakes(associations);
  SeededRandom random(4);
  const std::uint32_t bucket[] = {0};
  EXPECT_EQ(fakes.Draw({}, bucket, 1, 1, random), std::vector<std::uint32_t>{2});
}

TEST(FakeValues, MemoryIsBounded) {
  Associations associations(1, std::vector<std::int64_t>(640, 1), 8000);
  std::uint32_t code = 89;
  EXPECT_EQ(ErrorOf([&] { associations.Learn(&code, 0); }), "");
  code = 90;
  EXPECT_EQ(ErrorOf([&] { associations.Learn(&code, 0); }),
            "54000 what goes with what in the table does not fit into maintenance_work_mem");
}

}  // namespace
