/*
 * keyed_hash.cpp - SipHash-2-4 (see keyed_hash.hpp).
 */
#include "keyed_hash.hpp"

#include <cstddef>

namespace privacy_score {

namespace {

constexpr std::uint64_t Rotate(std::uint64_t word, unsigned bits) { return word << bits | word >> (64U - bits); }

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void Rounds(int count) {
    while (count-- > 0) {
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
  }
  void Compress(std::uint64_t word) {
    v3 ^= word;
    Rounds(2);
    v0 ^= word;
  }
};

// Up to eight bytes as a little-endian word.
std::uint64_t Word(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8U * i);
  return word;
}

}  // namespace

std::uint64_t KeyedHash(const HashKey& key, std::string_view bytes) {
  SipState state = {key.low ^ 0x736f6d6570736575U, key.high ^ 0x646f72616e646f6dU, key.low ^ 0x6c7967656e657261U,
                    key.high ^ 0x7465646279746573U};
  const std::uint64_t length = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) state.Compress(Word(bytes.substr(0, 8)));
  state.Compress(Word(bytes) | length << 56U);
  state.v2 ^= 0xff;
  state.Rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

// The mixer of splitmix64: what goes in is hashed already.
std::uint64_t FoldHash(std::uint64_t sequence, std::uint64_t element) {
  std::uint64_t word = Rotate(sequence, 23) + 0x9e3779b97f4a7c15U;
  word = (word ^ element) * 0xbf58476d1ce4e5b9U;
  word = (word ^ word >> 27U) * 0x94d049bb133111ebU;
  return word ^ word >> 31U;
}

std::uint64_t NameHash(std::string_view name) { return KeyedHash({0, 0}, name); }

}  // namespace privacy_score
