/*
 * cell_suppression_test.cpp - suppressed cells of two-way tables against attackers: linear programs over what is shown,
 * and enumeration of all tables that agree with it.
 */
#include "core/inference/cell_suppression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "core/inference/linear_program.hpp"
#include "error_fixture.hpp"
#include "sanitizers.hpp"
#include "solver_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::Maximise;

CellSuppression Suppress(std::size_t rows, std::size_t columns, const std::vector<std::int64_t>& counts,
                         std::int64_t min_cell, double protection = 0.1) {
  CellSuppression table(rows, columns, counts, min_cell, protection);
  EXPECT_TRUE(table.Run({}));
  EXPECT_EQ(table.done(), table.total());
  return table;
}

// Row by row with margins: a count, "." for primary, "+" for complementary.
std::string Shown(const CellSuppression& table) {
  std::string text;
  for (std::size_t row = 0; row <= table.rows(); ++row) {
    for (std::size_t column = 0; column <= table.columns(); ++column) {
      const CellState state = table.State(row, column);
      text += column > 0 ? " " : "";
      text += state == CellState::kPrimary         ? "."
              : state == CellState::kComplementary ? "+"
                                                   : std::to_string(table.Count(row, column));
    }
    text += row < table.rows() ? " | " : "";
  }
  return text;
}

bool IsShown(const CellSuppression& table, std::size_t row, std::size_t column) {
  return table.State(row, column) == CellState::kShown;
}

constexpr std::size_t kNoCell = static_cast<std::size_t>(-1);

// What the sums say of the cells, all unknown but those that are shown, and perhaps another one.
LinearProgram Attack(const CellSuppression& table, std::size_t known = kNoCell) {
  LinearForm form;
  const std::size_t width = table.columns() + 1;
  for (std::size_t row = 0; row <= table.rows(); ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      const auto count = static_cast<double>(table.Count(row, column));
      const bool shown = IsShown(table, row, column) || row * width + column == known;
      form.AddColumn(shown ? count : 0, shown ? count : kNoLinearBound);
    }
  }
  const auto add_sum = [&](std::size_t from, std::size_t step, std::size_t terms) {
    std::vector<int> columns;
    std::vector<double> values;
    for (std::size_t i = 0; i <= terms; ++i) {
      columns.push_back(static_cast<int>(from + i * step));
      values.push_back(i < terms ? 1 : -1);
    }
    form.AddRow(columns, values, 0, 0);
  };
  for (std::size_t row = 0; row <= table.rows(); ++row) add_sum(row * width, 1, table.columns());
  for (std::size_t column = 0; column < width; ++column) add_sum(column, width, table.rows());
  return LinearProgram(*ps_linear_solver(), form);
}

// That no suppressed cell can be bounded more tightly than is asked, and that cells below the minimum are suppressed.
void ExpectWithstands(const CellSuppression& table, std::int64_t min_cell) {
  LinearProgram attack = Attack(table);
  const std::size_t width = table.columns() + 1;
  std::vector<double> costs(width * (table.rows() + 1));
  for (std::size_t row = 0; row <= table.rows(); ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      const std::int64_t count = table.Count(row, column);
      EXPECT_EQ(count < min_cell, table.State(row, column) == CellState::kPrimary);
      if (IsShown(table, row, column)) continue;
      costs[row * width + column] = 1;
      const auto asked = static_cast<double>(table.Asked(row, column));
      const LinearSolution least = attack.Minimise(costs, {});
      ASSERT_EQ(least.status, LinearSolution::Status::kOptimal);
      EXPECT_LE(least.objective, std::max(0.0, static_cast<double>(count) - asked) + 1e-6) << Shown(table);
      const LinearSolution greatest = Maximise(attack, costs);
      if (greatest.status != LinearSolution::Status::kUnbounded) {
        ASSERT_EQ(greatest.status, LinearSolution::Status::kOptimal);
        EXPECT_GE(greatest.objective, static_cast<double>(count) + asked - 1e-6) << Shown(table);
      }
      costs[row * width + column] = 0;
    }
  }
}

TEST(CellSuppression, KnownTables) {
  // Nothing is small.
  EXPECT_EQ(Shown(Suppress(2, 2, {5, 6, 7, 8}, 5)), "5 6 11 | 7 8 15 | 12 14 26");
  // One small cell takes three others with it, the cheapest that are large enough.
  EXPECT_EQ(Shown(Suppress(3, 3, {2, 30, 9, 40, 50, 60, 8, 70, 7}, 5)),
            ". 30 + 41 | 40 50 60 150 | + 70 + 85 | 50 150 76 276");
  // Two rows and columns of small cells protect each other.
  EXPECT_EQ(Shown(Suppress(2, 2, {1, 2, 2, 1}, 3)), ". . 3 | . . 3 | 3 3 6");
  // Beside a zero a cell cannot be greater, unless its row has more to take from: so margins go, but not the total.
  EXPECT_EQ(Shown(Suppress(2, 2, {0, 9, 9, 9}, 1)), ". + + | + 9 + | + + 27");
  // With one column every cell is a margin, and margins below the minimum are small cells, too.
  EXPECT_EQ(Shown(Suppress(3, 1, {1, 9, 9}, 5)), ". . | + + | 9 9 | 19 19");
  EXPECT_EQ(Shown(Suppress(1, 1, {3}, 5)), ". . | . .");
  EXPECT_EQ(Shown(Suppress(1, 1, {7}, 5)), "7 7 | 7 7");
}

