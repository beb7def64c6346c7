/*
 * subset_cube.cpp - see subset_cube.hpp.
 */
#include "core/entropy/subset_cube.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/word_sort.hpp"

namespace privacy_score {

namespace {

// Words walked over before the walk looks whether it is time to ask for interrupts.
constexpr std::size_t kWalkedAtOnce = std::size_t{1} << 20;
// With so many sets below a column the words are sorted by all columns and collapsed, not by this one alone.
constexpr std::size_t kSetsWorthCollapsing = 4;
constexpr std::size_t kCubeBlock = 512;

template <typename T>
void Ensure(PlainBuffer<T>* buffer, std::size_t size) {
  if (buffer->size() < size) *buffer = PlainBuffer<T>(size);
}

// Adds what the columns contribute to the indexes of cells.
template <typename Word>
void AddTerms(const std::vector<CubeTerm>& terms, const Word* words, std::size_t count, std::uint32_t* cells) {
  for (const CubeTerm& term : terms) {
    const unsigned shift = term.shift;
    const std::uint32_t mask = term.mask;
    const std::uint32_t stride = term.stride;
    for (std::size_t i = 0; i < count; ++i) cells[i] += (static_cast<std::uint32_t>(words[i] >> shift) & mask) * stride;
  }
}

template <typename Cell>
void RollUp(const CubeStep& step, Cell* arena) {
  const Cell* in = arena + step.in;
  Cell* out = arena + step.out;
  const std::size_t inner = step.inner;
  if (inner == 1) {
    for (std::size_t cell = 0; cell < step.cells; ++cell, in += step.domain) {
      Cell sum = 0;
      for (std::size_t code = 0; code < step.domain; ++code) sum = static_cast<Cell>(sum + in[code]);
      out[cell] = sum;
    }
    return;
  }
  for (std::size_t outer = 0; outer < step.cells; outer += inner) {
    std::memcpy(out, in, inner * sizeof(Cell));
    in += inner;
    for (std::size_t code = 1; code < step.domain; ++code, in += inner)
      for (std::size_t i = 0; i < inner; ++i) out[i] = static_cast<Cell>(out[i] + in[i]);
    out += inner;
  }
}

// Counts the sizes of the classes in an array of cells. Neighbours count in different tables: most cells of an array
// hold one of a few sizes, and counting the same size twice in a row would wait for the first.
template <typename Cell>
void CountSizes(const Cell* cells, std::size_t count, ClassHistogram* classes) {
  constexpr std::size_t kTables = 4;
  constexpr std::size_t kSizes = 64;
  std::size_t i = 0;
  if (count >= kTables * kSizes) {
    std::uint32_t tables[kTables][kSizes] = {};
    for (; i + kTables <= count; i += kTables) {
      for (std::size_t table = 0; table < kTables; ++table) {
        const Cell size = cells[i + table];
        if (size < kSizes) {
          ++tables[table][size];
        } else {
          classes->Add(static_cast<std::int64_t>(size));
        }
      }
    }
    for (std::size_t size = 1; size < kSizes; ++size) {
      const std::int64_t sum = std::int64_t{tables[0][size]} + tables[1][size] + tables[2][size] + tables[3][size];
      if (sum != 0) classes->Add(static_cast<std::int64_t>(size), sum);
    }
  }
  for (; i < count; ++i)
    if (cells[i] != 0) classes->Add(static_cast<std::int64_t>(cells[i]));
}

}  // namespace

template <typename Word>
SubsetCube<Word>::SubsetCube(CubeSets* sets, Word* words, std::size_t count, unsigned weight_bits)
    : sets_(sets),
      words_(words),
      count_(count),
      weight_bits_(weight_bits),
      weight_mask_(word_sort::BitsBelow<Word>(weight_bits)) {}

template <typename Word>
bool SubsetCube<Word>::Run(const WorkControl& control) {
  if (!started_) {
    started_ = true;
    std::int64_t weight = 0;
    for (std::size_t i = 0; i < count_; ++i) weight += WeightOf(words_[i]);
    if (count_ > 0) Push(&sets_->all(), words_, count_, weight, false);
  }
  while (!frames_.empty()) {
    if (work_ >= control.work_between_questions) {
      work_ = 0;
      control.Show(Share());
      if (control.Interrupted()) return false;
    }
    Frame& frame = frames_.back();
    if (frame.plan != nullptr) {
      if (frame.next == frame.plan->steps.size()) {
        frames_.pop_back();
      } else {
        RunStep(&frame);
      }
    } else if (!frame.grouped) {
      Partition(&frame);
    } else {
      WalkCells(&frame);
    }
  }
  return true;
}

// By sets: those that the first frame has left behind, and a part of those that it is at.
template <typename Word>
double SubsetCube<Word>::Share() const {
  const Frame& first = frames_.front();
  const double all = static_cast<double>(sets_->sets.size());
  const double left = static_cast<double>(first.family->size());
  const double next = static_cast<double>(first.next);
  if (first.plan != nullptr) return 1 - left / all * (1 - next / static_cast<double>(first.plan->steps.size()));
  const double with = static_cast<double>(first.family->With()->size());
  return 1 - (left - with * next / static_cast<double>(first.count)) / all;
}

template <typename Word>
void SubsetCube<Word>::Push(CubeFamily* family, Word* words, std::size_t count, std::int64_t weight, bool sorted) {
  if (family->exhausted() != nullptr) family->exhausted()->Add(weight);
  if (family->column() == CubeFamily::kNoColumn) return;
  const CubePlan* plan = family->PlanFor(count);
  frames_.push_back({family, plan, words, count, weight, 0, sorted && plan == nullptr, sorted});
}

template <typename Word>
void SubsetCube<Word>::Partition(Frame* frame) {
  const PackedColumn& column = sets_->columns[frame->family->column()];
  const unsigned high = column.shift + column.bits;
  const bool first = frames_.size() == 1;
  Ensure(&scratch_, count_);
  Word* scratch = scratch_.data() + (frame->words - words_);
  frame->grouped = true;
  frame->next = 0;
  work_ += frame->count;
  if (first) {
    // Nobody needs the other columns any more, so what differs only there becomes one word.
    const std::vector<CubeSet> sets = frame->family->Remaining();
    Word mask = weight_mask_;
    for (const CubeSet& set : sets)
      for (const std::uint32_t used : set.columns) mask |= sets_->columns[used].template Bits<Word>();
    for (std::size_t i = 0; i < frame->count; ++i) frame->words[i] &= mask;
    const bool alone = sets.size() == 1;
    if (alone || frame->family->With()->size() >= kSetsWorthCollapsing) {
      SortWords(frame->words, scratch, frame->count, weight_bits_, high);
      frame->count = CollapseWords(frame->words, frame->count, weight_bits_);
      frame->sorted = true;
      if (!alone) return;
      CountTuples(*frame, sets[0].classes);
      frames_.pop_back();
      return;
    }
  }
  SortWords(frame->words, scratch, frame->count, column.shift, high);
}

// Counts the classes of the set of all columns that are left, of which the words are in order.
template <typename Word>
void SubsetCube<Word>::CountTuples(const Frame& frame, ClassHistogram* classes) {
  for (std::size_t i = 0; i < frame.count;) {
    std::int64_t weight = 0;
    const Word tuple = frame.words[i] & ~weight_mask_;
    for (; i < frame.count && (frame.words[i] & ~weight_mask_) == tuple; ++i) weight += WeightOf(frame.words[i]);
    classes->Add(weight);
  }
}

// Goes on to the next cell that needs a frame, or from the family's first column to what is left without it.
template <typename Word>
void SubsetCube<Word>::WalkCells(Frame* frame) {
  CubeFamily* with = frame->family->With();
  const PackedColumn& column = sets_->columns[frame->family->column()];
  const Word code_mask = column.template Bits<Word>();
  const Word* const end = frame->words + frame->count;
  const bool leaf = with->column() == CubeFamily::kNoColumn;
  while (frame->next < frame->count) {
    Word* const cell = frame->words + frame->next;
    const Word code = *cell & code_mask;
    std::int64_t weight = WeightOf(*cell);
    const Word* word = cell + 1;
    for (; word != end && (*word & code_mask) == code; ++word) weight += WeightOf(*word);
    const std::size_t count = static_cast<std::size_t>(word - cell);
    frame->next += count;
    work_ += count;
    if (count == 1) {
      with->lone().Add(weight);
    } else if (leaf) {
      with->exhausted()->Add(weight);
    } else {
      // Words in order of all columns are grouped by the next one only.
      Push(with, cell, count, weight, frame->sorted && with->column() == frame->family->column() + 1);
      return;
    }
    if (work_ >= kWalkedAtOnce) return;
  }
  CubeFamily* without = frame->family->Without();
  if (without == nullptr) {
    frames_.pop_back();
    return;
  }
  frame->family = without;
  frame->plan = without->PlanFor(frame->count);
  frame->next = 0;
  frame->grouped = false;
  frame->sorted = false;
}

template <typename Word>
void SubsetCube<Word>::RunStep(Frame* frame) {
  const CubePlan& plan = *frame->plan;
  const CubeStep& step = plan.steps[frame->next++];
  work_ += step.kind == CubeStep::Kind::kRollUp ? step.cells : frame->count;
  const std::size_t cell_bytes = frame->weight >> 16 == 0 ? 2 : frame->weight >> 32 == 0 ? 4 : 8;
  if (step.kind == CubeStep::Kind::kTouch) {
    const std::size_t bytes = plan.touch_cells * cell_bytes;
    if (touch_cells_.size() < bytes) {
      touch_cells_ = PlainBuffer<unsigned char>(bytes);
      std::memset(touch_cells_.data(), 0, bytes);
    }
    if (levels_.size() < plan.levels) levels_.resize(plan.levels);
    Ensure(&levels_[step.level].words, frame->count);
    Ensure(&levels_[step.level].cells, frame->count);
  } else {
    Ensure(&arena_, plan.arena_cells * cell_bytes);
  }
  // Few cells of many hold more than a byte.
  if (step.alone && step.classes != nullptr && frame->weight / 64 <= static_cast<std::int64_t>(step.cells)) {
    CountAlone(step, *frame);
  } else if (cell_bytes == 2) {
    RunStepOf<std::uint16_t>(step, *frame);
  } else if (cell_bytes == 4) {
    RunStepOf<std::uint32_t>(step, *frame);
  } else {
    RunStepOf<std::uint64_t>(step, *frame);
  }
  if (step.kind == CubeStep::Kind::kTouch && !step.leaf && levels_[step.level].count == 0) frame->next = step.next;
}

template <typename Word>
template <typename Cell>
void SubsetCube<Word>::RunStepOf(const CubeStep& step, const Frame& frame) {
  Cell* arena = reinterpret_cast<Cell*>(arena_.data());
  switch (step.kind) {
    case CubeStep::Kind::kCount:
      Count<Cell>(step, frame);
      break;
    case CubeStep::Kind::kRollUp:
      RollUp(step, arena);
      break;
    case CubeStep::Kind::kTouch:
      Touch<Cell>(step, frame);
      return;
  }
  if (step.classes != nullptr) CountSizes(arena + step.out, step.cells, step.classes);
}

template <typename Word>
template <typename Cell>
void SubsetCube<Word>::Count(const CubeStep& step, const Frame& frame) {
  Cell* out = reinterpret_cast<Cell*>(arena_.data()) + step.out;
  std::memset(out, 0, step.cells * sizeof(Cell));
  std::uint32_t cells[kCubeBlock];
  for (std::size_t start = 0; start < frame.count; start += kCubeBlock) {
    const Word* words = frame.words + start;
    const std::size_t count = std::min(kCubeBlock, frame.count - start);
    std::memset(cells, 0, count * sizeof(std::uint32_t));
    AddTerms(step.terms, words, count, cells);
    for (std::size_t i = 0; i < count; ++i) out[cells[i]] = static_cast<Cell>(out[cells[i]] + WeightOf(words[i]));
  }
}

// Counts an array that is larger than the cache in bytes, of which more stay in it, with a list of what these cannot
// hold.
template <typename Word>
void SubsetCube<Word>::CountAlone(const CubeStep& step, const Frame& frame) {
  constexpr unsigned kBits = 8;
  auto* out = arena_.data();
  std::memset(out, 0, step.cells);
  carries_.clear();
  std::uint32_t cells[kCubeBlock];
  for (std::size_t start = 0; start < frame.count; start += kCubeBlock) {
    const Word* words = frame.words + start;
    const std::size_t count = std::min(kCubeBlock, frame.count - start);
    std::memset(cells, 0, count * sizeof(std::uint32_t));
    AddTerms(step.terms, words, count, cells);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t sum = out[cells[i]] + WeightOf(words[i]);
      out[cells[i]] = static_cast<unsigned char>(sum);
      if (sum >> kBits != 0) carries_.emplace_back(cells[i], sum >> kBits);
    }
  }
  std::sort(carries_.begin(), carries_.end());
  for (std::size_t i = 0; i < carries_.size();) {
    const std::uint32_t cell = carries_[i].first;
    std::int64_t size = out[cell];
    for (; i < carries_.size() && carries_[i].first == cell; ++i) size += carries_[i].second << kBits;
    step.classes->Add(size);
    out[cell] = 0;
  }
  CountSizes(out, step.cells, step.classes);
}

