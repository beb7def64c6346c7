/*
 * json.hpp - a small writer of JSON text.
 *
 * Commas and escapes are its business; the caller opens and closes what it opened. Strings are UTF-8 or whatever the
 * server's encoding is: bytes from 0x80 pass as they are.
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  // The key of the next value of an object.
  JsonWriter& Key(std::string_view key);
  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(std::int64_t number);
  JsonWriter& Value(double number);  // null when it is not finite
  JsonWriter& Value(bool value);
  JsonWriter& Null();
  // A value that is JSON text already.
  JsonWriter& Raw(std::string_view json);
  // Arrays of values.
  JsonWriter& Value(const std::vector<std::string>& texts);
  JsonWriter& Value(const std::vector<double>& numbers);

  const std::string& text() const { return text_; }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();
  void Quote(std::string_view text);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace privacy_score
