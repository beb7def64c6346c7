/*
 * keyed_hash_test.cpp - the test vectors of SipHash-1-3 as other libraries have them, and folding.
 */
#include "core/base/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_set>

namespace privacy_score {
namespace {

// Key 00 01 ... 0f; the input of line n is the n bytes 00 01 ...
constexpr HashKey kPublishedKey = {0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
constexpr std::uint64_t kPublished[] = {
    0xabac0158050fc4dcU, 0xc9f49bf37d57ca93U, 0x82cb9b024dc7d44dU, 0x8bf80ab8e7ddf7fbU,
    0xcf75576088d38328U, 0xdef9d52f49533b67U, 0xc50d2b50c59f22a7U, 0xd3927d989bb11140U,
    0x369095118d299a8eU, 0x25a48eb36c063de4U, 0x79de85ee92ff097fU, 0x70c118c1f94dc352U,
    0x78a384b157b4d9a2U, 0x306f760c1229ffa7U, 0x605aa111c0f95d34U, 0xd320d86d2a519956U};

TEST(KeyedHash, PublishedVectors) {
  std::string input;
  for (const std::uint64_t expected : kPublished) {
    EXPECT_EQ(KeyedHash(kPublishedKey, input), expected) << input.size() << " bytes";
    input.push_back(static_cast<char>(input.size()));
  }
}

TEST(KeyedHash, OfNumbers) {
  EXPECT_EQ(KeyedHash(kPublishedKey, std::int64_t{0x0706050403020100}),
            KeyedHash(kPublishedKey, std::string("\0\1\2\3\4\5\6\7\0", 9)));
  EXPECT_EQ(KeyedHash(kPublishedKey, std::int64_t{-1}), KeyedHash(kPublishedKey, std::string(8, '\xff') + '\0'));
}

TEST(KeyedHash, DependsOnTheKey) {
  HashKey other = kPublishedKey;
  other.high ^= 1U;
  EXPECT_NE(KeyedHash(kPublishedKey, "5"), KeyedHash(other, "5"));
  EXPECT_NE(KeyedHash(kPublishedKey, "5"), KeyedHash(kPublishedKey, "6"));
  EXPECT_EQ(NameHash("public.t.id"), KeyedHash({0, 0}, "public.t.id"));
}

TEST(KeyedHash, FoldingCanBeUndone) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t sequence = random(), element = i < 100 ? static_cast<std::uint64_t>(i) : random();
    ASSERT_EQ(LastOfHash(sequence, FoldHash(sequence, element)), element);
  }
}

TEST(KeyedHash, FoldingKeepsOrderAndCount) {
  EXPECT_NE(FoldHash(FoldHash(0, 1), 2), FoldHash(FoldHash(0, 2), 1));
  EXPECT_NE(FoldHash(0, 0), FoldHash(FoldHash(0, 0), 0));
  EXPECT_NE(FoldHash(0, 0), 0U);
  std::mt19937_64 random(1);
  std::unordered_set<std::uint64_t> seen;
  for (int i = 0; i < 20000; ++i) seen.insert(FoldHash(random(), random()));
  for (std::uint64_t i = 0; i < 100; ++i)
    for (std::uint64_t j = 0; j < 100; ++j) seen.insert(FoldHash(FoldHash(0, i), j));
  EXPECT_EQ(seen.size(), 30000U);
}

}  // namespace
}  // namespace privacy_score