// Counts the cells of the words that the level above left. Those in a cell of one row are alone in all levels below.
template <typename Word>
template <typename Cell>
void SubsetCube<Word>::Touch(const CubeStep& step, const Frame& frame) {
  Cell* table = reinterpret_cast<Cell*>(touch_cells_.data());
  Level& own = levels_[step.level];
  const Word* words = frame.words;
  std::size_t count = frame.count;
  std::uint32_t* cells = own.cells.data();
  if (step.level > 0) {
    const Level& above = levels_[step.level - 1];
    words = above.words.data();
    count = above.count;
    std::memcpy(cells, above.cells.data(), count * sizeof(std::uint32_t));
  } else {
    std::memset(cells, 0, count * sizeof(std::uint32_t));
  }
  AddTerms(step.terms, words, count, cells);
  for (std::size_t i = 0; i < count; ++i) table[cells[i]] = static_cast<Cell>(table[cells[i]] + WeightOf(words[i]));
  const bool small = static_cast<std::uint64_t>(frame.weight) < step.classes->counter_count();
  std::int64_t* counters = step.classes->counters();
  const auto add = [&](Cell size) {
    if (small) {
      ++counters[size];
    } else if (size != 0) {
      step.classes->Add(static_cast<std::int64_t>(size));
    }
  };
  if (step.leaf) {
    for (std::size_t i = 0; i < count; ++i) {
      add(table[cells[i]]);
      table[cells[i]] = 0;
    }
    return;
  }
  std::size_t left = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t cell = cells[i];
    const Cell size = table[cell];
    table[cell] = 0;
    own.words[left] = words[i];
    cells[left] = cell;
    left += size != 1;
    if (size != 1) add(size);
  }
  step.lone += static_cast<std::int64_t>(count - left);
  own.count = left;
}

template class SubsetCube<NarrowWord>;
template class SubsetCube<WideWord>;

}  // namespace privacy_score