TEST(CellSuppression, ProtectionScales) {
  // 10 and 20 in the corner are 15 percent short of what 90 asks for at 0.2: larger cells go along.
  for (const double protection : {0.0, 0.1, 0.2, 0.5, 1.0}) {
    const CellSuppression table = Suppress(3, 3, {90, 200, 310, 150, 260, 70, 80, 90, 100}, 75, protection);
    ExpectWithstands(table, 75);
    EXPECT_EQ(table.Asked(1, 2), std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(70 * protection))));
  }
}

TEST(CellSuppression, RandomTablesWithstandLinearPrograms) {
  std::mt19937_64 random(3);
  int with_margins = 0;
  int without = 0;
  for (int round = 0; round < testing_support::Instances(800); ++round) {
    const std::size_t rows = 1 + random() % 6;
    const std::size_t columns = 1 + random() % 6;
    const int kind = static_cast<int>(random() % 4);
    std::vector<std::int64_t> counts(rows * columns);
    for (std::int64_t& count : counts) {
      const auto even = static_cast<std::int64_t>(random() % 40);
      count = kind == 0   ? even
              : kind == 1 ? even * even * even / 200
              : kind == 2 ? std::max<std::int64_t>(0, even - 25)
                          : even + 2;
    }
    const auto min_cell = static_cast<std::int64_t>(1 + random() % 10);
    const double protection = static_cast<double>(random() % 11) / 20;
    const CellSuppression table = Suppress(rows, columns, counts, min_cell, protection);
    ExpectWithstands(table, min_cell);
    if (HasFailure()) FAIL() << "round " << round;
    bool margin = false;
    for (std::size_t row = 0; row < rows; ++row)
      margin = margin || table.State(row, columns) == CellState::kComplementary;
    ++(margin ? with_margins : without);
  }
  EXPECT_GT(with_margins, testing_support::Instances(20));
  EXPECT_GT(without, testing_support::Instances(200));
}

// All tables of whole numbers that agree with what is shown: for each suppressed cell there are two that differ by as
// much as is asked.
TEST(CellSuppression, SmallTablesWithstandEnumeration) {
  std::mt19937_64 random(4);
  int attacked = 0;
  for (int round = 0; round < 900; ++round) {
    const std::size_t rows = 2 + random() % 2;
    const std::size_t columns = 2 + random() % 2;
    std::vector<std::int64_t> counts(rows * columns);
    for (std::int64_t& count : counts) count = static_cast<std::int64_t>(random() % 7);
    const CellSuppression table = Suppress(rows, columns, counts, 3, 0.3);
    constexpr std::int64_t kMost = 14;
    std::vector<std::int64_t> least(counts.size(), kMost + 1);
    std::vector<std::int64_t> greatest(counts.size(), -1);
    std::vector<std::int64_t> guess(counts.size());
    const auto agrees = [&](std::size_t row, std::size_t column) {
      std::int64_t sum = 0;
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
          if ((row == rows || r == row) && (column == columns || c == column)) sum += guess[r * columns + c];
      return !IsShown(table, row, column) || sum == table.Count(row, column);
    };
    const std::function<void(std::size_t)> fill = [&](std::size_t cell) {
      if (cell > 0 && cell % columns == 0 && !agrees(cell / columns - 1, columns)) return;
      if (cell == counts.size()) {
        for (std::size_t c = 0; c <= columns; ++c)
          if (!agrees(rows, c)) return;
        for (std::size_t i = 0; i < counts.size(); ++i) {
          least[i] = std::min(least[i], guess[i]);
          greatest[i] = std::max(greatest[i], guess[i]);
        }
        return;
      }
      const bool shown = IsShown(table, cell / columns, cell % columns);
      for (std::int64_t count = shown ? counts[cell] : 0; count <= (shown ? counts[cell] : kMost); ++count) {
        guess[cell] = count;
        fill(cell + 1);
      }
    };
    // Where margins are suppressed, or much else, there are too many.
    int unknown = 0;
    bool margins = false;
    for (std::size_t r = 0; r <= rows; ++r)
      for (std::size_t c = 0; c <= columns; ++c)
        if (!IsShown(table, r, c)) r == rows || c == columns ? margins = true : (++unknown, false);
    if (margins || unknown > 6 || unknown == 0) continue;
    fill(0);
    ++attacked;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (IsShown(table, i / columns, i % columns)) continue;
      const std::int64_t asked = table.Asked(i / columns, i % columns);
      EXPECT_LE(least[i], std::max<std::int64_t>(0, counts[i] - asked)) << Shown(table);
      EXPECT_GE(greatest[i], counts[i] + asked) << Shown(table);
    }
  }
  EXPECT_GT(attacked, 80);
}

