/*
 * token_index_test.cpp - the list that shares most is the one that comparing with each list finds.
 */
#include "core/detection/token_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace privacy_score {
namespace {

using Token = TokenIndex::Token;

TEST(TokenIndex, WeightsAreBitsInFixedPoint) {
  EXPECT_EQ(WeightOfBits(1), TokenWeight{1} << 32);
  EXPECT_EQ(BitsOf(WeightOfBits(5.25)), 5.25);
  EXPECT_NEAR(BitsOf(WeightOfBits(0.1)), 0.1, 1.2e-10);
}

TEST(TokenIndex, OfNothingSharesNothing) {
  TokenIndex index;
  index.Finish();
  std::vector<TokenIndex::Weighed> tokens = {{0, 5}, {7, 1}};
  EXPECT_EQ(index.MostShared(tokens), 0);
  TokenIndex with_empty_list;
  with_empty_list.Add({});
  with_empty_list.Finish();
  tokens = {{0, 5}};
  EXPECT_EQ(with_empty_list.MostShared(tokens), 0);
}

TEST(TokenIndex, LeavesListsOut) {
  TokenIndex index;
  EXPECT_EQ(index.Add({0, 1, 2}), 0U);
  EXPECT_EQ(index.Add({2, 1}), 1U);
  EXPECT_EQ(index.Add({4}), 2U);
  index.Finish();
  const std::vector<TokenIndex::Weighed> tokens = {{0, 1}, {1, 10}, {2, 100}, {4, 50}};
  const auto shared = [&](const std::vector<std::uint8_t>& left_out) {
    auto copy = tokens;
    return index.MostShared(copy, left_out);
  };
  EXPECT_EQ(shared({}), 111);
  EXPECT_EQ(shared({1, 0, 0}), 110);
  EXPECT_EQ(shared({1, 1, 0}), 50);
  EXPECT_EQ(shared({1, 1, 1}), 0);
  EXPECT_EQ(shared({0, 0, 0}), 111);
}

// Few tokens and weights, so that lists tie, and many, so that the search ends early.
TEST(TokenIndex, FindsWhatComparingWithEachListFinds) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 600; ++round) {
    const std::size_t tokens = 1 + random() % (round % 2 == 0 ? 8 : 60);
    const std::size_t lists = random() % 40;
    const auto draw = [&] {
      std::set<Token> set;
      for (std::size_t left = random() % 12; left > 0; --left) set.insert(static_cast<Token>(random() % tokens));
      return set;
    };
    TokenIndex index;
    std::vector<std::set<Token>> sets;
    for (std::size_t i = 0; i < lists; ++i) {
      sets.push_back(draw());
      std::vector<Token> list(sets.back().begin(), sets.back().end());
      std::shuffle(list.begin(), list.end(), random);
      index.Add(list);
    }
    index.Finish();
    ASSERT_EQ(index.size(), lists);
    for (int query = 0; query < 8; ++query) {
      std::vector<TokenIndex::Weighed> wanted;
      for (const Token token : draw())
        wanted.push_back({token, static_cast<TokenWeight>(random() % (query % 2 == 0 ? 4 : 1000000))});
      // A token that no list has.
      wanted.push_back({static_cast<Token>(tokens + 3), 9});
      std::vector<std::uint8_t> left_out;
      if (query % 3 == 0)
        for (std::size_t i = 0; i < lists; ++i) left_out.push_back(random() % 3 == 0 ? 1 : 0);
      TokenWeight best = 0;
      for (std::size_t i = 0; i < lists; ++i) {
        if (!left_out.empty() && left_out[i] != 0) continue;
        TokenWeight shared = 0;
        for (const auto& weighed : wanted) shared += sets[i].count(weighed.token) > 0 ? weighed.weight : 0;
        best = std::max(best, shared);
      }
      ASSERT_EQ(index.MostShared(wanted, left_out), best) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace privacy_score
