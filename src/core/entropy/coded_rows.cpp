/*
 * coded_rows.cpp - see coded_rows.hpp.
 */
#include "core/entropy/coded_rows.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/word_sort.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kNarrowBytes = 2 * sizeof(NarrowWord);
// What sets of wide tuples are counted with: two words a tuple.
constexpr std::size_t kWideBytes = 2 * sizeof(WideWord);
constexpr std::size_t kCodedBlock = 1024;

std::size_t ForTuples(std::size_t memory_limit) { return memory_limit - memory_limit / 4; }

}  // namespace

CodedRows::CodedRows(std::size_t columns, std::size_t memory_limit)
    : columns_(columns),
      memory_limit_(memory_limit),
      narrow_(std::make_unique<NarrowRows>(columns, ForTuples(memory_limit) / kNarrowBytes)) {}

bool CodedRows::Append(const std::uint32_t* const* codes, std::size_t rows, const std::int64_t* weights) {
  if (rows == 0) return true;
  std::int64_t total = rows_ + static_cast<std::int64_t>(rows);
  if (weights != nullptr) {
    total = rows_;
    for (std::size_t row = 0; row < rows; ++row) {
      if (weights[row] < 1)
        throw InvalidValue("weight of a row must be greater than zero, not " + std::to_string(weights[row]));
      total += weights[row];
    }
  }
  if (narrow_ != nullptr) {
    const NarrowRows::Outcome outcome = narrow_->Append(codes, rows, weights, total);
    if (outcome == NarrowRows::Outcome::kTooMany) return false;
    if (outcome == NarrowRows::Outcome::kTooWide && !WidenRows()) return false;
  }
  rows_ = total;
  if (wide_ == nullptr) return true;
  wide_->Append(codes, rows, weights);
  return WideFits(0);
}

// Moves the tuples from the narrow rows to wide ones.
bool CodedRows::WidenRows() {
  wide_ = std::make_unique<WideRows>(columns_);
  const NarrowWord weight_mask = word_sort::BitsBelow<NarrowWord>(narrow_->weight_bits());
  std::vector<std::vector<std::uint32_t>> codes(columns_, std::vector<std::uint32_t>(kCodedBlock));
  std::vector<const std::uint32_t*> pointers;
  for (const auto& column : codes) pointers.push_back(column.data());
  std::vector<std::int64_t> weights(kCodedBlock);
  for (std::size_t start = 0; start < narrow_->size(); start += kCodedBlock) {
    const std::size_t count = std::min(kCodedBlock, narrow_->size() - start);
    const NarrowWord* const words = narrow_->words() + start;
    for (std::size_t column = 0; column < columns_; ++column)
      for (std::size_t i = 0; i < count; ++i)
        codes[column][i] = static_cast<std::uint32_t>(narrow_->columns()[column].CodeOf(words[i]));
    for (std::size_t i = 0; i < count; ++i) weights[i] = static_cast<std::int64_t>(words[i] & weight_mask);
    wide_->Append(pointers.data(), count, weights.data());
    if (!WideFits(narrow_->memory())) return false;
  }
  narrow_.reset();
  return true;
}

bool CodedRows::WideFits(std::size_t beside) const {
  return wide_->memory() + kWideBytes * wide_->size() + beside <= ForTuples(memory_limit_);
}

std::size_t CodedRows::memory() const { return narrow_ != nullptr ? narrow_->memory() : wide_->memory(); }

std::uint64_t CodedRows::domain(std::size_t column) const {
  return narrow_ != nullptr ? narrow_->columns()[column].domain : wide_->domain(column);
}

}  // namespace privacy_score
