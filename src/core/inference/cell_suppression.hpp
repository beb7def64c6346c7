/*
 * cell_suppression.hpp - which cells of a two-way table with margins are left out, so that small ones cannot be had.
 *
 * Cells below a minimum are suppressed, margins too. That is not enough, for rows and columns sum to their margins; so
 * complementary cells are suppressed until an attacker who knows the cells that are shown, and that no count is
 * negative, can bound no suppressed cell x, complementary ones included, more tightly than [x - a, x + a], where a is
 * asked(x) = max(1, protection x), rounded up, and the lower end at least 0.
 *
 * The table is a network: cells are arcs between rows and columns, margins arcs back, and the sums say that what flows
 * into a node flows out. What an attacker cannot exclude are the circulations that agree with the cells shown. So a
 * cell can be x + a if a units can be sent around through it over suppressed cells, and all numbers are whole: bounds
 * over whole tables are those of the linear program.
 *
 * For each suppressed cell the ways around are cheapest paths in which a shown cell costs as much as it counts, a
 * margin more than all other cells, and the total more than all margins; what they use is suppressed as well [Castro;
 * Kelly]. Then complementary cells that turn out not to be needed are shown again. That is a heuristic: it always
 * protects, and suppresses few cells, not provably the fewest.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/paused.hpp"

namespace privacy_score {

enum class CellState : std::uint8_t { kShown, kPrimary, kComplementary };

class CellSuppression {
 public:
  // Throws Error 22023 unless min_cell is at least 1 and the protection from 0 to 1.
  static void CheckRule(std::int64_t min_cell, double protection);
  // Throws Error 54000 beyond 10^6 cells, margins among them.
  static void CheckSize(std::size_t rows, std::size_t columns);

  // Counts row by row, none negative and their sum below 2^53. Throws what both checks throw, and Error 22023 unless
  // there is a row and a column.
  CellSuppression(std::size_t rows, std::size_t columns, const std::vector<std::int64_t>& counts, std::int64_t min_cell,
                  double protection);

  // False when it was interrupted: call it again, it goes on where it was.
  bool Run(const WorkControl& control);

  // Row rows() and column columns() are the margins.
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::int64_t Count(std::size_t row, std::size_t column) const { return counts_[Cell(row, column)]; }
  CellState State(std::size_t row, std::size_t column) const { return states_[Cell(row, column)]; }
  std::int64_t Asked(std::size_t row, std::size_t column) const { return AskedOf(Cell(row, column)); }

  // How far Run is, in cells to protect, of which there may come more.
  std::int64_t done() const { return static_cast<std::int64_t>(next_); }
  std::int64_t total() const { return static_cast<std::int64_t>(to_protect_.size()); }

 private:
  struct Cost {
    std::int64_t margins, counts;
    bool operator<(const Cost& other) const {
      return margins != other.margins ? margins < other.margins : counts < other.counts;
    }
  };
  // A way of a path into a node: over a cell, with the direction or against it.
  struct Step {
    std::size_t cell;
    bool rises;
  };

  std::size_t Cell(std::size_t row, std::size_t column) const { return row * (columns_ + 1) + column; }
  std::size_t Nodes() const { return rows_ + columns_ + 2; }
  std::size_t Tail(std::size_t cell) const;
  std::size_t Head(std::size_t cell) const;
  bool Reversed(std::size_t cell) const;
  std::int64_t AskedOf(std::size_t cell) const;
  Cost CostOf(std::size_t cell) const;
  std::size_t Before(std::size_t node) const;
  bool Passes(std::size_t cell, std::size_t without, bool rises, std::int64_t amount) const;
  bool FindFreePath(std::size_t from, std::size_t to, std::size_t without, std::int64_t amount, PauseCounter* pause);
  bool FindPath(std::size_t from, std::size_t to, std::size_t without, std::int64_t amount, bool buy,
                PauseCounter* pause);
  bool CanMove(std::size_t cell, bool up, bool buy, PauseCounter* pause);
  bool IsProtected(std::size_t cell, PauseCounter* pause);
  void Protect(std::size_t cell, PauseCounter* pause);
  bool Shows(std::size_t cell, PauseCounter* pause);
  void Tidy(PauseCounter* pause);

  std::size_t rows_;
  std::size_t columns_;
  double protection_;
  std::vector<std::int64_t> counts_;  // with margins
  std::vector<CellState> states_;
  std::vector<std::size_t> to_protect_;  // grows
  std::size_t next_ = 0;
  std::vector<std::size_t> to_tidy_;
  std::size_t next_tidied_ = 0;
  bool tidying_ = false;
  std::uint64_t looked_at_ = 0;  // arcs, since tidying began

  // Of the way at hand: what each cell has moved, and which have.
  std::vector<std::int64_t> moved_;
  std::vector<bool> bought_;
  std::vector<std::size_t> touched_;
  std::vector<Cost> distances_;
  std::vector<Step> steps_;
  std::vector<std::uint8_t> settled_;
  std::vector<std::size_t> stack_;
};

}  // namespace privacy_score
