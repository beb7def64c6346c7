/*
 * cube_plan.hpp - how the classes of several sets of columns are counted over the same tuples.
 *
 * A plan is a list of steps for one pass each:
 *  - count: the cells of a set in a flat array, from the tuples;
 *  - roll up: the cells of a set from those of a set with a column more, by summing the column out;
 *  - touch: for sets with many more cells than there are tuples. Only the cells of the tuples are visited. A tuple of
 *    one row that is alone in its cell is alone in every finer set: it is counted there without being looked at again.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/entropy/class_histogram.hpp"
#include "core/entropy/packed_words.hpp"

namespace privacy_score {

// A set of columns, by ascending position in a list of columns, and what is counted for it.
struct CubeSet {
  std::vector<std::uint32_t> columns;
  ClassHistogram* classes = nullptr;
};

// What a column adds to the index of a cell: its code times the stride.
struct CubeTerm {
  unsigned shift = 0;
  std::uint32_t mask = 0;
  std::uint32_t stride = 0;
};

struct CubeStep {
  enum class Kind { kCount, kRollUp, kTouch };

  Kind kind = Kind::kCount;
  ClassHistogram* classes = nullptr;  // of the set; null when only other steps need it
  std::uint32_t cells = 0;
  std::vector<CubeTerm> terms;  // count: all columns; touch: those that the level above has not
  bool alone = false;           // count: beyond the cache, and no roll-up follows
  // Arrays: places in the arena, in cells. A roll-up sums in[outer][domain][inner] over the domain.
  std::uint32_t out = 0;
  std::uint32_t in = 0;
  std::uint32_t inner = 0;
  std::uint32_t domain = 0;
  // Touch: steps of the level below take the tuples that this one leaves, and end before step `next`.
  std::uint32_t level = 0;
  std::uint32_t next = 0;
  bool leaf = false;
  mutable std::int64_t lone = 0;  // tuples found alone here: classes of one row in the steps up to `next`
};

struct CubePlan {
  std::vector<CubeStep> steps;
  std::size_t arena_cells = 0;  // of the arrays that are needed at a time
  std::size_t touch_cells = 0;
  std::size_t levels = 0;
};

// Cells that arrays may have.
struct CubeLimits {
  std::size_t cache_cells = 0;  // may be walked at random without leaving the cache
  std::size_t max_cells = 0;    // those of few sets
};

// The plan for some sets over about so many tuples. Null when there are none, or their cells do not fit, or so many
// passes over the tuples would be needed that a partition by one column is the better beginning.
std::unique_ptr<CubePlan> MakeCubePlan(const std::vector<PackedColumn>& columns, const std::vector<CubeSet>& sets,
                                       const CubeLimits& limits, std::size_t tuples);

}  // namespace privacy_score
