/*
 * comments.cpp - see comments.hpp.
 *
 * The format is that of sqlcommenter: a quote within a value is \', and a backslash elsewhere is none of its own. Keys
 * begin with no hyphen and have no two in a row: else a text that is cut off by "--" could take the key of the comment
 * behind it for its own.
 */
#include "core/principal/comments.hpp"

#include <cstddef>
#include <utility>

#include "core/base/characters.hpp"
#include "core/principal/end_user.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kUnfinished = std::string_view::npos;

// Whether `mark` begins at `at`, which may be the end of the text.
bool StandsAt(std::string_view text, std::size_t at, std::string_view mark) {
  if (text.size() - at < mark.size()) return false;
  for (std::size_t i = 0; i < mark.size(); ++i) {
    if (text[at + i] != mark[i]) return false;
  }
  return true;
}

bool EndsLine(char c) { return c == '\n' || c == '\r'; }

// The functions below give the position behind what begins at `at`, or kUnfinished.

std::size_t LineEnd(std::string_view sql, std::size_t at) {
  while (at < sql.size() && !EndsLine(sql[at])) ++at;
  return at;
}

std::size_t BlockEnd(std::string_view sql, std::size_t at) {
  std::size_t depth = 1;
  for (at += 2; at < sql.size();) {
    if (StandsAt(sql, at, "/*")) {
      ++depth;
      at += 2;
    } else if (StandsAt(sql, at, "*/")) {
      at += 2;
      if (--depth == 0) return at;
    } else {
      ++at;
    }
  }
  return kUnfinished;
}

// A string without escapes, or an identifier in quotes. A doubled quote ends one and begins another, to the same
// effect.
std::size_t QuoteEnd(std::string_view sql, std::size_t at) {
  const std::size_t end = sql.find(sql[at], at + 1);
  return end == std::string_view::npos ? kUnfinished : end + 1;
}

// The quote with which a string goes on behind a line end, or npos. Only white space and comments of lines may stand
// between its parts.
std::size_t ContinuedAt(std::string_view sql, std::size_t at) {
  bool line_ended = false;
  while (at < sql.size()) {
    if (IsWhiteSpace(sql[at])) {
      line_ended = line_ended || EndsLine(sql[at]);
      ++at;
    } else if (StandsAt(sql, at, "--")) {
      at = LineEnd(sql, at);
    } else {
      break;
    }
  }
  return line_ended && at < sql.size() && sql[at] == '\'' ? at : std::string_view::npos;
}

// A string with escapes, from its opening quote, with the parts on further lines, which have escapes, too.
std::size_t EscapedEnd(std::string_view sql, std::size_t at) {
  for (++at; at < sql.size(); ++at) {
    if (sql[at] == '\\') {
      ++at;
    } else if (sql[at] == '\'') {
      if (StandsAt(sql, at + 1, "'")) {
        ++at;
      } else {
        const std::size_t next = ContinuedAt(sql, at + 1);
        if (next == std::string_view::npos) return at + 1;
        at = next;
      }
    }
  }
  return kUnfinished;
}

// A string in dollar quotes, or a single dollar.
std::size_t DollarEnd(std::string_view sql, std::size_t at) {
  std::size_t tag_end = at + 1;
  if (tag_end < sql.size() && BeginsIdentifier(sql[tag_end]))
    while (tag_end < sql.size() && IsOfIdentifier(sql[tag_end])) ++tag_end;
  if (!StandsAt(sql, tag_end, "$")) return at + 1;
  ++tag_end;
  const std::string_view mark = sql.substr(at, tag_end - at);
  const std::size_t end = sql.find(mark, tag_end);
  return end == std::string_view::npos ? kUnfinished : end + mark.size();
}

// What is neither white space nor comment. Numbers are read a digit at a time, for grammar lets no string follow one.
std::size_t TokenEnd(std::string_view sql, std::size_t at) {
  const char c = sql[at];
  if (c == '\'' || c == '"') return QuoteEnd(sql, at);
  if (c == '$') return DollarEnd(sql, at);
  if ((c == 'e' || c == 'E') && StandsAt(sql, at + 1, "'")) return EscapedEnd(sql, at + 1);
  if (!BeginsIdentifier(c)) return at + 1;
  while (at < sql.size() && (IsOfIdentifier(sql[at]) || sql[at] == '$')) ++at;
  return at;
}

struct FoundComment {
  std::string_view text;
  bool is_run = false;  // of lines with --
};

struct FoundComments {
  std::optional<FoundComment> first, last;
};

FoundComments FindComments(std::string_view sql) {
  FoundComments found;
  bool begun = false;     // something else than comments has come
  bool in_lines = false;  // only white space has come since a comment of a line
  for (std::size_t at = 0; at < sql.size();) {
    if (IsWhiteSpace(sql[at])) {
      ++at;
      continue;
    }
    std::size_t end;
    if (StandsAt(sql, at, "--")) {
      end = LineEnd(sql, at);
      const bool goes_on = in_lines && found.last;
      const char* text = goes_on ? found.last->text.data() : sql.data() + at + 2;
      const bool is_first = !begun && (!found.first || (goes_on && found.first->text.data() == text));
      found.last = {std::string_view(text, static_cast<std::size_t>(sql.data() + end - text)), true};
      if (is_first) found.first = found.last;
      in_lines = true;
    } else if (StandsAt(sql, at, "/*")) {
      end = BlockEnd(sql, at);
      if (end == kUnfinished) return {found.first, std::nullopt};
      found.last = {sql.substr(at + 2, end - at - 4), false};
      if (!begun && !found.first) found.first = found.last;
      in_lines = false;
    } else {
      begun = true;
      in_lines = false;
      if (sql[at] == ';') {
        end = at + 1;
      } else {
        found.last.reset();
        end = TokenEnd(sql, at);
        if (end == kUnfinished) return {found.first, std::nullopt};
      }
    }
    at = end;
  }
  return found;
}

