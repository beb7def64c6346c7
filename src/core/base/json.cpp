/*
 * json.cpp - a small writer of JSON text.
 */
#include "core/base/json.hpp"

#include <cmath>

#include "core/base/rows.hpp"

namespace privacy_score {

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  Quote(key);
  text_ += ": ";
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  Quote(text);
  return *this;
}

JsonWriter& JsonWriter::Value(std::int64_t number) {
  Separate();
  text_ += TextOf(number);
  return *this;
}

JsonWriter& JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  Separate();
  text_ += TextOf(number);
  return *this;
}

JsonWriter& JsonWriter::Value(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::Value(const std::vector<std::string>& texts) {
  BeginArray();
  for (const std::string& text : texts) Value(std::string_view(text));
  return EndArray();
}

JsonWriter& JsonWriter::Value(const std::vector<double>& numbers) {
  BeginArray();
  for (const double number : numbers) Value(number);
  return EndArray();
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

void JsonWriter::Separate() {
  if (needs_comma_) text_ += ", ";
  needs_comma_ = true;
}

void JsonWriter::Quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (byte < 0x20) {
      text_ += "\\u00";
      text_ += kHex[byte >> 4U];
      text_ += kHex[byte & 15U];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

}  // namespace privacy_score
