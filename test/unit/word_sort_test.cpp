/*
 * word_sort_test.cpp - sorting packed words by a range of bits, and collapsing them.
 */
#include "core/base/word_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "core/entropy/packed_words.hpp"

namespace privacy_score {
namespace {

template <typename Word>
Word RandomWord(std::mt19937_64* random, unsigned used_bits) {
  Word word = 0;
  for (unsigned i = 0; i < sizeof(Word) / 8; ++i) word = word << 32 << 32 | (*random)();
  return word & word_sort::BitsBelow<Word>(used_bits);
}

template <typename Word>
void ExpectSorted(std::size_t count, unsigned low, unsigned high, unsigned used_bits, std::mt19937_64* random) {
  std::vector<Word> words(count);
  for (Word& word : words) word = RandomWord<Word>(random, used_bits);
  std::vector<Word> expected = words;
  const Word mask = word_sort::BitsBelow<Word>(high) & ~word_sort::BitsBelow<Word>(low);
  std::stable_sort(expected.begin(), expected.end(), [&](Word a, Word b) { return (a & mask) < (b & mask); });
  std::vector<Word> scratch(count);
  SortWords(words.data(), scratch.data(), count, low, high);
  EXPECT_TRUE(words == expected) << count << " words by the bits from " << low << " to " << high;
}

template <typename Word>
void SortManyShapes() {
  std::mt19937_64 random(1);
  const unsigned all = 8 * sizeof(Word);
  for (int round = 0; round < 150; ++round) {
    const unsigned high = static_cast<unsigned>(random() % (all + 1));
    const unsigned low = high == 0 ? 0 : static_cast<unsigned>(random() % high);
    const unsigned used = round % 3 == 0 ? static_cast<unsigned>(random() % (all + 1)) : all;
    ExpectSorted<Word>(random() % (std::size_t{1} << random() % 14), low, high, used, &random);
  }
  // Beyond the cache: the leading digit first, also when all words share it.
  ExpectSorted<Word>(200000, 3, 40, all, &random);
  ExpectSorted<Word>(200000, 0, all, all, &random);
  ExpectSorted<Word>(200000, 0, all, 30, &random);
  ExpectSorted<Word>(200000, 5, 12, all, &random);
}

TEST(SortWords, NarrowWords) { SortManyShapes<NarrowWord>(); }
TEST(SortWords, WideWords) { SortManyShapes<WideWord>(); }

TEST(CollapseWords, AddsUpTheWeightsOfEqualTuples) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 100; ++round) {
    const unsigned weight_bits = 1 + static_cast<unsigned>(random() % 20);
    const NarrowWord mask = word_sort::BitsBelow<NarrowWord>(weight_bits);
    std::vector<NarrowWord> words(1 + random() % 500);
    std::map<NarrowWord, NarrowWord> expected;
    for (NarrowWord& word : words) {
      const NarrowWord weight = 1 + random() % mask;
      word = random() % 20 << weight_bits | weight;
      expected[word >> weight_bits] += weight;
    }
    std::vector<NarrowWord> scratch(words.size());
    SortWords(words.data(), scratch.data(), words.size(), weight_bits, 64);
    words.resize(CollapseWords(words.data(), words.size(), weight_bits));
    std::map<NarrowWord, NarrowWord> collapsed;
    std::map<NarrowWord, NarrowWord> parts;
    for (const NarrowWord word : words) {
      EXPECT_NE(word & mask, 0U);
      collapsed[word >> weight_bits] += word & mask;
      ++parts[word >> weight_bits];
    }
    EXPECT_EQ(collapsed, expected);
    for (const auto& [tuple, weight] : expected) EXPECT_EQ(parts[tuple], (weight + mask - 1) / mask);
  }
  EXPECT_EQ(CollapseWords<NarrowWord>(nullptr, 0, 8), 0U);
}

}  // namespace
}  // namespace privacy_score
