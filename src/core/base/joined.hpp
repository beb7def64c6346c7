/*
 * joined.hpp - lists of texts as one text, and back.
 */
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

// The parts one after the other, with the separator between them.
inline std::string Joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

// The parts between separators, one character; of an empty text one empty part.
inline std::vector<std::string> Parted(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    parts.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

}  // namespace privacy_score
