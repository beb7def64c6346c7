/*
 * cell_suppression.cpp - see cell_suppression.hpp.
 *
 * Nodes are the rows, the row of margins, the columns and the column of margins. A cell leads from its row to its
 * column, and so does the total; a margin leads back. Between every row and every column there is one arc, so a path is
 * looked for by Dijkstra's algorithm on the full bipartite graph, which ends when the node is reached.
 */
#include "core/inference/cell_suppression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMostCells = 1'000'000;
constexpr std::int64_t kMostRecords = std::int64_t{1} << 53U;
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMostTidying = 500'000'000;  // arcs that tidying looks at: some seconds

}  // namespace

void CellSuppression::CheckRule(std::int64_t min_cell, double protection) {
  if (min_cell < 1)
    throw InvalidValue("min_cell must be at least 1, not " + std::to_string(min_cell),
                       "Cells that count less are suppressed.");
  if (!(protection >= 0 && protection <= 1))
    throw InvalidValue("protection must be from 0 to 1, not " + TextOf(protection),
                       "It is the share of a suppressed cell by which nobody can tell it from more and from less.");
}

void CellSuppression::CheckSize(std::size_t rows, std::size_t columns) {
  if (rows + 1 > kMostCells / (columns + 1))
    throw Error("54000",
                "a table can have at most " + std::to_string(kMostCells) + " cells, not " + std::to_string(rows + 1) +
                    " times " + std::to_string(columns + 1),
                "Group the values of the attributes, for example in a view.");
}

CellSuppression::CellSuppression(std::size_t rows, std::size_t columns, const std::vector<std::int64_t>& counts,
                                 std::int64_t min_cell, double protection)
    : rows_(rows), columns_(columns), protection_(protection) {
  CheckRule(min_cell, protection);
  CheckSize(rows, columns);
  if (rows == 0 || columns == 0)
    throw InvalidValue("a table must have a row and a column", "A relation without records has no table.");
  counts_.assign((rows + 1) * (columns + 1), 0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::int64_t count = counts[row * columns + column];
      counts_[Cell(row, column)] = count;
      counts_[Cell(row, columns)] += count;
      counts_[Cell(rows, column)] += count;
      counts_[Cell(rows, columns)] += count;
    }
  }
  if (counts_.back() >= kMostRecords)
    throw Error("54000", "a table can count at most 2^53 records", "Publish fewer records at a time.");
  states_.assign(counts_.size(), CellState::kShown);
  for (std::size_t cell = 0; cell < counts_.size(); ++cell) {
    if (counts_[cell] >= min_cell) continue;
    states_[cell] = CellState::kPrimary;
    to_protect_.push_back(cell);
  }
  // The greatest first: what it takes protects the others, too.
  std::stable_sort(to_protect_.begin(), to_protect_.end(),
                   [&](std::size_t a, std::size_t b) { return counts_[a] > counts_[b]; });
  moved_.assign(counts_.size(), 0);
  bought_.assign(counts_.size(), false);
  distances_.resize(Nodes());
  steps_.resize(Nodes());
  settled_.resize(Nodes());
}

bool CellSuppression::Reversed(std::size_t cell) const {
  return (cell / (columns_ + 1) == rows_) != (cell % (columns_ + 1) == columns_);
}

std::size_t CellSuppression::Tail(std::size_t cell) const {
  return Reversed(cell) ? rows_ + 1 + cell % (columns_ + 1) : cell / (columns_ + 1);
}

std::size_t CellSuppression::Head(std::size_t cell) const {
  return Reversed(cell) ? cell / (columns_ + 1) : rows_ + 1 + cell % (columns_ + 1);
}

// The node before one on the path at hand.
std::size_t CellSuppression::Before(std::size_t node) const {
  const Step step = steps_[node];
  return step.rises ? Tail(step.cell) : Head(step.cell);
}

std::int64_t CellSuppression::AskedOf(std::size_t cell) const {
  // What rounding of the product adds is no reason to ask for one more.
  const double share = std::ceil(protection_ * static_cast<double>(counts_[cell]) - 1e-9);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(share));
}

