/*
 * end_user.cpp - see end_user.hpp.
 */
#include "core/principal/end_user.hpp"

#include "core/base/characters.hpp"

namespace privacy_score {

namespace {

// What stands for the end users for whom there was no room.
constexpr std::string_view kOverflowEndUser = "(overflow)";

// The code point at the beginning of `text`, which is not empty; its length in bytes is 0 when it is not UTF-8.
struct CodePoint {
  char32_t code = 0;
  std::size_t bytes = 0;
};

CodePoint FirstCodePoint(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (next & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes};
}

bool IsControl(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string_view CheckedEndUser(std::string_view name) {
  name = WithoutOuterSpace(name);
  if (name.size() > kMostEndUserBytes || name == kOverflowEndUser) return kInvalidEndUser;
  for (std::string_view rest = name; !rest.empty();) {
    const CodePoint next = FirstCodePoint(rest);
    if (next.bytes == 0 || IsControl(next.code)) return kInvalidEndUser;
    rest.remove_prefix(next.bytes);
  }
  // A name that reads "(invalid)" is what stands for it.
  return name;
}

}  // namespace privacy_score
