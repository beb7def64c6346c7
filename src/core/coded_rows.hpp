/*
 * coded_rows.hpp - rows of a relation as dictionary codes, collapsed to distinct tuples with weights.
 *
 * What one pass over a table leaves behind: everything that sets of columns are asked for afterwards comes from here.
 * Codes are numbers from 0 that grow as the pass goes (a column's first value is 0, its next new value 1, ...), so
 * widths are not known beforehand. NULL is a code like any other.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace privacy_score {

class CodedRows {
 public:
  // Rows of `columns` columns (0 is allowed: rows are then only counted). The tuples together with what
  // SubsetEntropies needs beside them stay below `memory_limit` bytes.
  CodedRows(std::size_t columns, std::size_t memory_limit);

  // Adds rows given column by column: codes[column][row], each as often as weights[row] > 0 says (null: once). False
  // when the distinct tuples do not fit: the object is then of no further use, and the caller groups by SQL. Blocks of
  // about a thousand rows are best. Throws Error 22023 on a weight below 1.
  [[nodiscard]] bool Append(const std::uint32_t* const* codes, std::size_t rows, const std::int64_t* weights = nullptr);

  std::size_t columns() const { return columns_; }
  // The sum of all weights.
  std::int64_t rows() const { return rows_; }
  // Bytes held now.
  std::size_t memory() const { return tuples_.size() * TupleBytes(); }

 private:
  friend class SubsetEntropies;

  std::size_t TupleBytes() const { return 4 * columns_ + 80; }

  std::size_t columns_;
  std::size_t memory_limit_;
  std::int64_t rows_ = 0;
  std::map<std::vector<std::uint32_t>, std::int64_t> tuples_;
};

}  // namespace privacy_score
