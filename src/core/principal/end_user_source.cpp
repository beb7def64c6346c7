/*
 * end_user_source.cpp - see end_user_source.hpp.
 */
#include "core/principal/end_user_source.hpp"

#include <algorithm>
#include <cstddef>

#include "core/base/characters.hpp"
#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMostSources = 16;
constexpr std::string_view kOwnSetting = "privacy_score.end_user";
constexpr const char* kForms =
    "Sources are \"setting NAME\", \"setting NAME ->> KEY\", \"application_name\", \"comment KEY\", \"comment "
    "/REGEX/\" "
    "and \"privacy_score.end_user\".";

// Letters of ASCII in lower case, as the server compares names of settings.
std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool IsOfSettingName(char c) { return IsOfIdentifier(c) || c == '$' || c == '.'; }
bool IsOfBareKey(char c) { return IsOfSettingName(c) || c == ':' || c == '-'; }

// Whether parts that dots separate are identifiers.
bool IsSettingName(std::string_view name) {
  bool begins = true;
  for (const char c : name) {
    if (begins && !BeginsIdentifier(c)) return false;
    begins = c == '.';
  }
  return !begins;
}

// The end of the bracket expression that begins at `at`: its closing bracket, or behind the pattern.
std::size_t BracketEnd(std::string_view pattern, std::size_t at) {
  ++at;
  if (at < pattern.size() && pattern[at] == '^') ++at;
  if (at < pattern.size() && pattern[at] == ']') ++at;
  for (; at < pattern.size() && pattern[at] != ']'; ++at) {
    if (pattern[at] == '\\') {
      ++at;
    } else if (pattern[at] == '[' && at + 1 < pattern.size()) {
      const char kind = pattern[at + 1];  // [:alpha:], [.a.], [=a=]
      if (kind != ':' && kind != '.' && kind != '=') continue;
      const char closing[] = {kind, ']'};
      const std::size_t end = pattern.find(std::string_view(closing, 2), at + 2);
      if (end == std::string_view::npos) return pattern.size();
      at = end + 1;
    }
  }
  return at;
}

// How many groups of a pattern capture.
std::size_t GroupsOf(std::string_view pattern) {
  std::size_t groups = 0;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\') {
      ++at;
    } else if (pattern[at] == '[') {
      at = BracketEnd(pattern, at);
    } else if (pattern.compare(at, 3, "(?#") == 0) {
      at = std::min(pattern.find(')', at), pattern.size());
    } else if (pattern[at] == '(' && pattern.compare(at, 2, "(?") != 0) {
      ++groups;
    }
  }
  return groups;
}

class SourceParser {
 public:
  explicit SourceParser(std::string_view text) : text_(text) {}

  std::vector<EndUserSource> Parse() {
    std::vector<EndUserSource> sources;
    SkipSpace();
    if (at_ == text_.size()) return sources;
    for (;;) {
      SkipSpace();
      if (sources.size() == kMostSources)
        throw InvalidValue("there are more than " + std::to_string(kMostSources) + " sources" + Place(at_));
      sources.push_back(Source());
      SkipSpace();
      if (at_ == text_.size()) return sources;
      if (text_[at_] != ',') throw InvalidValue("a comma is missing" + Place(at_), kForms);
      ++at_;
    }
  }

 private:
  // " at character N", counted from one.
  std::string Place(std::size_t at) const {
    std::size_t characters = 1;
    for (const char c : text_.substr(0, at)) {
      if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++characters;
    }
    return " at character " + std::to_string(characters);
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsWhiteSpace(text_[at_])) ++at_;
  }

  template <typename Class>
  std::string_view Run(Class is_of) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  EndUserSource Source() {
    const std::size_t begin = at_;
    const std::string_view typed = Run(IsOfSettingName);
    const std::string word = InLowerCase(typed);
    if (word == "setting") return Setting();
    if (word == "application_name") return {EndUserSource::Kind::kApplicationName, {}, {}};
    if (word == "comment") return Comment();
    if (word == kOwnSetting) return {EndUserSource::Kind::kSetting, word, {}};
    if (word.empty()) throw InvalidValue("a source is missing" + Place(begin), kForms);
    throw InvalidValue("unknown source \"" + std::string(typed) + "\"" + Place(begin), kForms);
  }

  EndUserSource Setting() {
    SkipSpace();
    const std::size_t begin = at_;
    const std::string_view name = Run(IsOfSettingName);
    if (name.empty()) throw InvalidValue("the name of a setting is missing" + Place(begin), kForms);
    if (!IsSettingName(name))
      throw InvalidValue("invalid name of a setting \"" + std::string(name) + "\"" + Place(begin));
    EndUserSource source{EndUserSource::Kind::kSetting, InLowerCase(name), {}};
    SkipSpace();
    static constexpr std::string_view kArrow = "->>";
    if (text_.compare(at_, kArrow.size(), kArrow) == 0) {
      at_ += kArrow.size();
      SkipSpace();
      source.key = Key();
    }
    return source;
  }

  EndUserSource Comment() {
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == '/') return {EndUserSource::Kind::kCommentPattern, Pattern(), {}};
    return {EndUserSource::Kind::kCommentTag, Key(), {}};
  }

  std::string Key() {
    const std::size_t begin = at_;
    const std::string key = at_ < text_.size() && text_[at_] == '\'' ? Quoted() : std::string(Run(IsOfBareKey));
    if (key.empty()) throw InvalidValue("a key is missing" + Place(begin), kForms);
    return key;
  }

  std::string Quoted() {
    const std::size_t begin = at_;
    std::string key;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\'') {
        ++at_;
        if (at_ == text_.size() || text_[at_] != '\'') return key;
      }
      key += text_[at_];
    }
    throw InvalidValue("the quote" + Place(begin) + " is not closed");
  }

  std::string Pattern() {
    const std::size_t begin = at_;
    std::string pattern;
    for (++at_; at_ < text_.size() && text_[at_] != '/'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        if (text_[at_] != '/') pattern += '\\';
      }
      pattern += text_[at_];
    }
    if (at_ == text_.size()) throw InvalidValue("the pattern" + Place(begin) + " is not closed");
    ++at_;
    const std::size_t groups = GroupsOf(pattern);
    if (groups != 1)
      throw InvalidValue("the pattern" + Place(begin) + " must have one group, not " + std::to_string(groups));
    return pattern;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<EndUserSource> ParseEndUserSources(std::string_view text) { return SourceParser(text).Parse(); }

}  // namespace privacy_score
