/*
 * key_memo_test.cpp - what a memo says of keys is what it was told of them, however many there are.
 */
#include "core/private_sql/key_memo.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace privacy_score {
namespace {

TEST(KeyMemo, SaysWhatItWasTold) {
  KeyMemo memo;
  const std::uint64_t words[] = {1, 2, 3};
  EXPECT_EQ(memo.Find(words, 2), KeyMemo::kUnknown);
  memo.Remember(words, 2, 7);
  memo.Remember(words, 3, 8);
  EXPECT_EQ(memo.Find(words, 2), 7U);
  EXPECT_EQ(memo.Find(words, 3), 8U);
  EXPECT_EQ(memo.Find(words, 1), KeyMemo::kUnknown) << "the beginning of others";
  EXPECT_EQ(memo.Find(words + 1, 2), KeyMemo::kUnknown);
  memo.Clear();
  EXPECT_EQ(memo.Find(words, 2), KeyMemo::kUnknown);
}

TEST(KeyMemo, DoesNotRememberLongKeys) {
  KeyMemo memo;
  const std::vector<std::uint64_t> words(KeyMemo::kMostWords + 1, 5);
  memo.Remember(words.data(), words.size(), 1);
  EXPECT_EQ(memo.Find(words.data(), words.size()), KeyMemo::kUnknown);
  memo.Remember(words.data(), words.size() - 1, 1);
  EXPECT_EQ(memo.Find(words.data(), words.size() - 1), 1U);
}

// It may forget, and never mixes keys up; a few stay.
TEST(KeyMemo, IsRightWhateverItForgets) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const std::uint32_t keys : {100U, 20000U, 300000U}) {
    KeyMemo memo;
    std::map<std::vector<std::uint64_t>, std::uint32_t> told;
    std::vector<std::vector<std::uint64_t>> all;
    for (std::uint32_t key = 0; key < keys; ++key) {
      std::vector<std::uint64_t> words(1 + random() % 3);
      for (auto& word : words) word = random() % (2 * keys);
      if (told.count(words) > 0) continue;
      told[words] = key;
      memo.Remember(words.data(), words.size(), key);
      all.push_back(words);
    }
    std::size_t known = 0;
    for (const auto& words : all) {
      const std::uint32_t group = memo.Find(words.data(), words.size());
      if (group == KeyMemo::kUnknown) continue;
      ++known;
      ASSERT_EQ(group, told[words]);
    }
    EXPECT_GT(known, keys == 100 ? all.size() - 1 : 1000U);
  }
}

}  // namespace
}  // namespace privacy_score
