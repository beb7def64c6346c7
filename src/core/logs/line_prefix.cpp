/*
 * line_prefix.cpp - see line_prefix.hpp.
 */
#include "core/logs/line_prefix.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr std::string_view kPrimary[] = {"LOG",  "ERROR",  "FATAL",  "PANIC",  "WARNING", "NOTICE",
                                         "INFO", "DEBUG1", "DEBUG2", "DEBUG3", "DEBUG4",  "DEBUG5"};
constexpr std::string_view kFurther[] = {"DETAIL", "HINT", "CONTEXT", "STATEMENT", "QUERY", "LOCATION", "BACKTRACE"};

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// How many characters from `at` on `is` holds for.
template <typename Is>
std::size_t Run(std::string_view line, std::size_t at, Is is) {
  std::size_t end = at;
  while (end < line.size() && is(line[end])) ++end;
  return end - at;
}

// "2026-11-27 07:05:47.906 UTC": its length; 0 when there is none.
std::size_t TimeAt(std::string_view line, std::size_t at) {
  constexpr std::string_view kForm = "dddd-dd-dd dd:dd:dd";
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (at + i >= line.size()) return 0;
    if (kForm[i] == 'd' ? !IsDigit(line[at + i]) : line[at + i] != kForm[i]) return 0;
  }
  std::size_t end = at + kForm.size();
  if (end < line.size() && line[end] == '.') end += 1 + Run(line, end + 1, IsDigit);
  if (end >= line.size() || line[end] != ' ') return 0;
  const std::size_t zone = Run(line, end + 1, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '/' || c == '_';
  });
  return zone == 0 ? 0 : end + 1 + zone - at;
}

// The severity at a place and its end, behind ":  "; empty when there is none.
std::string_view SeverityAt(std::string_view line, std::size_t at, std::size_t* end) {
  const std::size_t length =
      Run(line, at, [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0 || IsDigit(c); });
  if (length == 0 || line.substr(at + length, 3) != ":  ") return {};
  const std::string_view word = line.substr(at, length);
  if (std::find(std::begin(kPrimary), std::end(kPrimary), word) == std::end(kPrimary) && !IsFurther(word)) return {};
  *end = at + length + 3;
  return word;
}

std::string_view WithoutSpaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool IsFree(char escape) { return std::string_view("udarhbievxL").find(escape) != std::string_view::npos; }

// Where a part that is neither free nor literal ends, which begins at `at`; `at` itself when it is not there.
std::size_t EndOfFixed(char escape, std::string_view line, std::size_t at) {
  if (escape == 'm' || escape == 't' || escape == 's') return at + TimeAt(line, at);
  return at + Run(line, at, [&](char c) { return IsDigit(c) || c == '.' || c == '-' || (escape == 'c' && IsHex(c)); });
}

// How far the beginnings of lines are looked through for other readings: names have 63 bytes where they are let in.
constexpr std::size_t kLongestBeginning = 1024;

}  // namespace

bool IsFurther(std::string_view severity) {
  return std::find(std::begin(kFurther), std::end(kFurther), severity) != std::end(kFurther);
}

LinePrefix::LinePrefix(std::string_view prefix) {
  bool all = true;
  of_all_ = 0;
  std::string escapes;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    const bool ends = i + 1 >= prefix.size();
    if (prefix[i] != '%' || ends || prefix[i + 1] == '%') {
      if (parts_.empty() || parts_.back().escape != 0) parts_.emplace_back();
      parts_.back().literal += prefix[i];
      if (prefix[i] == '%' && !ends) ++i;
      continue;
    }
    ++i;
    while (i + 1 < prefix.size() && (prefix[i] == '-' || IsDigit(prefix[i]))) ++i;
    if (prefix[i] == 'q') {
      if (all) of_all_ = parts_.size();
      all = false;
      continue;
    }
    if (std::string_view("mtsnplcPQ").find(prefix[i]) == std::string_view::npos && !IsFree(prefix[i])) continue;
    parts_.push_back({prefix[i], {}});
    escapes += prefix[i];
  }
  if (all) of_all_ = parts_.size();
  const auto has = [&](std::string_view any) { return escapes.find_first_of(any) != std::string::npos; };
  if (!has("u") || !has("mtn") || !has("cp"))
    throw InvalidValue(
        "lines with the prefix \"" + std::string(prefix) + "\" do not tell who, when and which connection",
        "log_line_prefix needs %m, %u, and %c or %p, such as '%m [%p] %q%u@%d '. csvlog and jsonlog have "
        "them always.");
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i)
    if (IsFree(parts_[i].escape) && parts_[i + 1].escape != 0)
      throw InvalidValue(std::string("in the prefix \"") + std::string(prefix) + "\" nothing ends %" + parts_[i].escape,
                         "Put a character between the two, or read csvlog or jsonlog.");
}

