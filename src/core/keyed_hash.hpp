/*
 * keyed_hash.hpp - constants of statements, made unreadable.
 *
 * To count distinct constants one need not know them: they are replaced by SipHash-2-4 [Aumasson, Bernstein 2012] under
 * a key that is made when the server starts and is never stored. Without the key a hash tells nothing of its constant,
 * not even whether a guess is right; with another start of the server all hashes are others.
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

// SipHash-2-4 of the bytes.
std::uint64_t KeyedHash(const HashKey& key, std::string_view bytes);

// The hash of a sequence is folded from that of its elements, in order; an empty sequence is 0. The mixer is that of
// splitmix64: what goes in is hashed already.
inline std::uint64_t FoldHash(std::uint64_t sequence, std::uint64_t element) {
  std::uint64_t word = (sequence << 23U | sequence >> 41U) + 0x9e3779b97f4a7c15U;
  word = (word ^ element) * 0xbf58476d1ce4e5b9U;
  word = (word ^ word >> 27U) * 0x94d049bb133111ebU;
  return word ^ word >> 31U;
}

// What a name (of a column) is known by in the same places; names are no secret, so there is no key.
std::uint64_t NameHash(std::string_view name);

}  // namespace privacy_score
