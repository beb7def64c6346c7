/*
 * subset_refinement.cpp - see subset_refinement.hpp.
 */
#include "core/entropy/subset_refinement.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/sort_unique.hpp"
#include "core/base/word_sort.hpp"
#include "core/entropy/subset_cube.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kRefinedBlock = 1024;
constexpr unsigned kTupleBits = 32;

// Bits for a weight such that few of `total` rows need a second word.
unsigned WeightBitsFor(std::int64_t total) {
  constexpr unsigned kLeast = 8;
  constexpr unsigned kSpread = 16;
  const unsigned bits = BitsOf(static_cast<std::uint64_t>(total) + 1);
  return std::max(kLeast, bits > kSpread ? bits - kSpread : 0);
}

}  // namespace

// The sets of a family over packed words. The class by the decided columns is a column that every set has.
class PackedFamily {
 public:
  virtual ~PackedFamily() = default;
  virtual bool Run(const WorkControl& control) = 0;
};

namespace {

template <typename Word>
class PackedFamilyOf : public PackedFamily {
 public:
  // `columns`: layout from the top down, the class first. `codes_of(column, start, count, codes)` gives its codes.
  template <typename CodesOf, typename WeightOf>
  PackedFamilyOf(const CubeSets& outer, std::vector<PackedColumn> columns, std::vector<CubeSet> sets, std::size_t count,
                 unsigned weight_bits, CodesOf codes_of, WeightOf weight_of)
      : sets_(std::move(columns), std::move(sets), outer.limits) {
    const std::int64_t greatest = static_cast<std::int64_t>(word_sort::BitsBelow<Word>(std::min(weight_bits, 62U)));
    std::size_t needed = count;
    for (std::size_t i = 0; i < count; ++i) needed += static_cast<std::size_t>((weight_of(i) - 1) / greatest);
    words_ = PlainBuffer<Word>(needed);
    std::vector<std::uint32_t> codes(kRefinedBlock);
    std::size_t end = count;
    for (std::size_t start = 0; start < count; start += kRefinedBlock) {
      const std::size_t rows = std::min(kRefinedBlock, count - start);
      std::fill_n(&words_[start], rows, Word{0});
      for (std::size_t column = 0; column < sets_.columns.size(); ++column) {
        codes_of(column, start, rows, codes.data());
        const unsigned shift = sets_.columns[column].shift;
        for (std::size_t i = 0; i < rows; ++i) words_[start + i] |= static_cast<Word>(codes[i]) << shift;
      }
      for (std::size_t i = 0; i < rows; ++i) {
        std::int64_t weight = weight_of(start + i);
        const Word tuple = words_[start + i];
        for (; weight > greatest; weight -= greatest) words_[end++] = tuple | static_cast<Word>(greatest);
        words_[start + i] = tuple | static_cast<Word>(weight);
      }
    }
    cube_ = std::make_unique<SubsetCube<Word>>(&sets_, words_.data(), end, weight_bits);
  }

  bool Run(const WorkControl& control) override {
    if (!cube_->Run(control)) return false;
    sets_.AddLone();
    return true;
  }

 private:
  CubeSets sets_;
  PlainBuffer<Word> words_;
  std::unique_ptr<SubsetCube<Word>> cube_;
};

}  // namespace

SubsetRefinement::SubsetRefinement(const WideRows& rows, std::vector<std::size_t> columns, std::int64_t total,
                                   CubeSets* sets)
    : rows_(rows), columns_(std::move(columns)), total_(total), sets_(sets) {
  CubeFamily* all = &sets->all();
  if (rows.size() == 0) return;
  if (all->exhausted() != nullptr) all->exhausted()->Add(total);
  if (all->column() == CubeFamily::kNoColumn) return;
  std::vector<std::uint32_t> tuples(rows.size());
  std::iota(tuples.begin(), tuples.end(), 0U);
  frames_.push_back({all, std::move(tuples), {}, 1, false});
}

SubsetRefinement::~SubsetRefinement() = default;

bool SubsetRefinement::Run(const WorkControl& control) {
  WorkControl quiet = control;
  quiet.done = nullptr;
  while (!frames_.empty()) {
    if (packed_ != nullptr) {
      if (!packed_->Run(quiet)) return false;
      packed_.reset();
      frames_.pop_back();
    } else {
      RunStep();
    }
    if (frames_.empty()) break;
    // By sets that the first frame has left behind. Asked after some work, so that each call comes further.
    control.Show(1 - static_cast<double>(frames_.front().family->size()) / static_cast<double>(sets_->sets.size()));
    if (control.Interrupted()) return false;
  }
  return true;
}