CellSuppression::Cost CellSuppression::CostOf(std::size_t cell) const {
  if (states_[cell] != CellState::kShown || bought_[cell]) return {0, 0};
  const bool row_margin = cell % (columns_ + 1) == columns_;
  const bool column_margin = cell / (columns_ + 1) == rows_;
  const auto all = static_cast<std::int64_t>(Nodes());
  return {row_margin && column_margin ? all : row_margin || column_margin ? 1 : 0, counts_[cell] + 1};
}

// Whether `amount` units can go over a cell, and over it upwards.
bool CellSuppression::Passes(std::size_t cell, std::size_t without, bool rises, std::int64_t amount) const {
  return cell != without && (rises || counts_[cell] + moved_[cell] >= amount);
}

// A path that costs nothing, over suppressed cells. Depth first: most are found after a few nodes.
bool CellSuppression::FindFreePath(std::size_t from, std::size_t to, std::size_t without, std::int64_t amount,
                                   PauseCounter* pause) {
  std::fill(settled_.begin(), settled_.end(), std::uint8_t{0});
  settled_[from] = 1;
  stack_.assign(1, from);
  while (!stack_.empty()) {
    const std::size_t node = stack_.back();
    stack_.pop_back();
    const bool is_row = node <= rows_;
    const std::size_t others = is_row ? columns_ + 1 : rows_ + 1;
    for (std::size_t i = 0; i < others; ++i) {
      const std::size_t other = is_row ? rows_ + 1 + i : i;
      if (settled_[other] != 0) continue;
      const std::size_t cell = is_row ? Cell(node, i) : Cell(i, node - rows_ - 1);
      // Rows are tails of the cells that are not reversed.
      const bool rises = is_row != Reversed(cell);
      if ((states_[cell] == CellState::kShown && !bought_[cell]) || !Passes(cell, without, rises, amount)) continue;
      steps_[other] = {cell, rises};
      if (other == to) return true;
      settled_[other] = 1;
      stack_.push_back(other);
    }
    pause->Add(others);
    looked_at_ += others;
  }
  return false;
}

// The cheapest path that `amount` units can take, without a cell and, unless `buy`, over suppressed cells only. Its
// steps are left in steps_, from its end.
bool CellSuppression::FindPath(std::size_t from, std::size_t to, std::size_t without, std::int64_t amount, bool buy,
                               PauseCounter* pause) {
  if (FindFreePath(from, to, without, amount, pause)) return true;
  if (!buy) return false;
  std::fill(distances_.begin(), distances_.end(), Cost{kFar, 0});
  std::fill(settled_.begin(), settled_.end(), std::uint8_t{0});
  distances_[from] = {0, 0};
  for (;;) {
    std::size_t node = Nodes();
    for (std::size_t i = 0; i < Nodes(); ++i)
      if (settled_[i] == 0 && distances_[i].margins != kFar && (node == Nodes() || distances_[i] < distances_[node]))
        node = i;
    if (node == Nodes()) return false;
    if (node == to) return true;
    settled_[node] = 1;
    const bool is_row = node <= rows_;
    const std::size_t others = is_row ? columns_ + 1 : rows_ + 1;
    for (std::size_t i = 0; i < others; ++i) {
      const std::size_t other = is_row ? rows_ + 1 + i : i;
      if (settled_[other] != 0) continue;
      const std::size_t cell = is_row ? Cell(node, i) : Cell(i, node - rows_ - 1);
      const bool rises = is_row != Reversed(cell);
      if (!Passes(cell, without, rises, amount)) continue;
      const Cost step = CostOf(cell);
      const Cost distance = {distances_[node].margins + step.margins, distances_[node].counts + step.counts};
      if (!(distance < distances_[other])) continue;
      distances_[other] = distance;
      steps_[other] = {cell, rises};
    }
    pause->Add(others);
  }
}

