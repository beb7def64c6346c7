/*
 * markup_fixture.hpp - whether a document is well-formed.
 */
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace privacy_score::testing_support {

// What is wrong with the nesting of a document's elements; empty when nothing is. HTML's void elements need no end.
inline std::string Misnested(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return "a tag within a tag: " + tag;
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "a quote without an end: " + tag;
    if (tag[0] == '!' || tag.back() == '/') continue;
    const bool closes = tag[0] == '/';
    const std::string name = tag.substr(closes ? 1 : 0, tag.find(' ') - (closes ? 1 : 0));
    if (name == "meta" || name == "br" || name == "input") continue;
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> ends " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "open: " + open.back();
}

}  // namespace privacy_score::testing_support
