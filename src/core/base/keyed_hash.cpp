/*
 * keyed_hash.cpp - SipHash-1-3 of bytes (see keyed_hash.hpp).
 */
#include "core/base/keyed_hash.hpp"

#include <cstddef>

#include <boost/endian/conversion.hpp>

namespace privacy_score {

namespace {

// Fewer than eight bytes as a little-endian word.
std::uint64_t LastWord(const unsigned char* bytes, std::size_t size) {
  std::uint64_t word = 0;
  while (size-- > 0) word = word << 8U | bytes[size];
  return word;
}

}  // namespace

std::uint64_t KeyedHash(const HashKey& key, std::string_view bytes) {
  SipHash hash(key);
  const std::uint64_t length = bytes.size();
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char* end = at + length / 8 * 8;
  for (; at != end; at += 8) hash.Add(boost::endian::load_little_u64(at));
  hash.Add(LastWord(at, length % 8) | length << 56U);
  return hash.Finish();
}

std::uint64_t NameHash(std::string_view name) { return KeyedHash({0, 0}, name); }

}  // namespace privacy_score
