/*
 * delta_table.hpp - delta* of classes of statements, in rows, beyond the distinct classes of a baseline, its columns.
 *
 * Each delta* is computed when it is first asked for; until then the table has what it is at least, whatever the rates
 * are (PairScorer::Surprises).
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/scoring/pair_score.hpp"

namespace privacy_score {

class DeltaTable {
 public:
  using Column = std::uint32_t;

  struct Row {
    ClassId id = kEmptyClass;
    std::vector<double> lower;  // what delta* is at least, a column each; it only rises
    std::vector<double> upper;  // as far as computed
    std::vector<bool> wanted;   // its rates were asked for
    double least = 0;           // of `lower`, when the row was made
    bool exact = true;          // all that was computed
  };

  // `most`: delta* to be kept, about. The scorer must outlive the object.
  DeltaTable(PairScorer& pairs, std::size_t most) : pairs_(pairs), most_(most) {}

  // The column of a class, which becomes one. Rows that are there have no new columns.
  Column ColumnOf(ClassId id);
  // Forgets all columns and rows.
  void Clear();
  // Forgets rows when they are too many; those that were given are no longer valid.
  void MakeRoom();
  // Valid until MakeRoom or Clear.
  Row& RowOf(ClassId id);
  // The upper bound of delta*.
  double Upper(Row& row, Column column);
  // Notes what must be computed before it is exact, once a row.
  void Want(Row& row, Column column);

 private:
  PairScorer& pairs_;
  std::size_t most_;
  std::vector<ClassId> columns_;
  std::vector<Column> column_of_;  // of each class, as far as it is long
  std::unordered_map<ClassId, Row> rows_;
};

}  // namespace privacy_score
