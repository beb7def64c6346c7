/*
 * row_span.cpp - see row_span.hpp.
 */
#include "core/inference/row_span.hpp"

#include <algorithm>

#include "core/base/paused.hpp"

namespace privacy_score {

namespace {

// a_factor a + b_factor b, with the common divisor taken out.
SparseRow Combined(const SparseRow& a, const Integer& a_factor, const SparseRow& b, const Integer& b_factor) {
  SparseRow sum;
  sum.entries.reserve(a.entries.size() + b.entries.size());
  auto left = a.entries.begin();
  auto right = b.entries.begin();
  while (left != a.entries.end() || right != b.entries.end()) {
    if (right == b.entries.end() || (left != a.entries.end() && left->first < right->first)) {
      sum.entries.emplace_back(left->first, left->second * a_factor);
      ++left;
    } else if (left == a.entries.end() || right->first < left->first) {
      sum.entries.emplace_back(right->first, right->second * b_factor);
      ++right;
    } else {
      Integer entry = left->second * a_factor + right->second * b_factor;
      if (entry != 0) sum.entries.emplace_back(left->first, std::move(entry));
      ++left;
      ++right;
    }
  }
  sum.side = a.side * a_factor + b.side * b_factor;
  return sum;
}

// Divides by the common divisor, and makes the first entry positive.
void Simplify(SparseRow& row) {
  if (row.entries.empty()) return;
  Integer divisor = row.side;
  for (const auto& [place, value] : row.entries) {
    divisor = boost::multiprecision::gcd(divisor, value);
    if (divisor == 1) break;
  }
  if (row.entries[0].second < 0) divisor = -divisor;
  if (divisor == 1) return;
  for (auto& [place, value] : row.entries) value /= divisor;
  row.side /= divisor;
}

const Integer* EntryAt(const SparseRow& row, int place) {
  const auto found = std::lower_bound(row.entries.begin(), row.entries.end(), place,
                                      [](const auto& entry, int wanted) { return entry.first < wanted; });
  return found != row.entries.end() && found->first == place ? &found->second : nullptr;
}

// Takes the place of `pivot` out of the row; the pivot's entry there is positive.
void TakeOut(SparseRow& row, const SparseRow& pivot, int place) {
  const Integer own = *EntryAt(row, place);
  const Integer its = *EntryAt(pivot, place);
  const Integer divisor = boost::multiprecision::gcd(own, its);
  row = Combined(row, its / divisor, pivot, -own / divisor);
  Simplify(row);
}

}  // namespace

SparseRow RowOfOnes(const std::vector<int>& places, Integer side) {
  SparseRow row;
  row.entries.reserve(places.size());
  for (const int place : places) row.entries.emplace_back(place, 1);
  row.side = std::move(side);
  return row;
}

SparseRow RowSpan::Reduced(SparseRow row, const WorkControl& control) const {
  std::vector<int> pivots;
  for (const auto& [place, value] : row.entries)
    if (rows_.count(place) != 0) pivots.push_back(place);
  // A row of the form has no other pivot's place, so that taking one out brings none in.
  for (const int place : pivots) {
    PauseIfInterrupted(control);
    TakeOut(row, rows_.at(place), place);
  }
  Simplify(row);
  return row;
}

RowSpan::Added RowSpan::Add(SparseRow row, const WorkControl& control) {
  row = Reduced(std::move(row), control);
  if (row.entries.empty()) return row.side == 0 ? Added::kCombined : Added::kContradiction;
  // A pivot is the first entry of its row: what comes in behind it never comes before it.
  const int pivot = row.entries[0].first;
  std::vector<std::pair<int, SparseRow>> changed;
  for (const auto& [place, other] : rows_) {
    if (EntryAt(other, pivot) == nullptr) continue;
    PauseIfInterrupted(control);
    changed.emplace_back(place, other);
    TakeOut(changed.back().second, row, pivot);
  }
  for (auto& [place, other] : changed) rows_[place] = std::move(other);
  rows_.emplace(pivot, std::move(row));
  return Added::kNew;
}

bool RowSpan::MakesUnit(int place, Rational* value) const {
  const auto found = rows_.find(place);
  if (found == rows_.end() || found->second.entries.size() != 1) return false;
  if (value != nullptr) *value = Rational(found->second.side, found->second.entries[0].second);
  return true;
}

}  // namespace privacy_score
