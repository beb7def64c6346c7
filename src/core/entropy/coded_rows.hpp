/*
 * coded_rows.hpp - rows of a relation as dictionary codes, collapsed to distinct tuples with weights.
 *
 * What one pass over a table leaves behind: everything that sets of columns are asked for afterwards comes from here.
 * Codes are numbers from 0 that grow as the pass goes (a column's first value is 0, its next new value 1, ...), so
 * widths are not known beforehand. NULL is a code like any other.
 *
 * Tuples whose codes take at most 56 bits cost 16 bytes, of which 8 are needed for sorting (narrow_rows.hpp; rows are
 * collapsed as memory runs short). Wider ones cost 1, 2 or 4 bytes a column and 56 bytes (wide_rows.hpp). A quarter of
 * the memory limit is left to the arrays in which sets are counted. Class sizes of the sets come to some megabytes
 * more.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/entropy/narrow_rows.hpp"
#include "core/entropy/wide_rows.hpp"

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
  std::size_t memory() const;
  std::size_t memory_limit() const { return memory_limit_; }
  // Codes of a column are below this; 1 when there is only one or no row.
  std::uint64_t domain(std::size_t column) const;

  // For SubsetEntropies: one of the two is there.
  NarrowRows* narrow() { return narrow_.get(); }
  WideRows* wide() { return wide_.get(); }

 private:
  bool WidenRows();
  bool WideFits(std::size_t beside) const;

  std::size_t columns_;
  std::size_t memory_limit_;
  std::int64_t rows_ = 0;
  std::unique_ptr<NarrowRows> narrow_;
  std::unique_ptr<WideRows> wide_;
};

}  // namespace privacy_score
