/*
 * readable.cpp - see readable.hpp.
 */
#include "core/base/readable.hpp"

#include <algorithm>
#include <cstddef>

namespace privacy_score {

namespace {

// Splits at `separator` outside of double quotes; empty parts are left out.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') quoted = !quoted;
    if (i < text.size() && (quoted || text[i] != separator)) continue;
    if (i > begin) parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

struct Clause {
  const char* kinds;  // letters of the tokens that belong to it
  const char* words;
};

// `cmd` is the word of the first.
constexpr Clause kClauses[] = {{"pf", ""},      {"s", "set "},      {"t", "from "},     {"j", "joined by "},
                               {"w", "where "}, {"g", "group by "}, {"o", "order by "}, {"l", "limited in order of "}};

void AddTo(std::string& list, std::string_view name) {
  if (!list.empty()) list += ", ";
  list += name;
}

}  // namespace

std::vector<std::string_view> NameParts(std::string_view name) { return Split(name, '.'); }

std::vector<std::string_view> LinesOf(std::string_view text) { return Split(text, '\n'); }

std::string_view ShortName(std::string_view name, std::size_t parts) {
  const std::vector<std::string_view> all = NameParts(name);
  if (all.size() <= parts) return name;
  return name.substr(static_cast<std::size_t>(all[all.size() - parts].data() - name.data()));
}

std::string ReadableStatement(std::string_view text) {
  const std::vector<std::string_view> tokens = Split(text, ' ');
  const auto relations =
      std::count_if(tokens.begin(), tokens.end(), [](std::string_view token) { return token.substr(0, 2) == "t:"; });
  std::string readable;
  bool known = false;
  for (const Clause& clause : kClauses) {
    std::string list;
    std::string command;
    for (const std::string_view token : tokens) {
      if (clause.kinds[0] == 'p' && token.substr(0, 4) == "cmd:") command = std::string(token.substr(4)) + " ";
      if (token.size() < 2 || token[1] != ':' ||
          std::string_view(clause.kinds).find(token[0]) == std::string_view::npos)
        continue;
      const std::string_view name = token.substr(2);
      const std::size_t parts = token[0] == 't' ? 1 : relations > 1 ? 2 : 1;
      const std::size_t bracket = token[0] == 'f' ? name.find('(') : std::string_view::npos;
      if (bracket == std::string_view::npos) {
        AddTo(list, ShortName(name, parts));
        continue;
      }
      std::string arguments;
      std::string_view inner = name.substr(bracket + 1);
      if (!inner.empty() && inner.back() == ')') inner.remove_suffix(1);
      for (const std::string_view argument : Split(inner, ',')) AddTo(arguments, ShortName(argument, parts));
      AddTo(list, std::string(name.substr(0, bracket)) + "(" + arguments + ")");
    }
    if (list.empty() && command.empty()) continue;
    known = true;
    if (!readable.empty()) readable += "\n";
    readable += command + clause.words + list;
    while (readable.back() == ' ') readable.pop_back();
  }
  return known ? readable : std::string(text);
}

}  // namespace privacy_score
