/*
 * wide_rows.hpp - coded rows of any width, collapsed as they come.
 *
 * Distinct tuples are stored column by column, in one, two or four bytes a code. A hash table finds the tuple of a row,
 * and every column is compared before the row counts as that tuple: a block is first given presumed tuples by hash,
 * then compared column by column, which keeps many reads under way at a time. Memory a tuple: the bytes of its codes, 8
 * for the weight and 16 to 32 in the hash table, which is given back before sets are counted.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace privacy_score {

class WideRows {
 public:
  explicit WideRows(std::size_t columns);

  // Adds rows; weights as in CodedRows.
  void Append(const std::uint32_t* const* codes, std::size_t rows, const std::int64_t* weights);

  std::size_t size() const { return weights_.size(); }
  const std::vector<std::int64_t>& weights() const { return weights_; }
  std::uint64_t domain(std::size_t column) const { return columns_[column].domain; }
  std::size_t memory() const;
  // Codes of a column for some tuples.
  void CodesOf(std::size_t column, const std::uint32_t* tuples, std::size_t count, std::uint32_t* codes) const;
  // Frees the hash table: no rows can be added any more.
  void Freeze() { std::vector<Slot>().swap(slots_); }

  // The hash of a row's codes up to one column, from that up to the column before.
  static std::uint64_t AddToHash(std::uint64_t hash, std::uint32_t code) {
    hash = (hash ^ code) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 29;
  }

 private:
  struct Column {
    std::uint64_t domain = 1;
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>> codes;
  };
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t tuple = kFree;
  };
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;

  void Widen(Column* column, std::uint32_t greatest);
  void GrowTable(std::size_t tuples);
  std::uint32_t Find(const std::uint32_t* const* codes, std::size_t row, std::uint64_t hash, bool compare);
  bool Equal(const std::uint32_t* const* codes, std::size_t row, std::uint32_t tuple) const;

  std::vector<Column> columns_;
  std::vector<std::int64_t> weights_;
  std::vector<Slot> slots_;
};

}  // namespace privacy_score
