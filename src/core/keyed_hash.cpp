/*
 * keyed_hash.cpp - SipHash-2-4 (see keyed_hash.hpp).
 */
#include "keyed_hash.hpp"

#include <cstddef>

#include <boost/endian/conversion.hpp>

namespace privacy_score {

namespace {

constexpr std::uint64_t Rotate(std::uint64_t word, unsigned bits) { return word << bits | word >> (64U - bits); }

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1;
    v1 = Rotate(v1, 13) ^ v0;
    v0 = Rotate(v0, 32);
    v2 += v3;
    v3 = Rotate(v3, 16) ^ v2;
    v0 += v3;
    v3 = Rotate(v3, 21) ^ v0;
    v2 += v1;
    v1 = Rotate(v1, 17) ^ v2;
    v2 = Rotate(v2, 32);
  }
  void Compress(std::uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
};

// Fewer than eight bytes as a little-endian word.
std::uint64_t LastWord(const unsigned char* bytes, std::size_t size) {
  std::uint64_t word = 0;
  while (size-- > 0) word = word << 8U | bytes[size];
  return word;
}

}  // namespace

std::uint64_t KeyedHash(const HashKey& key, std::string_view bytes) {
  SipState state = {key.low ^ 0x736f6d6570736575U, key.high ^ 0x646f72616e646f6dU, key.low ^ 0x6c7967656e657261U,
                    key.high ^ 0x7465646279746573U};
  const std::uint64_t length = bytes.size();
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char* end = at + length / 8 * 8;
  for (; at != end; at += 8) state.Compress(boost::endian::load_little_u64(at));
  state.Compress(LastWord(at, length % 8) | length << 56U);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

std::uint64_t NameHash(std::string_view name) { return KeyedHash({0, 0}, name); }

}  // namespace privacy_score
