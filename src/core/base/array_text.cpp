/*
 * array_text.cpp - see array_text.hpp.
 */
#include "core/base/array_text.hpp"

#include <cstddef>
#include <utility>

namespace privacy_score {

namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool Read(ArrayElements* elements) {
    SkipSpace();
    if (!SkipBounds()) return false;
    std::size_t depth = 0;
    bool wants_element = true;  // after { or a comma
    do {
      SkipSpace();
      if (AtEnd()) return false;
      const char c = text_[at_];
      if (c == '{') {
        if (!wants_element) return false;
        elements->nested = elements->nested || depth > 0;
        ++depth;
        ++at_;
        SkipSpace();
        if (AtEnd()) return false;
        wants_element = text_[at_] != '}';
        continue;
      }
      if (depth == 0) return false;
      if (c == '}' || c == ',') {
        if (wants_element) return false;
        if (c == '}') --depth;
        wants_element = c == ',';
        ++at_;
      } else {
        if (!wants_element || !Element(elements)) return false;
        wants_element = false;
      }
    } while (depth > 0);
    SkipSpace();
    return AtEnd();
  }

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  void SkipSpace() {
    while (!AtEnd() && IsSpace(text_[at_])) ++at_;
  }
  // [1:2][0:1]=
  bool SkipBounds() {
    if (AtEnd() || text_[at_] != '[') return true;
    const std::size_t end = text_.find('=', at_);
    if (end == std::string_view::npos) return false;
    at_ = end + 1;
    SkipSpace();
    return true;
  }
  bool Element(ArrayElements* elements) {
    std::string value;
    bool quoted = false;
    std::size_t kept = 0;  // blanks behind it are no part of it
    bool within = false;
    for (; !AtEnd(); ++at_) {
      const char c = text_[at_];
      if (c == '\\') {
        if (++at_ == text_.size()) return false;
        value += text_[at_];
        kept = value.size();
        quoted = true;
      } else if (c == '"') {
        within = !within;
        kept = value.size();
        quoted = true;
      } else if (!within && (c == ',' || c == '}' || c == '{')) {
        if (c == '{') return false;
        break;
      } else {
        value += c;
        if (within || !IsSpace(c)) kept = value.size();
      }
    }
    if (within || (value.empty() && !quoted)) return false;
    value.resize(kept);
    const bool is_null = !quoted && value.size() == 4 && (value[0] | 0x20) == 'n' && (value[1] | 0x20) == 'u' &&
                         (value[2] | 0x20) == 'l' && (value[3] | 0x20) == 'l';
    elements->quoted = elements->quoted || quoted;
    if (is_null)
      elements->values.emplace_back(std::nullopt);
    else
      elements->values.emplace_back(std::move(value));
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<ArrayElements> ReadArrayText(std::string_view text) {
  ArrayElements elements;
  if (!Reader(text).Read(&elements)) return std::nullopt;
  return elements;
}

}  // namespace privacy_score