bool LinePrefix::MatchParts(std::string_view line, std::size_t count, LogRecord* record, std::size_t* at) const {
  for (std::size_t i = 0; i < count; ++i) {
    const Part& part = parts_[i];
    if (part.escape == 0) {
      if (line.substr(*at, part.literal.size()) != part.literal) return false;
      *at += part.literal.size();
      continue;
    }
    while (*at < line.size() && line[*at] == ' ') ++*at;
    std::size_t length = 0;
    if (IsFree(part.escape)) {
      std::size_t end = i + 1 < parts_.size() ? line.find(parts_[i + 1].literal, *at) : line.size();
      if (i + 1 == parts_.size()) {
        std::size_t behind;
        for (end = *at; end < line.size() && SeverityAt(line, end, &behind).empty(); ++end) {
        }
      }
      if (end == std::string_view::npos) return false;
      length = end - *at;
    } else {
      length = EndOfFixed(part.escape, line, *at) - *at;
    }
    if (length == 0 && !IsFree(part.escape)) return false;
    const std::string_view value = WithoutSpaces(line.substr(*at, length));
    *at += length;
    const bool known = value != "[unknown]";
    if (part.escape == 'u' && known) record->role = value;
    if (part.escape == 'd' && known) record->database = value;
    if (part.escape == 'm' || part.escape == 't' || part.escape == 'n') record->at = value;
    if (part.escape == 'c' || (part.escape == 'p' && record->session.empty())) record->session = value;
  }
  return true;
}

// Whether a longer free part would have the message begin elsewhere. All ends of each part are followed at once.
bool LinePrefix::HasOtherEnd(std::string_view line, std::size_t count, std::size_t length) const {
  line = line.substr(0, length + kLongestBeginning);
  std::vector<bool> ends(line.size() + 1);
  ends[0] = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Part& part = parts_[i];
    std::vector<bool> next(line.size() + 1);
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (!ends[at]) continue;
      if (part.escape == 0) {
        if (line.substr(at, part.literal.size()) == part.literal) next[at + part.literal.size()] = true;
        continue;
      }
      const std::size_t begin = at + Run(line, at, [](char c) { return c == ' '; });
      if (IsFree(part.escape)) {
        std::fill(next.begin() + static_cast<std::ptrdiff_t>(begin), next.end(), true);
        break;  // those of later beginnings are among them
      }
      const std::size_t end = EndOfFixed(part.escape, line, begin);
      if (end > begin) next[end] = true;
    }
    ends = std::move(next);
  }
  std::size_t message = 0;
  for (std::size_t at = 0; at < line.size(); ++at)
    if (ends[at] && !SeverityAt(line, at, &message).empty() && message != length) return true;
  return false;
}

bool LinePrefix::Match(std::string_view line, LogRecord* record, std::size_t* length) const {
  for (const std::size_t count : {parts_.size(), of_all_}) {
    LogRecord found;
    std::size_t at = 0;
    if (!MatchParts(line, count, &found, &at)) continue;
    const std::string_view severity = SeverityAt(line, at, length);
    if (severity.empty()) continue;
    // Hardly any line has what could end another prefix.
    if (line.substr(*length, kLongestBeginning).find(":  ") != std::string_view::npos &&
        (HasOtherEnd(line, parts_.size(), *length) || HasOtherEnd(line, of_all_, *length)))
      return false;
    found.severity = severity;
    *record = std::move(found);
    return true;
  }
  return false;
}

}  // namespace privacy_score
