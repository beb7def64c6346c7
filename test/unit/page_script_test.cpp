/*
 * page_script_test.cpp - the page's policy lets the page's script run, and no other.
 */
#include "core/report/page_script.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

std::uint32_t Rotated(std::uint32_t word, unsigned bits) { return word >> bits | word << (32U - bits); }

// The first 32 bits of the fraction of a root of the n-th prime.
std::uint32_t RootOfPrime(int n, double exponent) {
  int prime = 1;
  while (n >= 0) {
    ++prime;
    bool is_prime = true;
    for (int divisor = 2; divisor * divisor <= prime; ++divisor) is_prime = is_prime && prime % divisor != 0;
    if (is_prime) --n;
  }
  const long double root =
      exponent == 0.5 ? std::sqrt(static_cast<long double>(prime)) : std::cbrt(static_cast<long double>(prime));
  return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
}

// SHA-256, as FIPS 180-4 has it.
std::array<std::uint32_t, 8> Digest(std::string text) {
  std::array<std::uint32_t, 8> state{};
  for (int i = 0; i < 8; ++i) state[static_cast<std::size_t>(i)] = RootOfPrime(i, 0.5);
  const std::uint64_t bits = text.size() * 8;
  text += '\x80';
  while (text.size() % 64 != 56) text += '\0';
  for (int i = 7; i >= 0; --i) text += static_cast<char>(bits >> (8U * static_cast<unsigned>(i)));
  for (std::size_t block = 0; block < text.size(); block += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i)
      w[i / 4 < 16 ? i / 4 : 15] = w[i / 4] << 8U | static_cast<unsigned char>(text[block + i]);
    for (std::size_t i = 16; i < 64; ++i)
      w[i] = w[i - 16] + (Rotated(w[i - 15], 7) ^ Rotated(w[i - 15], 18) ^ w[i - 15] >> 3U) + w[i - 7] +
             (Rotated(w[i - 2], 17) ^ Rotated(w[i - 2], 19) ^ w[i - 2] >> 10U);
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t one = h + (Rotated(e, 6) ^ Rotated(e, 11) ^ Rotated(e, 25)) + ((e & f) ^ (~e & g)) +
                                RootOfPrime(static_cast<int>(i), 1.0 / 3) + w[i];
      const std::uint32_t two = (Rotated(a, 2) ^ Rotated(a, 13) ^ Rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += added[i];
  }
  return state;
}

std::string Base64(const std::array<std::uint32_t, 8>& digest) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes, text;
  for (const std::uint32_t word : digest)
    for (unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(word >> shift);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (unsigned k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : letters[three >> (18U - 6U * k) & 63U];
  }
  return text;
}

TEST(PageScript, IsTheOneThatThePolicyNames) {
  EXPECT_EQ(Base64(Digest("abc")), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  EXPECT_EQ(kPageScriptHash, "sha256-" + Base64(Digest(kPageScript)));
}

TEST(PageScript, MakesNoMarkupAndAsksForNothing) {
  const std::string script = kPageScript;
  for (const char* part : {"<", "innerHTML", "eval", "fetch", "XMLHttpRequest", "import", "http", "location"})
    EXPECT_EQ(script.find(part), std::string::npos) << part;
  EXPECT_EQ(testing_support::Misnested(kPageTools), "");
}

}  // namespace
}  // namespace privacy_score
