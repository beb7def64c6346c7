/*
 * cube_family.hpp - the wanted sets of columns, split by which of the first columns they have.
 *
 * Columns are decided on in one order. The tuples of a family are counted by a plan (cube_plan.hpp) when the cells of
 * the columns that are left fit in the cache; else they are partitioned by the family's first column, which all sets
 * With() have, and the sets Without() come after. Families and plans are made when they are first needed, and belong to
 * the CubeSets.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "core/entropy/class_histogram.hpp"
#include "core/entropy/cube_plan.hpp"
#include "core/entropy/packed_words.hpp"

namespace privacy_score {

struct CubeSets;

class CubeFamily {
 public:
  static constexpr std::size_t kNoColumn = std::numeric_limits<std::size_t>::max();
  // A set, and how many of its columns are decided.
  struct Member {
    std::uint32_t set;
    std::uint32_t decided;
  };

  CubeFamily(CubeSets* cube, std::vector<Member> members);

  // The first column that a member still has; kNoColumn when none has.
  std::size_t column() const { return column_; }
  std::size_t size() const { return members_.size(); }
  // Members that are not exhausted, each with the columns that it still has.
  std::vector<CubeSet> Remaining() const;
  // Classes of the member without further columns; null when there is none.
  ClassHistogram* exhausted() const { return exhausted_; }
  // Sets that have column(), and those that do not; null when there are none.
  CubeFamily* With();
  CubeFamily* Without();
  // How `tuples` tuples are counted; null: by partition.
  const CubePlan* PlanFor(std::size_t tuples);
  // Weights of tuples that are alone with the columns decided so far: classes in every member.
  ClassHistogram& lone() { return lone_; }
  void AddLone() const;

 private:
  struct Choice {
    bool made = false;
    std::unique_ptr<CubePlan> plan;
  };

  void Split();

  CubeSets* cube_;
  std::vector<Member> members_;
  std::size_t column_ = kNoColumn;
  ClassHistogram* exhausted_ = nullptr;
  ClassHistogram lone_{8};
  bool split_ = false;
  CubeFamily* with_ = nullptr;
  CubeFamily* without_ = nullptr;
  std::array<Choice, 64> choices_;  // by the logarithm of the number of tuples
};

// Columns in the order of decision, those with more codes first, none with fewer than two; different sets of them.
struct CubeSets {
  CubeSets(std::vector<PackedColumn> columns, std::vector<CubeSet> sets, const CubeLimits& limits);
  CubeSets(const CubeSets&) = delete;
  CubeSets& operator=(const CubeSets&) = delete;

  // The family of all the sets.
  CubeFamily& all() { return families.front(); }
  // Adds to the classes of all sets what was counted once for many of them. To be called once, at the end.
  void AddLone();

  std::vector<PackedColumn> columns;
  std::vector<CubeSet> sets;
  CubeLimits limits;
  std::deque<CubeFamily> families;
};

}  // namespace privacy_score
