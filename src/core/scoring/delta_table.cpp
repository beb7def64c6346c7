/*
 * delta_table.cpp - see delta_table.hpp.
 */
#include "core/scoring/delta_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace privacy_score {

namespace {

// What a row takes besides its columns, as so many more.
constexpr std::size_t kColumnsOfRow = 8;
constexpr double kNotComputed = std::numeric_limits<double>::infinity();
constexpr DeltaTable::Column kNoColumn = 0xffffffffU;

}  // namespace

DeltaTable::Column DeltaTable::ColumnOf(ClassId id) {
  if (id >= column_of_.size()) column_of_.resize(id + 1, kNoColumn);
  if (column_of_[id] == kNoColumn) {
    columns_.push_back(id);
    column_of_[id] = static_cast<Column>(columns_.size() - 1);
  }
  return column_of_[id];
}

void DeltaTable::Clear() {
  rows_.clear();
  columns_.clear();
  column_of_.clear();
}

void DeltaTable::MakeRoom() {
  if (rows_.size() * (columns_.size() + kColumnsOfRow) > most_) rows_.clear();
}

DeltaTable::Row& DeltaTable::RowOf(ClassId id) {
  const auto found = rows_.find(id);
  if (found != rows_.end()) return found->second;
  Row row;
  row.id = id;
  row.upper.assign(columns_.size(), kNotComputed);
  row.wanted.resize(columns_.size());
  row.lower = pairs_.Surprises(id, columns_);
  if (!row.lower.empty()) row.least = *std::min_element(row.lower.begin(), row.lower.end());
  return rows_.emplace(id, std::move(row)).first->second;
}

double DeltaTable::Upper(Row& row, Column column) {
  if (row.upper[column] != kNotComputed) return row.upper[column];
  const RateBounds bounds = pairs_.Combined(row.id, columns_[column], row.lower[column]);
  row.lower[column] = bounds.lower;
  row.exact = row.exact && bounds.exact();
  return row.upper[column] = bounds.upper;
}

void DeltaTable::Want(Row& row, Column column) {
  if (row.wanted[column]) return;
  row.wanted[column] = true;
  pairs_.Want(row.id, columns_[column]);
}

}  // namespace privacy_score
