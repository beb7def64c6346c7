/*
 * row_span.hpp - what linear combinations of rows can make, by exact elimination.
 *
 * Rows are sparse vectors of integers of any size, each divided by its common divisor; a reduced echelon form is kept,
 * in which a unit vector can be combined exactly when it is a row itself. A row may carry a right side, which takes
 * part in everything, so that a combined row says what its sum is.
 */
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/base/rational.hpp"
#include "core/base/work_control.hpp"

namespace privacy_score {

// Entries are not zero and ascend by place.
struct SparseRow {
  std::vector<std::pair<int, Integer>> entries;
  Integer side = 0;
};

// The row with ones at these places, which ascend.
SparseRow RowOfOnes(const std::vector<int>& places, Integer side = 0);

class RowSpan {
 public:
  enum class Added { kNew, kCombined, kContradiction };
  // kCombined: the row can be made of those that are there, with its side; kContradiction: with another side. Throws
  // Paused between steps when an interrupt is pending; the row is then not in yet.
  Added Add(SparseRow row, const WorkControl& control = {});

  // What is left of a row when all places with a pivot are taken out of it, up to a factor: its first entry is
  // positive, and its entries and side have no common divisor. Without entries when the rows can make it.
  SparseRow Reduced(SparseRow row, const WorkControl& control = {}) const;

  // The unit vector of that place can be made; `value` is what it sums to, unless null.
  bool MakesUnit(int place, Rational* value = nullptr) const;

  // By the place of the pivot, at which no other row has an entry.
  const std::map<int, SparseRow>& rows() const { return rows_; }

 private:
  std::map<int, SparseRow> rows_;
};

}  // namespace privacy_score
