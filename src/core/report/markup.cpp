/*
 * markup.cpp - see markup.hpp.
 */
#include "core/report/markup.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace privacy_score {

namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

// Decodes the character that begins at `position` and moves behind it.
std::uint32_t NextCharacter(std::string_view text, std::size_t& position) {
  const auto first = static_cast<unsigned char>(text[position++]);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 && first < 0xF5   ? 3
                   : first >= 0xE0 && first < 0xF0 ? 2
                   : first >= 0xC2 && first < 0xE0 ? 1
                                                   : 0;
  if (more == 0 || position + static_cast<std::size_t>(more) > text.size()) return kReplacement;
  std::uint32_t character = first & (0x3FU >> static_cast<unsigned>(more));
  for (int i = 0; i < more; ++i) {
    const auto next = static_cast<unsigned char>(text[position + static_cast<std::size_t>(i)]);
    if ((next & 0xC0U) != 0x80) return kReplacement;
    character = character << 6U | (next & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0x80, 0x800, 0x10000};
  if (character < kLeast[more - 1] || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000))
    return kReplacement;
  position += static_cast<std::size_t>(more);
  return character;
}

bool IsAllowed(std::uint32_t character) {
  if (character < 0x20) return character == '\t' || character == '\n' || character == '\r';
  return character < 0x7F || (character >= 0xA0 && character != 0xFFFE && character != 0xFFFF);
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    std::uint32_t character = NextCharacter(text, position);
    if (!IsAllowed(character)) character = kReplacement;
    if (character >= 0x80 || character == '&' || character == '<' || character == '>' || character == '"' ||
        character == '\'')
      escaped += "&#" + std::to_string(character) + ";";
    else
      escaped += static_cast<char>(character);
  }
  return escaped;
}

std::string Shown(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  std::string text(buffer);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string ShownShort(double value) {
  const double size = std::abs(value);
  return Shown(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

}  // namespace privacy_score