// Packs the family of the last frame, or splits its classes by the family's first column.
void SubsetRefinement::RunStep() {
  Frame& frame = frames_.back();
  if (frame.split) {
    frame.family = frame.family->Without();
    frame.split = false;
  }
  packed_ = Packed(frame);
  if (packed_ != nullptr) return;
  frame.split = true;
  Frame finer = {frame.family->With(), {}, {}, 0, false};
  Refine(frame, &finer);
  // Nothing needs the coarser classes when every set has the column.
  if (frame.family->Without() == nullptr) frames_.pop_back();
  if (!finer.tuples.empty()) frames_.push_back(std::move(finer));
}

// The family over packed words, or null when these would be too narrow.
std::unique_ptr<PackedFamily> SubsetRefinement::Packed(const Frame& frame) const {
  std::vector<CubeSet> sets = frame.family->Remaining();
  std::vector<std::uint32_t> used;
  for (const CubeSet& set : sets) used.insert(used.end(), set.columns.begin(), set.columns.end());
  SortUnique(used);
  const bool classes = frame.class_count > 1;
  std::vector<PackedColumn> columns;
  if (classes) columns.push_back({frame.class_count, BitsOf(frame.class_count), 0});
  for (const std::uint32_t column : used) columns.push_back(sets_->columns[column]);
  unsigned bits = WeightBitsFor(total_);
  for (const PackedColumn& column : columns) bits += column.bits;
  if (bits > 8 * sizeof(WideWord)) return nullptr;
  unsigned top = bits <= 64 ? 64 : 128;
  for (PackedColumn& column : columns) {
    top -= column.bits;
    column.shift = column.bits == 0 ? 0 : top;
  }
  for (CubeSet& set : sets) {
    for (std::uint32_t& column : set.columns) {
      const auto place = std::lower_bound(used.begin(), used.end(), column) - used.begin();
      column = static_cast<std::uint32_t>(place) + (classes ? 1 : 0);
    }
    if (classes) set.columns.insert(set.columns.begin(), 0);
  }
  const auto codes_of = [&](std::size_t column, std::size_t start, std::size_t count, std::uint32_t* codes) {
    if (classes && column == 0) {
      std::copy_n(&frame.classes[start], count, codes);
    } else {
      rows_.CodesOf(columns_[used[column - (classes ? 1 : 0)]], &frame.tuples[start], count, codes);
    }
  };
  const auto weight_of = [&](std::size_t i) { return rows_.weights()[frame.tuples[i]]; };
  if (bits <= 64)
    return std::make_unique<PackedFamilyOf<NarrowWord>>(*sets_, std::move(columns), std::move(sets),
                                                        frame.tuples.size(), top, codes_of, weight_of);
  return std::make_unique<PackedFamilyOf<WideWord>>(*sets_, std::move(columns), std::move(sets), frame.tuples.size(),
                                                    top, codes_of, weight_of);
}

// Splits the classes of a frame by the codes of the family's first column.
void SubsetRefinement::Refine(const Frame& frame, Frame* finer) const {
  const std::size_t position = frame.family->column();
  const unsigned code_bits = sets_->columns[position].bits;
  const std::size_t count = frame.tuples.size();
  PlainBuffer<WideWord> words(count);
  {
    std::vector<std::uint32_t> codes(kRefinedBlock);
    for (std::size_t start = 0; start < count; start += kRefinedBlock) {
      const std::size_t rows = std::min(kRefinedBlock, count - start);
      rows_.CodesOf(columns_[position], &frame.tuples[start], rows, codes.data());
      for (std::size_t i = 0; i < rows; ++i) {
        const std::uint64_t coarse = frame.classes.empty() ? 0 : frame.classes[start + i];
        words[start + i] =
            (static_cast<WideWord>(coarse) << code_bits | codes[i]) << kTupleBits | frame.tuples[start + i];
      }
    }
    PlainBuffer<WideWord> scratch(count);
    SortWords(words.data(), scratch.data(), count, kTupleBits, kTupleBits + code_bits + BitsOf(frame.class_count));
  }
  CubeFamily* family = finer->family;
  const bool further = family->column() != CubeFamily::kNoColumn;
  for (std::size_t start = 0; start < count;) {
    std::size_t end = start;
    std::int64_t weight = 0;
    for (; end < count && words[end] >> kTupleBits == words[start] >> kTupleBits; ++end)
      weight += rows_.weights()[static_cast<std::uint32_t>(words[end])];
    if (end - start == 1) {
      family->lone().Add(weight);
    } else {
      if (family->exhausted() != nullptr) family->exhausted()->Add(weight);
      for (std::size_t i = start; further && i < end; ++i) {
        finer->tuples.push_back(static_cast<std::uint32_t>(words[i]));
        finer->classes.push_back(finer->class_count);
      }
      ++finer->class_count;
    }
    start = end;
  }
}

}  // namespace privacy_score
