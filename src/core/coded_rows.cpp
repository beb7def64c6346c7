/*
 * coded_rows.cpp - see coded_rows.hpp.
 */
#include "coded_rows.hpp"

#include <string>

#include "error.hpp"

namespace privacy_score {

CodedRows::CodedRows(std::size_t columns, std::size_t memory_limit) : columns_(columns), memory_limit_(memory_limit) {}

bool CodedRows::Append(const std::uint32_t* const* codes, std::size_t rows, const std::int64_t* weights) {
  std::vector<std::uint32_t> tuple(columns_);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int64_t weight = weights == nullptr ? 1 : weights[row];
    if (weight < 1) throw InvalidValue("weight of a row must be greater than zero, not " + std::to_string(weight));
    for (std::size_t column = 0; column < columns_; ++column) tuple[column] = codes[column][row];
    tuples_[tuple] += weight;
    rows_ += weight;
  }
  return memory() <= memory_limit_;
}

}  // namespace privacy_score
