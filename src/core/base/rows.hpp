/*
 * rows.hpp - tables of text that cross the wall between the server and core.
 *
 * The backend runs SQL and appends the rows to one buffer (backend/server/wire.hpp); core reads them in place with
 * WireReader. Answers come back as a ResultTable, whose fields the backend hands to the input functions of the result
 * columns. One format for both the arguments of a function and the model in shared memory.
 *
 * Format of a section: uint32 columns, uint32 rows, then each field as int32 length (-1 for NULL) and its bytes.
 * All numbers in the byte order of the machine: a buffer never leaves it.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

// One field of a row that is read; null for NULL.
using Field = std::optional<std::string_view>;
using Row = std::vector<Field>;

// A field that may not be NULL; throws Error XX001 when it is.
std::string_view Required(const Field& field);
std::string RequiredText(const Field& field);

// A field, or nothing for NULL.
std::string TextOrNothing(const Field& field);

// Reads sections one after the other. The bytes must outlive the reader and all fields. Throws Error XX001 when the
// buffer is cut short or holds another number of columns than asked for.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  // Reads the next section, which must have `columns` columns.
  std::vector<Row> Section(std::uint32_t columns);
  // The same, row by row, for a section that may be long.
  void EachRow(std::uint32_t columns, const std::function<void(const Row&)>& visit);
  bool AtEnd() const { return position_ == bytes_.size(); }

 private:
  template <typename T>
  T Number();
  std::uint32_t Head(std::uint32_t columns);  // of a section: its number of rows
  void Fill(Row& row);
  std::string_view bytes_;
  std::size_t position_ = 0;
};

// Writes sections: the counterpart.
class WireWriter {
 public:
  void Section(std::uint32_t columns, const std::vector<std::vector<std::optional<std::string>>>& rows);
  // Appends sections that are written already.
  void Append(std::string_view sections) { bytes_ += sections; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// What a set-returning function answers; every row has the same number of fields.
struct ResultTable {
  std::vector<std::vector<std::optional<std::string>>> rows;
};

// Text of a number that reads back as the same number.
std::string TextOf(double value);
std::string TextOf(std::int64_t value);
// The literal of a text[] ({"a","b"}) and of a bigint[] and float8[].
std::string ArrayText(const std::vector<std::string>& values);
std::string ArrayText(const std::vector<std::int64_t>& values);
std::string ArrayText(const std::vector<double>& values);
// Reads the output form of a bigint[] or int[] without NULLs ({1,2,3}).
std::vector<std::int64_t> ParseIntegers(std::string_view array);
std::int64_t ParseInteger(std::string_view text);
std::optional<double> CountIn(const Field& field);  // an integer, or none for NULL
double ParseDouble(std::string_view text);
bool ParseBool(std::string_view text);  // t or f

}  // namespace privacy_score
