/*
 * keyed_hash.hpp - constants of statements, made unreadable.
 *
 * To count distinct constants one need not know them: they are replaced by SipHash-1-3 [Aumasson, Bernstein 2012] under
 * a key. Without it a hash tells nothing of its constant, not even whether a guess is right; under another key all
 * hashes are others. Nobody gets at hashes who does not get at the key: they stay in the memory of the server, and
 * those of subjects in a table beside the key's. So one round a word and three at the end, which is what hash tables
 * that face attackers use, are enough.
 */
#pragma once

#include <cstdint>
#include <string_view>

namespace privacy_score {

// 128 bits, as the two little-endian words of the published algorithm. Plain data: it lives in shared memory.
struct HashKey {
  std::uint64_t low;
  std::uint64_t high;
};

// The state of one hash.
class SipHash {
 public:
  explicit SipHash(const HashKey& key)
      : v0_(key.low ^ 0x736f6d6570736575U),
        v1_(key.high ^ 0x646f72616e646f6dU),
        v2_(key.low ^ 0x6c7967656e657261U),
        v3_(key.high ^ 0x7465646279746573U) {}

  void Add(std::uint64_t word) {
    v3_ ^= word;
    Round();
    v0_ ^= word;
  }
  std::uint64_t Finish() {
    v2_ ^= 0xff;
    Round();
    Round();
    Round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  static constexpr std::uint64_t Rotate(std::uint64_t word, unsigned bits) {
    return word << bits | word >> (64U - bits);
  }
  void Round() {
    v0_ += v1_;
    v1_ = Rotate(v1_, 13) ^ v0_;
    v0_ = Rotate(v0_, 32);
    v2_ += v3_;
    v3_ = Rotate(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = Rotate(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = Rotate(v1_, 17) ^ v2_;
    v2_ = Rotate(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

// SipHash-1-3 of the bytes.
std::uint64_t KeyedHash(const HashKey& key, std::string_view bytes);

// The same of the eight bytes of a number, lowest first, and a zero byte, which no text ends with.
inline std::uint64_t KeyedHash(const HashKey& key, std::int64_t number) {
  SipHash hash(key);
  hash.Add(static_cast<std::uint64_t>(number));
  hash.Add(std::uint64_t{9} << 56U);
  return hash.Finish();
}

// The hash of a sequence is folded from that of its elements, in order; an empty sequence is 0. The mixer is that of
// splitmix64: what goes in is hashed already.
inline std::uint64_t FoldHash(std::uint64_t sequence, std::uint64_t element) {
  std::uint64_t word = (sequence << 23U | sequence >> 41U) + 0x9e3779b97f4a7c15U;
  word = (word ^ element) * 0xbf58476d1ce4e5b9U;
  word = (word ^ word >> 27U) * 0x94d049bb133111ebU;
  return word ^ word >> 31U;
}

// The last element of the sequence that is folded into `folded`, when those before it come to `sequence`: every step
// of the mixer can be undone.
inline std::uint64_t LastOfHash(std::uint64_t sequence, std::uint64_t folded) {
  std::uint64_t word = folded ^ folded >> 31U ^ folded >> 62U;
  word *= 0x319642b2d24d8ec3U;                                      // times 0x94d049bb133111eb is 1
  word = (word ^ word >> 27U ^ word >> 54U) * 0x96de1b173f119089U;  // times 0xbf58476d1ce4e5b9 is 1
  return word ^ ((sequence << 23U | sequence >> 41U) + 0x9e3779b97f4a7c15U);
}

// What a name (of a column) is known by in the same places; names are no secret, so there is no key.
std::uint64_t NameHash(std::string_view name);

}  // namespace privacy_score
