/*
 * keyed_hash_test.cpp - the published test vectors of SipHash-2-4, and folding.
 */
#include "core/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_set>

namespace privacy_score {
namespace {

// Key 00 01 ... 0f; the input of line n is the n bytes 00 01 ...
constexpr HashKey kPublishedKey = {0x0706050403020100U, 0x0f0e0d0c0b0a0908U};
constexpr std::uint64_t kPublished[] = {
    0x726fdb47dd0e0e31U, 0x74f839c593dc67fdU, 0x0d6c8009d9a94f5aU, 0x85676696d7fb7e2dU,
    0xcf2794e0277187b7U, 0x18765564cd99a68dU, 0xcbc9466e58fee3ceU, 0xab0200f58b01d137U,
    0x93f5f5799a932462U, 0x9e0082df0ba9e4b0U, 0x7a5dbbc594ddb9f3U, 0xf4b32f46226bada7U,
    0x751e8fbc860ee5fbU, 0x14ea5627c0843d90U, 0xf723ca908e7af2eeU, 0xa129ca6149be45e5U};

TEST(KeyedHash, PublishedVectors) {
  std::string input;
  for (const std::uint64_t expected : kPublished) {
    EXPECT_EQ(KeyedHash(kPublishedKey, input), expected) << input.size() << " bytes";
    input.push_back(static_cast<char>(input.size()));
  }
}

TEST(KeyedHash, DependsOnTheKey) {
  HashKey other = kPublishedKey;
  other.high ^= 1U;
  EXPECT_NE(KeyedHash(kPublishedKey, "5"), KeyedHash(other, "5"));
  EXPECT_NE(KeyedHash(kPublishedKey, "5"), KeyedHash(kPublishedKey, "6"));
  EXPECT_EQ(NameHash("public.t.id"), KeyedHash({0, 0}, "public.t.id"));
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
