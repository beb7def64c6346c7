/*
 * rows.cpp - reading and writing the tables of text of rows.hpp.
 */
#include "core/base/rows.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

template <typename T>
void PutNumber(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace

std::string_view Required(const Field& field) {
  if (!field) throw DamagedData("unexpected NULL");
  return *field;
}

std::string RequiredText(const Field& field) { return std::string(Required(field)); }

std::string TextOrNothing(const Field& field) { return field ? std::string(*field) : std::string(); }

template <typename T>
T WireReader::Number() {
  if (bytes_.size() - position_ < sizeof(T)) throw DamagedData("cut short");
  T value;
  std::memcpy(&value, bytes_.data() + position_, sizeof(T));
  position_ += sizeof(T);
  return value;
}

std::uint32_t WireReader::Head(std::uint32_t columns) {
  if (Number<std::uint32_t>() != columns) throw DamagedData("unexpected number of columns");
  return Number<std::uint32_t>();
}

void WireReader::Fill(Row& row) {
  for (Field& field : row) {
    const auto length = Number<std::int32_t>();
    field.reset();
    if (length < 0) continue;
    const auto size = static_cast<std::size_t>(length);
    if (bytes_.size() - position_ < size) throw DamagedData("cut short");
    field = bytes_.substr(position_, size);
    position_ += size;
  }
}

std::vector<Row> WireReader::Section(std::uint32_t columns) {
  const std::uint32_t count = Head(columns);
  std::vector<Row> rows;
  // A damaged count asks for no more memory than there are bytes for: each field has its length.
  rows.reserve(std::min<std::size_t>(count, (bytes_.size() - position_) / (columns * sizeof(std::int32_t))));
  for (std::uint32_t i = 0; i < count; ++i) {
    rows.emplace_back(columns);
    Fill(rows.back());
  }
  return rows;
}

void WireReader::EachRow(std::uint32_t columns, const std::function<void(const Row&)>& visit) {
  const std::uint32_t count = Head(columns);
  Row row(columns);
  for (std::uint32_t i = 0; i < count; ++i) {
    Fill(row);
    visit(row);
  }
}

void WireWriter::Section(std::uint32_t columns, const std::vector<std::vector<std::optional<std::string>>>& rows) {
  PutNumber<std::uint32_t>(bytes_, columns);
  PutNumber<std::uint32_t>(bytes_, static_cast<std::uint32_t>(rows.size()));
  for (const auto& row : rows) {
    if (row.size() != columns) throw DamagedData("a row of another width");
    for (const auto& field : row) {
      PutNumber<std::int32_t>(bytes_, field ? static_cast<std::int32_t>(field->size()) : -1);
      if (field) bytes_ += *field;
    }
  }
}

std::string TextOf(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end.ptr};
}

std::string TextOf(std::int64_t value) { return std::to_string(value); }

std::string ArrayText(const std::vector<std::string>& values) {
  std::string text = "{";
  for (const auto& value : values) {
    if (text.size() > 1) text += ',';
    text += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + '}';
}

namespace {
template <typename T>
std::string NumbersText(const std::vector<T>& values) {
  std::string text = "{";
  for (const auto& value : values) {
    if (text.size() > 1) text += ',';
    text += TextOf(value);
  }
  return text + '}';
}
}  // namespace

std::string ArrayText(const std::vector<std::int64_t>& values) { return NumbersText(values); }
std::string ArrayText(const std::vector<double>& values) { return NumbersText(values); }

std::vector<std::int64_t> ParseIntegers(std::string_view array) {
  if (array.size() < 2 || array.front() != '{' || array.back() != '}') throw DamagedData("not an array");
  std::vector<std::int64_t> values;
  const char* at = array.data() + 1;
  const char* end = array.data() + array.size() - 1;
  while (at != end) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(at, end, value);
    if (parsed.ec != std::errc() || (parsed.ptr != end && *parsed.ptr != ','))
      throw DamagedData("not an array of integers");
    values.push_back(value);
    at = parsed.ptr == end ? end : parsed.ptr + 1;
  }
  return values;
}

std::int64_t ParseInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) throw DamagedData("not an integer");
  return value;
}

std::optional<double> CountIn(const Field& field) {
  if (!field) return std::nullopt;
  return static_cast<double>(ParseInteger(*field));
}

double ParseDouble(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) throw DamagedData("not a number");
  return value;
}

bool ParseBool(std::string_view text) {
  if (text == "t" || text == "true") return true;
  if (text == "f" || text == "false") return false;
  throw DamagedData("not a boolean");
}

}  // namespace privacy_score
