/*
 * characters.hpp - what white space and an identifier are made of.
 *
 * These are the classes of the server's scanner. They do not depend on a locale; each byte from 0x80 is a letter.
 */
#pragma once

#include <cstddef>
#include <string_view>

namespace privacy_score {

inline bool IsWhiteSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline bool BeginsIdentifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

inline bool IsOfIdentifier(char c) { return BeginsIdentifier(c) || (c >= '0' && c <= '9'); }

// The text without white space at its beginning and its end.
inline std::string_view WithoutOuterSpace(std::string_view text) {
  while (!text.empty() && IsWhiteSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsWhiteSpace(text.back())) text.remove_suffix(1);
  return text;
}

// The value of a hexadecimal digit; -1 when it is none.
inline int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace privacy_score
