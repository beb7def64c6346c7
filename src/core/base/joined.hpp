/*
 * joined.hpp - lists of texts as one text.
 */
#pragma once

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

}  // namespace privacy_score