// What a percent-encoded text stands for. A malformed escape stays as it is, and `well_formed` becomes false.
std::string PercentDecoded(std::string_view text, bool* well_formed) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    decoded += text[i];
    if (text[i] != '%') continue;
    const int high = i + 1 < text.size() ? HexValue(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      *well_formed = false;
    } else {
      decoded.back() = static_cast<char>(static_cast<unsigned char>(high * 16 + low));
      i += 2;
    }
  }
  return decoded;
}

// Whether a comment in whatever format has the key and an equals sign.
bool NamesKey(std::string_view comment, std::string_view key) {
  bool unused = true;
  return PercentDecoded(comment, &unused).find(std::string(key) + '=') != std::string::npos;
}

bool IsOfTagKey(char c) {
  return static_cast<unsigned char>(c) < 0x80 &&
         (IsOfIdentifier(c) || std::string_view("-.~/:%").find(c) != std::string_view::npos);
}

// Reads the pairs of one comment.
class TagReader {
 public:
  explicit TagReader(std::string_view comment) : text_(WithoutOuterSpace(comment)) {}

  enum class State { kPair, kEnd, kNotInFormat };

  // The next pair: its key is decoded, of its value quotes are without their backslashes.
  State Next(std::string* key, std::string* value) {
    if (at_ == text_.size() && at_ > 0) return State::kEnd;
    if (at_ > 0) {
      if (text_[at_] != ',') return State::kNotInFormat;
      ++at_;
      SkipSpace();
    }
    if (!ReadKey(key) || !StandsAt(text_, at_, "='")) return State::kNotInFormat;
    at_ += 2;
    if (!ReadValue(value)) return State::kNotInFormat;
    SkipSpace();
    return State::kPair;
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && IsWhiteSpace(text_[at_])) ++at_;
  }

  bool ReadKey(std::string* key) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsOfTagKey(text_[at_])) ++at_;
    const std::string_view encoded = text_.substr(begin, at_ - begin);
    if (encoded.empty() || encoded.front() == '-' || encoded.find("--") != std::string_view::npos) return false;
    bool well_formed = true;
    *key = PercentDecoded(encoded, &well_formed);
    return well_formed;
  }

  bool ReadValue(std::string* value) {
    value->clear();
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\'') {
        ++at_;
        return true;
      }
      if (text_[at_] == '\\' && !StandsAt(text_, ++at_, "'")) return false;
      *value += text_[at_];
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// What a comment, or several, say of a tag.
struct TagFound {
  int times = 0;
  std::string value;   // encoded, where it was found last
  bool named = false;  // a comment that is not in the format names it
};

void FindTagInLine(std::string_view comment, std::string_view key, TagFound* found) {
  TagReader reader(comment);
  TagFound here;
  std::string name, value;
  for (;;) {
    const TagReader::State state = reader.Next(&name, &value);
    if (state == TagReader::State::kNotInFormat) {
      found->named = found->named || NamesKey(comment, key);
      return;
    }
    if (state == TagReader::State::kEnd) break;
    if (name != key) continue;
    ++here.times;
    here.value = value;
  }
  if (here.times == 0) return;
  found->times += here.times;
  found->value = std::move(here.value);
}

TagFound FindTag(const FoundComment& comment, std::string_view key) {
  TagFound found;
  if (!comment.is_run) {
    FindTagInLine(comment.text, key, &found);
    return found;
  }
  for (std::size_t at = 0; at < comment.text.size();) {
    const std::size_t end = LineEnd(comment.text, at);
    std::string_view line = comment.text.substr(at, end - at);
    if (at > 0) {
      line = WithoutOuterSpace(line);
      if (StandsAt(line, 0, "--")) line.remove_prefix(2);
    }
    FindTagInLine(line, key, &found);
    at = end + 1;
  }
  return found;
}

}  // namespace

OuterComments OuterCommentsOf(std::string_view sql) {
  const FoundComments found = FindComments(sql);
  return {found.first ? found.first->text : std::string_view(), found.last ? found.last->text : std::string_view()};
}

std::optional<std::string> CommentTag(std::string_view sql, std::string_view key) {
  const FoundComments comments = FindComments(sql);
  const bool is_one = comments.first && comments.last && comments.first->text.data() == comments.last->text.data();
  const TagFound first = comments.first && !is_one ? FindTag(*comments.first, key) : TagFound();
  const TagFound last = comments.last ? FindTag(*comments.last, key) : TagFound();
  if (first.times == 0 && last.times == 0) return std::nullopt;
  bool is_told = first.times <= 1 && last.times <= 1 && !last.named;
  std::string value = PercentDecoded(last.times > 0 ? last.value : first.value, &is_told);
  if (first.times > 0 && PercentDecoded(first.value, &is_told) != value) is_told = false;
  if (!is_told) value = kInvalidEndUser;
  return value;
}

}  // namespace privacy_score
