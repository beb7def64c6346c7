/*
 * names.cpp - see names.hpp.
 */
#include "core/base/names.hpp"

#include <algorithm>
#include <cstddef>

namespace privacy_score {

bool IsBareName(std::string_view name) noexcept {
  const auto begins = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto goes_on = [&](char c) { return begins(c) || (c >= '0' && c <= '9') || c == '$'; };
  return !name.empty() && begins(name.front()) && std::all_of(name.begin(), name.end(), goes_on);
}

std::string QuoteName(std::string_view name) {
  if (IsBareName(name)) return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + '"';
}

std::string UnquoteName(std::string_view identifier) {
  if (identifier.size() < 2 || identifier.front() != '"') return std::string(identifier);
  std::string name;
  for (std::size_t i = 1; i + 1 < identifier.size(); ++i) {
    name += identifier[i];
    if (identifier[i] == '"') ++i;  // a doubled quote
  }
  return name;
}

QualifiedName SplitName(std::string_view qualified) {
  bool quoted = false;
  for (std::size_t i = 0; i < qualified.size(); ++i) {
    if (qualified[i] == '"') quoted = !quoted;
    if (qualified[i] == '.' && !quoted) return {qualified.substr(0, i), qualified.substr(i + 1)};
  }
  return {{}, qualified};
}

std::string WithFewestQuotes(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text[i] == '"')
      for (; end < text.size(); ++end) {
        if (text[end] != '"') continue;
        if (++end == text.size() || text[end] != '"') break;
      }
    const std::string_view part = text.substr(i, end - i);
    const bool ends = part.size() > 2 && part.back() == '"';
    const std::string_view name = ends ? part.substr(1, part.size() - 2) : part;
    result += ends && IsBareName(name) ? name : part;
    i = end;
  }
  return result;
}

}  // namespace privacy_score