// Interrupted at every question, the pattern is the same.
TEST(CellSuppression, GoesOnAfterInterrupts) {
  std::mt19937_64 random(5);
  std::vector<std::int64_t> counts(12 * 15);
  for (std::int64_t& count : counts) count = static_cast<std::int64_t>(random() % 50);
  const CellSuppression whole = Suppress(12, 15, counts, 5);
  CellSuppression paused(12, 15, counts, 5, 0.1);
  // Less and less often: what was begun when an interrupt came is begun anew.
  static int asked, next;
  asked = 0;
  next = 1;
  WorkControl control;
  control.work_between_questions = 100;
  control.interrupted = [] {
    if (++asked < next) return false;
    next = asked + asked / 3 + 1;
    return true;
  };
  int pauses = 0;
  while (!paused.Run(control)) ++pauses;
  EXPECT_GT(pauses, 3);
  EXPECT_EQ(Shown(paused), Shown(whole));
}

// Whether the pattern still withstands when one complementary cell is shown.
bool WithstandsWithout(const CellSuppression& table, std::size_t known) {
  LinearProgram attack = Attack(table, known);
  const std::size_t width = table.columns() + 1;
  const auto count_of = [&](std::size_t cell) { return static_cast<double>(table.Count(cell / width, cell % width)); };
  std::vector<double> costs(width * (table.rows() + 1));
  for (std::size_t cell = 0; cell < costs.size(); ++cell) {
    if (cell == known || IsShown(table, cell / width, cell % width)) continue;
    costs[cell] = 1;
    const auto asked = static_cast<double>(table.Asked(cell / width, cell % width));
    if (attack.Minimise(costs, {}).objective > std::max(0.0, count_of(cell) - asked) + 1e-6) return false;
    const LinearSolution greatest = Maximise(attack, costs);
    if (greatest.status == LinearSolution::Status::kOptimal && greatest.objective < count_of(cell) + asked - 1e-6)
      return false;
    costs[cell] = 0;
  }
  return true;
}

TEST(CellSuppression, NoComplementaryCellIsTooMany) {
  std::mt19937_64 random(6);
  int complementary = 0;
  for (int round = 0; round < 60; ++round) {
    const std::size_t rows = 2 + random() % 5;
    const std::size_t columns = 2 + random() % 5;
    std::vector<std::int64_t> counts(rows * columns);
    for (std::int64_t& count : counts) count = static_cast<std::int64_t>(random() % 60);
    const CellSuppression table = Suppress(rows, columns, counts, 8);
    for (std::size_t cell = 0; cell < (rows + 1) * (columns + 1); ++cell) {
      if (table.State(cell / (columns + 1), cell % (columns + 1)) != CellState::kComplementary) continue;
      ++complementary;
      EXPECT_FALSE(WithstandsWithout(table, cell)) << Shown(table) << " without " << cell;
    }
  }
  EXPECT_GT(complementary, 150);
}

TEST(CellSuppression, LargeTable) {
  std::mt19937_64 random(7);
  std::vector<std::int64_t> counts(20 * 25);
  for (std::int64_t& count : counts) count = static_cast<std::int64_t>(random() % 200);
  const CellSuppression table = Suppress(20, 25, counts, 5);
  ExpectWithstands(table, 5);
  for (std::size_t row = 0; row < 20; ++row) EXPECT_TRUE(IsShown(table, row, 25));
}

TEST(CellSuppression, Arguments) {
  EXPECT_EQ(ErrorOf([] { CellSuppression(1, 1, {1}, 0, 0.1); }), "22023 min_cell must be at least 1, not 0");
  EXPECT_EQ(ErrorOf([] { CellSuppression(1, 1, {1}, 5, -0.1); }), "22023 protection must be from 0 to 1, not -0.1");
  EXPECT_EQ(ErrorOf([] { CellSuppression(1, 1, {1}, 5, std::nan("")); }),
            "22023 protection must be from 0 to 1, not nan");
  EXPECT_EQ(ErrorOf([] { CellSuppression(0, 1, {}, 5, 0.1); }), "22023 a table must have a row and a column");
  EXPECT_EQ(ErrorOf([] { CellSuppression(1000, 1000, {}, 5, 0.1); }),
            "54000 a table can have at most 1000000 cells, not 1001 times 1001");
}

}  // namespace
}  // namespace privacy_score
