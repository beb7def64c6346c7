/*
 * narrow_rows.hpp - coded rows whose tuple and weight fit in 64 bits.
 *
 * Rows are packed and appended; they are collapsed to distinct tuples only when the array is full and a sample says
 * that it pays, so a pass over a table of mostly different rows costs nothing more. The layout follows
 * the codes: when a column outgrows its bits all words are packed anew, columns with more codes further up. A column of
 * dense codes outgrows b bits after 2^b rows at the earliest, so that all this packing costs like two passes.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/entropy/packed_words.hpp"

namespace privacy_score {

class NarrowRows {
 public:
  enum class Outcome { kTaken, kTooWide, kTooMany };

  // At most `max_words` words are held, beside as many more while they are sorted.
  NarrowRows(std::size_t columns, std::size_t max_words);

  // Takes all the rows or none. `total` is the sum of all weights with these.
  Outcome Append(const std::uint32_t* const* codes, std::size_t rows, const std::int64_t* weights, std::int64_t total);

  const std::vector<PackedColumn>& columns() const { return columns_; }
  unsigned weight_bits() const { return weight_bits_; }
  const NarrowWord* words() const { return words_.data(); }
  std::size_t size() const { return size_; }
  std::size_t memory() const { return words_.size() * sizeof(NarrowWord); }
  // Gives the words away.
  PlainBuffer<NarrowWord> TakeWords() { return std::move(words_); }

 private:
  bool Fits(const std::vector<std::uint64_t>& domains, std::int64_t total);
  void Pack(const std::vector<PackedColumn>& columns, unsigned weight_bits);
  bool MakeRoom(std::size_t words);
  bool CollapseByHash(std::size_t expected);
  void CollapseBySort();
  void Grow(std::size_t capacity);
  double SampledDuplicates() const;

  std::vector<PackedColumn> columns_;
  unsigned weight_bits_ = 64;
  std::size_t max_words_;
  PlainBuffer<NarrowWord> words_;
  std::size_t size_ = 0;
};

}  // namespace privacy_score
