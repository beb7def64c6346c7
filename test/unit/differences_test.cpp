/*
 * differences_test.cpp - aggregates whose answers tell of one record by their difference.
 */
#include "core/scoring/differences.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace privacy_score {
namespace {

using Constants = std::vector<std::uint64_t>;

AskedAggregate Asked(const Constants& constants, double answer, std::uint32_t form = 1, std::uint64_t shape = 7) {
  AskedAggregate asked;
  asked.shape = shape;
  asked.form = form;
  asked.answer = answer;
  for (const std::uint64_t constant : constants) asked.constants.Add(constant);
  return asked;
}

// As hashes are.
Constants Drawn(std::mt19937_64& random, std::size_t count) {
  Constants constants(count);
  for (std::uint64_t& constant : constants) constant = random();
  return constants;
}

// By the multisets themselves: the plain way.
bool ContainsButForTwo(const Constants& one, const Constants& other) {
  std::map<std::uint64_t, int> counts;
  for (const std::uint64_t constant : one) ++counts[constant];
  for (const std::uint64_t constant : other) --counts[constant];
  int more = 0, less = 0;
  for (const auto& [constant, count] : counts) (count > 0 ? more : less) += count;
  return less == 0 && more >= 1 && more <= 2;
}

TEST(Differences, OneOrTwoMoreConstantsAreNearWhicheverCameFirst) {
  std::mt19937_64 random(1);
  const Constants base = Drawn(random, 40);
  for (std::size_t more = 0; more <= 4; ++more) {
    Constants longer = base;
    for (const std::uint64_t constant : Drawn(random, more)) longer.push_back(constant);
    const bool near = more == 1 || more == 2;
    EXPECT_EQ(IsNearly(Asked(base, 0), Asked(longer, 0)), near) << more;
    EXPECT_EQ(IsNearly(Asked(longer, 0), Asked(base, 0)), near) << more;
  }
  Constants exchanged = base;
  exchanged[3] = random();
  EXPECT_FALSE(IsNearly(Asked(base, 0), Asked(exchanged, 0)));
  EXPECT_TRUE(IsNearly(Asked({}, 0), Asked({5}, 0)));
}

TEST(Differences, TheSumsSayWhatTheMultisetsSay) {
  std::mt19937_64 random(2);
  const Constants few = Drawn(random, 4);
  int near = 0;
  for (int round = 0; round < 20000; ++round) {
    Constants one(random() % 7), other(random() % 7);
    for (Constants* constants : {&one, &other})
      for (std::uint64_t& constant : *constants) constant = few[random() % few.size()];
    const bool expected = ContainsButForTwo(one, other) || ContainsButForTwo(other, one);
    near += expected ? 1 : 0;
    ASSERT_EQ(IsNearly(Asked(one, 0), Asked(other, 0)), expected) << round;
  }
  EXPECT_GT(near, 1000);
}

TEST(Differences, EqualConstantsAreNearUnderOtherConditionsOnly) {
  EXPECT_FALSE(IsNearly(Asked({3, 4}, 0), Asked({4, 3}, 0)));
  EXPECT_TRUE(IsNearly(Asked({3, 4}, 0), Asked({4, 3}, 0, 2)));
}

TEST(Differences, AnswersMustBeNearAndTheShapesEqual) {
  const std::vector<AskedAggregate> before = {Asked({10, 20}, 31)};
  const auto compare = [&](const AskedAggregate& asked) {
    return CompareWithAsked(asked, before.data(), before.size());
  };
  EXPECT_EQ(compare(Asked({10, 20, 30}, 30, 2)), AskedBefore::kDiffers);
  EXPECT_EQ(compare(Asked({10, 20, 30}, 31, 2)), AskedBefore::kDiffers);
  EXPECT_EQ(compare(Asked({10, 20, 30}, 29, 2)), AskedBefore::kNo);
  EXPECT_EQ(compare(Asked({10, 20, 30}, 30, 2, 8)), AskedBefore::kNo);
  EXPECT_EQ(compare(Asked({20}, 32)), AskedBefore::kDiffers);
  EXPECT_EQ(compare(Asked({10, 20}, 31)), AskedBefore::kSame);
  EXPECT_EQ(compare(Asked({10, 20}, 32)), AskedBefore::kNo);
}

TEST(Differences, AUnionTellsOfTheOneRecordThatBothPartsHave) {
  std::vector<AskedAggregate> asked = {Asked({10}, 40), Asked({20, 21}, 50), Asked({10, 20, 21}, 89, 2)};
  std::sort(asked.begin(), asked.end(), [](const auto& one, const auto& other) { return one.answer < other.answer; });
  // In whatever order they are asked the last of them tells, and none before.
  do {
    EXPECT_EQ(CompareWithAsked(asked[1], asked.data(), 1), AskedBefore::kNo);
    EXPECT_EQ(CompareWithAsked(asked[2], asked.data(), 2), AskedBefore::kDiffers);
  } while (std::next_permutation(asked.begin(), asked.end(),
                                 [](const auto& one, const auto& other) { return one.answer < other.answer; }));
  // Disjoint parts add up, which is usual.
  const std::vector<AskedAggregate> disjoint = {Asked({10}, 40), Asked({20, 21}, 50)};
  EXPECT_EQ(CompareWithAsked(Asked({10, 20, 21}, 90, 2), disjoint.data(), 2), AskedBefore::kNo);
}

TEST(Differences, TheShapeIsOfRelationsAndOfFunctionsThatAggregate) {
  const Tokens base = {"cmd:select", "f:count(*)", "t:public.patients", "w:public.patients.city"};
  Tokens filtered = base;
  filtered.emplace_back("w:public.patients.hiv");
  EXPECT_NE(ShapeOfAggregate(base), 0);
  EXPECT_EQ(ShapeOfAggregate(base), ShapeOfAggregate(filtered));
  EXPECT_NE(ShapeOfAggregate(base), ShapeOfAggregate({"cmd:select", "f:count(*)", "t:public.visits"}));
  EXPECT_NE(ShapeOfAggregate(base),
            ShapeOfAggregate({"cmd:select", "f:avg(public.patients.born)", "t:public.patients"}));
  EXPECT_EQ(ShapeOfAggregate({"cmd:select", "f:lower(public.patients.city)", "t:public.patients"}), 0);
  EXPECT_EQ(ShapeOfAggregate({"cmd:select", "p:public.patients.city", "t:public.patients"}), 0);
}

}  // namespace
}  // namespace privacy_score
