/*
 * json_field.cpp - see json_field.hpp.
 */
#include "core/base/json_field.hpp"

#include <cstddef>
#include <utility>

#include "core/base/characters.hpp"

namespace privacy_score {

namespace {

// Appends a code point in UTF-8; of a surrogate the three bytes that it would have.
void AppendCodePoint(char32_t code, std::string* text) {
  const auto append = [&](char32_t byte) { *text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    append(code);
    return;
  }
  if (code < 0x800) {
    append(0xC0U | (code >> 6U));
  } else {
    if (code < 0x10000) {
      append(0xE0U | (code >> 12U));
    } else {
      append(0xF0U | (code >> 18U));
      append(0x80U | ((code >> 12U) & 0x3FU));
    }
    append(0x80U | ((code >> 6U) & 0x3FU));
  }
  append(0x80U | (code & 0x3FU));
}

// Reads JSON text from its beginning to its end. Functions that return bool return false when what they read is not
// there; the text is no JSON then.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  // The whole text as an object; `field` becomes the value of `key`, `written` its text.
  bool ReadObject(std::string_view key, std::optional<std::string>* field, std::optional<std::string_view>* written) {
    SkipSpace();
    if (!Take('{')) return false;
    SkipSpace();
    if (!Take('}')) {
      do {
        std::string name;
        if (!ReadName(&name)) return false;
        SkipSpace();
        const std::size_t begin = at_;
        std::optional<std::string> value;
        if (!ReadValue(&value)) return false;
        if (name == key) {
          *field = std::move(value);
          *written = text_.substr(begin, at_ - begin);
        }
        SkipSpace();
      } while (Take(','));
      if (!Take('}')) return false;
    }
    SkipSpace();
    return at_ == text_.size();
  }

 private:
  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }

  bool TakeDigits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > begin;
  }

  void SkipSpace() {
    while (Take(' ') || Take('\t') || Take('\n') || Take('\r')) continue;
  }

  // A key and its colon.
  bool ReadName(std::string* name) {
    SkipSpace();
    if (!ReadString(name)) return false;
    SkipSpace();
    return Take(':');
  }

  // A value of any kind; `value` stays empty for null, an object and an array.
  bool ReadValue(std::optional<std::string>* value) {
    std::string open;  // brackets
    for (;;) {
      SkipSpace();
      if (Take('[')) {
        SkipSpace();
        if (!Take(']')) {
          open += '[';
          continue;
        }
      } else if (Take('{')) {
        SkipSpace();
        if (!Take('}')) {
          open += '{';
          if (!ReadName(nullptr)) return false;
          continue;
        }
      } else if (!ReadScalar(open.empty() ? value : nullptr)) {
        return false;
      }
      // A value has ended, and with it maybe what it stands in.
      for (;; open.pop_back()) {
        if (open.empty()) return true;
        SkipSpace();
        if (Take(',')) {
          if (open.back() == '{' && !ReadName(nullptr)) return false;
          break;
        }
        if (!Take(open.back() == '{' ? '}' : ']')) return false;
      }
    }
  }

  bool ReadScalar(std::optional<std::string>* value) {
    if (at_ < text_.size() && text_[at_] == '"') {
      if (value == nullptr) return ReadString(nullptr);
      return ReadString(&value->emplace());
    }
    if (TakeWord("null")) return true;
    const std::size_t begin = at_;
    if (!TakeWord("true") && !TakeWord("false") && !TakeNumber()) return false;
    if (value != nullptr) value->emplace(text_.substr(begin, at_ - begin));
    return true;
  }

  bool TakeNumber() {
    Take('-');
    if (!Take('0') && !TakeDigits()) return false;
    if (Take('.') && !TakeDigits()) return false;
    if (!Take('e') && !Take('E')) return true;
    if (!Take('+')) Take('-');
    return TakeDigits();
  }

  // A string without its quotes; `string` may be null.
  bool ReadString(std::string* string) {
    std::string unused;
    if (string == nullptr) string = &unused;
    if (!Take('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        *string += c;
      } else if (!ReadEscape(string)) {
        return false;
      }
    }
    return false;
  }

  // What follows a backslash.
  bool ReadEscape(std::string* string) {
    static constexpr std::string_view kEscapes = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return false;
    const std::size_t escape = kEscapes.find(text_[at_]);
    if (escape != std::string_view::npos) {
      ++at_;
      *string += kMeanings[escape];
      return true;
    }
    char32_t code = 0;
    if (!ReadUnit(&code)) return false;
    if (code >= 0xD800 && code <= 0xDBFF) {
      const std::size_t behind = at_;
      char32_t low = 0;
      if (Take('\\') && ReadUnit(&low) && low >= 0xDC00 && low <= 0xDFFF) {
        code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
      } else {
        at_ = behind;
      }
    }
    AppendCodePoint(code, string);
    return true;
  }

  // u and four hexadecimal digits.
  bool ReadUnit(char32_t* code) {
    if (!Take('u')) return false;
    for (int i = 0; i < 4; ++i) {
      const int digit = at_ < text_.size() ? HexValue(text_[at_]) : -1;
      if (digit < 0) return false;
      *code = (*code << 4U) | static_cast<char32_t>(digit);
      ++at_;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::string> JsonField(std::string_view json, std::string_view key) {
  std::optional<std::string> field;
  std::optional<std::string_view> written;
  if (!JsonScanner(json).ReadObject(key, &field, &written)) return std::nullopt;
  return field;
}

std::optional<std::string_view> JsonFieldAsWritten(std::string_view json, std::string_view key) {
  std::optional<std::string> field;
  std::optional<std::string_view> written;
  if (!JsonScanner(json).ReadObject(key, &field, &written)) return std::nullopt;
  return written;
}

}  // namespace privacy_score