// Whether a cell can be as much greater, or less, as is asked. With `buy`, cells that are shown may be used, and are
// left in touched_ with what they move.
bool CellSuppression::CanMove(std::size_t cell, bool up, bool buy, PauseCounter* pause) {
  for (const std::size_t each : touched_) {
    moved_[each] = 0;
    bought_[each] = false;
  }
  touched_.clear();
  std::int64_t left = up ? AskedOf(cell) : std::min(AskedOf(cell), counts_[cell]);
  const std::size_t from = up ? Head(cell) : Tail(cell);
  const std::size_t to = up ? Tail(cell) : Head(cell);
  // All at once if there is such a way, else in parts.
  for (std::int64_t amount = left; left > 0;) {
    amount = std::min(amount, left);
    if (!FindPath(from, to, cell, amount, buy, pause)) {
      if (amount == 1) return false;
      amount /= 2;
      continue;
    }
    std::int64_t units = left;
    for (std::size_t node = to; node != from; node = Before(node))
      if (!steps_[node].rises) units = std::min(units, counts_[steps_[node].cell] + moved_[steps_[node].cell]);
    for (std::size_t node = to; node != from; node = Before(node)) {
      const Step step = steps_[node];
      moved_[step.cell] += step.rises ? units : -units;
      bought_[step.cell] = true;
      touched_.push_back(step.cell);
    }
    left -= units;
  }
  return true;
}

bool CellSuppression::IsProtected(std::size_t cell, PauseCounter* pause) {
  return CanMove(cell, true, false, pause) && CanMove(cell, false, false, pause);
}

void CellSuppression::Protect(std::size_t cell, PauseCounter* pause) {
  for (const bool up : {true, false}) {
    // With all cells to be had there is a way: a row's and a column's margin and the total move with the cell.
    if (!CanMove(cell, up, true, pause)) throw Error("XX000", "a cell of a table cannot be protected");
    for (const std::size_t used : touched_) {
      if (states_[used] != CellState::kShown || moved_[used] == 0) continue;
      states_[used] = CellState::kComplementary;
      to_protect_.push_back(used);
    }
  }
}

// Whether all others stay protected when a complementary cell is shown; if so it is.
bool CellSuppression::Shows(std::size_t cell, PauseCounter* pause) {
  states_[cell] = CellState::kShown;
  try {
    // Its neighbours suffer first.
    for (const bool near : {true, false})
      for (const std::size_t other : to_protect_)
        if (states_[other] != CellState::kShown &&
            (other / (columns_ + 1) == cell / (columns_ + 1) || other % (columns_ + 1) == cell % (columns_ + 1)) ==
                near &&
            (looked_at_ > kMostTidying || !IsProtected(other, pause))) {
          states_[cell] = CellState::kComplementary;
          return false;
        }
  } catch (const Paused&) {
    states_[cell] = CellState::kComplementary;
    throw;
  }
  return true;
}

void CellSuppression::Tidy(PauseCounter* pause) {
  if (!tidying_) {
    tidying_ = true;
    looked_at_ = 0;
    for (const std::size_t cell : to_protect_)
      if (states_[cell] == CellState::kComplementary) to_tidy_.push_back(cell);
    const auto worth = [&](std::size_t cell) {
      states_[cell] = CellState::kShown;
      const Cost cost = CostOf(cell);
      states_[cell] = CellState::kComplementary;
      return cost;
    };
    std::fill(bought_.begin(), bought_.end(), false);
    std::stable_sort(to_tidy_.begin(), to_tidy_.end(),
                     [&](std::size_t a, std::size_t b) { return worth(b) < worth(a); });
  }
  for (; next_tidied_ < to_tidy_.size() && looked_at_ < kMostTidying; ++next_tidied_)
    Shows(to_tidy_[next_tidied_], pause);
}

bool CellSuppression::Run(const WorkControl& control) try {
  PauseCounter pause(control);
  // Of a cell that was interrupted some complementary cells may be there; it is protected anew.
  for (; next_ < to_protect_.size(); ++next_) Protect(to_protect_[next_], &pause);
  Tidy(&pause);
  return true;
} catch (const Paused&) {
  return false;
}

}  // namespace privacy_score
