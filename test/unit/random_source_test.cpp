/*
 * random_source_test.cpp - uniform numbers below a bound, and the wiping of what was handed out.
 */
#include "core/base/random_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "error_fixture.hpp"
#include "random_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::ScriptedRandom;
using testing_support::SeededRandom;

// Every 16-bit draw, in order, four to a word.
std::vector<std::uint64_t> AllQuarters() {
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i < 0x10000; i += 4) words.push_back(i | (i + 1) << 16 | (i + 2) << 32 | (i + 3) << 48);
  return words;
}

// Over all 65536 draws each number comes exactly as often as each other: free of bias, not only nearly so.
TEST(RandomSource, SmallBoundsHaveNoBias) {
  for (const std::uint64_t bound : {1ULL, 2ULL, 3ULL, 7ULL, 10ULL, 100ULL, 1000ULL, 4095ULL, 4096ULL}) {
    ScriptedRandom random(AllQuarters());
    std::map<std::uint64_t, int> counts;
    try {
      for (;;) ++counts[random.Below(bound)];
    } catch (const Error&) {
    }
    ASSERT_EQ(counts.size(), bound);
    for (const auto& [value, count] : counts) {
      EXPECT_LT(value, bound);
      EXPECT_EQ(count, static_cast<int>(0x10000 / bound)) << bound;
    }
  }
}

TEST(RandomSource, RejectsTheDrawsThatWouldBiasLargerBounds) {
  // 32 bits, bound 3 * 2^13: 2^32 mod bound is 16384; the low half of the product decides.
  const std::uint64_t bound = 3ULL << 13;
  EXPECT_EQ(ErrorOf([&] {  // product 0 is below it: drawn again, until the script ends
              ScriptedRandom zeros(std::vector<std::uint64_t>(64, 0));
              zeros.Below(bound);
            }),
            "58000 the script has ended");
  ScriptedRandom next({1ULL << 32});  // first draw 0 rejected, second draw 1 taken
  EXPECT_EQ(next.Below(bound), 0U);
  ScriptedRandom last({0xffffffffU});
  EXPECT_EQ(last.Below(bound), bound - 1);
  // 64 bits, bound 2^63 + 1: nearly every second draw is rejected.
  const std::uint64_t large = (1ULL << 63) + 1;
  ScriptedRandom words({0, 2, 1, ~0ULL});  // 0 and 2 are rejected
  EXPECT_EQ(words.Below(large), 0U);
  EXPECT_EQ(words.Below(large), large - 1);
}

TEST(RandomSource, LargeBoundsReachTheirEnds) {
  SeededRandom random(1);
  for (const std::uint64_t bound : {4097ULL, 1ULL << 28, (1ULL << 28) + 1, 1ULL << 40, ~0ULL}) {
    std::uint64_t least = ~0ULL;
    std::uint64_t greatest = 0;
    for (int i = 0; i < 200000; ++i) {
      const std::uint64_t value = random.Below(bound);
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
    ASSERT_LT(greatest, bound);
    // 200,000 draws miss the first or the last thousandth with probability e^-200.
    EXPECT_LT(least, bound / 1000);
    EXPECT_GT(greatest, bound - bound / 1000 - 2);
  }
}

TEST(RandomSource, PiecesAreWordsFromTheLowEnd) {
  ScriptedRandom random({0x4444333322221111U, 0x5555U});
  EXPECT_EQ(random.Quarter(), 0x1111U);
  EXPECT_EQ(random.Half(), 0x33332222U);
  EXPECT_EQ(random.Word(), 0x5555U);
  EXPECT_EQ(random.Quarter(), 0x4444U);
}

// What has been handed out, and after Wipe() all of it, is gone from the object's memory.
TEST(RandomSource, WordsAreWiped) {
  class Marked : public RandomSource {
   protected:
    void Fill(std::uint64_t* words, std::size_t count) override {
      for (std::size_t i = 0; i < count; ++i) words[i] = 0xabababababababab;
    }
  };
  Marked random;
  const auto marks = [&] {
    const volatile auto* bytes = reinterpret_cast<const volatile unsigned char*>(&random);
    std::size_t count = 0;
    for (std::size_t i = 0; i < sizeof random; ++i) count += bytes[i] == 0xab;
    return count / sizeof(std::uint64_t);
  };
  EXPECT_EQ(marks(), 0U);
  random.Word();
  EXPECT_EQ(marks(), 63U);
  random.Quarter();
  random.Wipe();
  EXPECT_EQ(marks(), 0U);
  EXPECT_EQ(random.Quarter(), 0xababU);
}

TEST(RandomSource, AFailureLeavesNothingBehind) {
  class Failing : public RandomSource {
   public:
    bool fails = true;

   protected:
    void Fill(std::uint64_t* words, std::size_t count) override {
      for (std::size_t i = 0; i < count; ++i) words[i] = 7;
      if (fails) throw Error("58000", "no randomness");
    }
  };
  Failing random;
  EXPECT_EQ(ErrorOf([&] { random.Word(); }), "58000 no randomness");
  EXPECT_EQ(ErrorOf([&] { random.Below(3); }), "58000 no randomness");
  random.fails = false;
  EXPECT_EQ(random.Word(), 7U);
}

}  // namespace
}  // namespace privacy_score
