/*
 * constant_hash.hpp - which keyed hash a constant has, whatever it was written as or its type is.
 *
 * A whole number is hashed as one also where it comes as text, so that 5, 5::bigint and '5' are the same. The server
 * hashes values, the text front end what stands in a text; they agree on numbers and texts.
 */
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/keyed_hash.hpp"

namespace privacy_score {

// Of a text, of any bytes.
std::uint64_t ConstantHash(const HashKey& key, std::string_view text);

// Of a number that is surely the number of its text: any of at most 18 digits.
[[gnu::hot]] inline std::uint64_t ConstantHashOfShort(const HashKey& key, std::int64_t number) {
  return KeyedHash(key, number);
}

// Of any number.
std::uint64_t ConstantHash(const HashKey& key, std::int64_t number);

}  // namespace privacy_score
