/*
 * constant_hash.cpp - see constant_hash.hpp.
 */
#include "core/base/constant_hash.hpp"

#include <cstddef>
#include <string>

namespace privacy_score {

namespace {

// Numbers of more digits may not fit.
constexpr std::size_t kDigitsThatFit = 18;
constexpr std::int64_t kGreatestThatFits = 999999999999999999;

// Whether a text is how a whole number is written, of so many digits that it surely fits.
bool IsNumber(std::string_view text, std::int64_t* number) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > kDigitsThatFit) return false;
  if (text.front() == '0' && (negative || text.size() > 1)) return false;
  std::int64_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return false;
    value = 10 * value + (digit - '0');
  }
  *number = negative ? -value : value;
  return true;
}

}  // namespace

std::uint64_t ConstantHash(const HashKey& key, std::string_view text) {
  std::int64_t number = 0;
  return IsNumber(text, &number) ? ConstantHashOfShort(key, number) : KeyedHash(key, text);
}

std::uint64_t ConstantHash(const HashKey& key, std::int64_t number) {
  const bool is_short = number >= -kGreatestThatFits && number <= kGreatestThatFits;
  return is_short ? ConstantHashOfShort(key, number) : KeyedHash(key, std::to_string(number));
}

}  // namespace privacy_score
