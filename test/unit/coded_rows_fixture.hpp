/*
 * coded_rows_fixture.hpp - random tables of codes with weights, and their partitions by plain grouping.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "core/entropy/coded_rows.hpp"
#include "core/entropy/entropy.hpp"
#include "core/entropy/subset_entropies.hpp"

namespace privacy_score::testing_support {

using ColumnSets = std::vector<std::vector<std::size_t>>;

// Column by column; every column as long as `weights`.
struct CodedTable {
  std::vector<std::vector<std::uint32_t>> columns;
  std::vector<std::int64_t> weights;

  std::size_t size() const { return weights.size(); }

  // Appends rows in blocks of `block`, with weights when one is not 1. False as soon as CodedRows refuses.
  bool AppendTo(CodedRows* rows, std::size_t block) const {
    const bool weighted = std::any_of(weights.begin(), weights.end(), [](std::int64_t w) { return w != 1; });
    for (std::size_t start = 0; start < size(); start += block) {
      std::vector<const std::uint32_t*> codes;
      for (const auto& column : columns) codes.push_back(column.data() + start);
      const std::size_t count = std::min(block, size() - start);
      if (!rows->Append(codes.data(), count, weighted ? weights.data() + start : nullptr)) return false;
    }
    return true;
  }

  SubsetFacts Grouped(const std::vector<std::size_t>& set) const {
    std::map<std::vector<std::uint32_t>, std::int64_t> classes;
    for (std::size_t row = 0; row < size(); ++row) {
      std::vector<std::uint32_t> key;
      for (const std::size_t column : set) key.push_back(columns[column][row]);
      classes[key] += weights[row];
    }
    SubsetFacts facts;
    ClassSizes sizes;
    for (const auto& [key, class_size] : classes) {
      facts.rows += class_size;
      facts.classes += 1;
      facts.uniques += class_size == 1;
      sizes.push_back({class_size, 1});
    }
    facts.entropy = Entropy(sizes);
    return facts;
  }
};

// The number of rows of a partition.
inline std::int64_t RowsOf(const ClassSizes& sizes) {
  std::int64_t rows = 0;
  for (const SizeCount& entry : sizes) rows += entry.size * entry.count;
  return rows;
}

// Every subset of the first `columns` columns, the empty one too.
inline ColumnSets AllSubsets(std::size_t columns) {
  ColumnSets sets;
  for (std::size_t mask = 0; mask < std::size_t{1} << columns; ++mask) {
    sets.emplace_back();
    for (std::size_t column = 0; column < columns; ++column)
      if ((mask >> column & 1U) != 0) sets.back().push_back(column);
  }
  return sets;
}

// What a random table looks like. Codes below `domains`; the first rows hold few of them, as in a pass over a table
// whose dictionaries grow. A row repeats an earlier one with the probability `repeats`; weights are 1 to `max_weight`.
struct TableShape {
  std::size_t rows = 0;
  std::vector<std::uint32_t> domains;
  double repeats = 0;
  double skew = 1;  // greater: smaller codes are more frequent
  std::int64_t max_weight = 1;
};

inline CodedTable RandomTable(const TableShape& shape, std::mt19937_64* random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  CodedTable table;
  table.columns.resize(shape.domains.size());
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const bool repeated = row > 0 && uniform(*random) < shape.repeats;
    const std::size_t origin = repeated ? (*random)() % row : 0;
    for (std::size_t column = 0; column < shape.domains.size(); ++column) {
      auto& codes = table.columns[column];
      const double grown = std::min(1.0, 4.0 * static_cast<double>(row + 1) / static_cast<double>(shape.rows));
      const auto code = static_cast<std::uint32_t>(static_cast<double>(shape.domains[column]) * grown *
                                                   std::pow(uniform(*random), shape.skew));
      codes.push_back(repeated ? codes[origin] : code);
    }
    table.weights.push_back(1 + static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(shape.max_weight)));
  }
  return table;
}

}  // namespace privacy_score::testing_support
