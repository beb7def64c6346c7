/*
 * constant_hash_test.cpp - numbers and texts that are written alike have one hash.
 */
#include "core/base/constant_hash.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace privacy_score {
namespace {

constexpr HashKey kKey = {7, 11};

std::uint64_t OfText(const std::string& text) { return ConstantHash(kKey, std::string_view(text)); }
std::uint64_t OfNumber(std::int64_t number) { return ConstantHash(kKey, number); }

TEST(ConstantHash, OfANumberIsThatOfItsText) {
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{5}, std::int64_t{-5}, std::int64_t{999999999999999999},
        std::int64_t{1000000000000000000}, std::int64_t{-1000000000000000000}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()})
    EXPECT_EQ(OfNumber(number), OfText(std::to_string(number))) << number;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto number = static_cast<std::int64_t>(random() >> (random() % 64));
    ASSERT_EQ(OfNumber(number), OfText(std::to_string(number))) << number;
    ASSERT_EQ(OfNumber(-number), OfText(std::to_string(-number))) << number;
  }
}

TEST(ConstantHash, OfATextThatIsNoNumberIsItsOwn) {
  const std::string texts[] = {"", "-", "-0", "00", "05", "5 ", " 5", "+5", "5.0", "1e3", "0x5", "a"};
  for (const std::string& text : texts) {
    EXPECT_EQ(OfText(text), KeyedHash(kKey, text)) << text;
    EXPECT_NE(OfText(text), OfNumber(5)) << text;
    EXPECT_NE(OfText(text), OfNumber(0)) << text;
  }
}

TEST(ConstantHash, DependsOnTheKey) { EXPECT_NE(OfNumber(5), ConstantHash(HashKey{7, 12}, std::int64_t{5})); }

}  // namespace
}  // namespace privacy_score
