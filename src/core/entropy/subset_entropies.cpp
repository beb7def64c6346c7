/*
 * subset_entropies.cpp - see subset_entropies.hpp.
 */
#include "core/entropy/subset_entropies.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/sort_unique.hpp"
#include "core/entropy/cube_family.hpp"
#include "core/entropy/entropy.hpp"
#include "core/entropy/subset_cube.hpp"
#include "core/entropy/subset_refinement.hpp"

namespace privacy_score {

namespace {

// Arrays of this many cells may be walked at random without leaving the cache.
constexpr std::size_t kCacheCells = std::size_t{1} << 20;
constexpr std::size_t kMaxCells = std::size_t{1} << 24;
constexpr std::size_t kLeastCells = std::size_t{1} << 12;
// Counters of class sizes of all sets together, and of one.
constexpr std::size_t kAllCounters = std::size_t{1} << 19;
constexpr std::size_t kMostCounters = 1024;
constexpr std::size_t kLeastCounters = 32;

}  // namespace

// The different sets and the walk that counts their classes.
class SubsetEntropies::Walk {
 public:
  // Sets hold columns that have more than one code, ascending.
  Walk(CodedRows& rows, std::vector<std::vector<std::size_t>> sets)
      : counters_(sets.size(),
                  ClassHistogram(std::clamp(kAllCounters / (sets.size() + 1), kLeastCounters, kMostCounters))) {
    std::vector<std::size_t> columns;
    for (const auto& set : sets) columns.insert(columns.end(), set.begin(), set.end());
    SortUnique(columns);
    std::vector<PackedColumn> packed(rows.columns());
    for (const std::size_t column : columns) {
      packed[column] = rows.narrow() != nullptr ? rows.narrow()->columns()[column]
                                                : PackedColumn{rows.domain(column), BitsOf(rows.domain(column)), 0};
    }
    // In narrow words the columns stay where they are, which is roughly by descending domain too.
    std::stable_sort(columns.begin(), columns.end(), [&](std::size_t a, std::size_t b) {
      return packed[a].shift != packed[b].shift ? packed[a].shift > packed[b].shift
                                                : packed[a].domain > packed[b].domain;
    });
    std::vector<std::uint32_t> position(rows.columns(), 0);
    for (std::size_t i = 0; i < columns.size(); ++i) position[columns[i]] = static_cast<std::uint32_t>(i);
    std::vector<CubeSet> cube_sets;
    for (const auto& set : sets) {
      CubeSet cube_set;
      for (const std::size_t column : set) cube_set.columns.push_back(position[column]);
      std::sort(cube_set.columns.begin(), cube_set.columns.end());
      cube_set.classes = &counters_[cube_sets.size()];
      cube_sets.push_back(std::move(cube_set));
    }
    std::vector<PackedColumn> cube_columns;
    for (const std::size_t column : columns) cube_columns.push_back(packed[column]);
    const std::size_t limit = rows.memory_limit();
    sets_ = std::make_unique<CubeSets>(
        std::move(cube_columns), std::move(cube_sets),
        CubeLimits{std::clamp(limit / 64, kLeastCells, kCacheCells), std::clamp(limit / 16, kLeastCells, kMaxCells)});
    if (rows.narrow() != nullptr) {
      const std::size_t size = rows.narrow()->size();
      words_ = rows.narrow()->TakeWords();
      cube_ = std::make_unique<SubsetCube<NarrowWord>>(sets_.get(), words_.data(), size, rows.narrow()->weight_bits());
    } else {
      rows.wide()->Freeze();
      refinement_ = std::make_unique<SubsetRefinement>(*rows.wide(), std::move(columns), rows.rows(), sets_.get());
    }
  }

  bool Run(const WorkControl& control) {
    if (!(cube_ != nullptr ? cube_->Run(control) : refinement_->Run(control))) return false;
    sets_->AddLone();
    return true;
  }

  std::size_t sets() const { return counters_.size(); }

  SubsetFacts FactsOf(std::size_t set) const {
    SubsetFacts facts;
    const ClassSizes sizes = counters_[set].Sizes();
    for (const SizeCount& entry : sizes) {
      facts.rows += entry.size * entry.count;
      facts.classes += entry.count;
      if (entry.size == 1) facts.uniques += entry.count;
    }
    facts.entropy = Entropy(sizes);
    return facts;
  }

 private:
  std::vector<ClassHistogram> counters_;
  std::unique_ptr<CubeSets> sets_;
  PlainBuffer<NarrowWord> words_;
  std::unique_ptr<SubsetCube<NarrowWord>> cube_;
  std::unique_ptr<SubsetRefinement> refinement_;
};

SubsetEntropies::SubsetEntropies(CodedRows& rows, const std::vector<std::vector<std::size_t>>& sets)
    : facts_(sets.size()) {
  std::map<std::vector<std::size_t>, std::size_t> different;
  std::vector<std::vector<std::size_t>> walked;
  for (std::vector<std::size_t> set : sets) {
    for (const std::size_t column : set) {
      if (column >= rows.columns())
        throw InvalidValue("column must be below " + std::to_string(rows.columns()) + ", not " +
                           std::to_string(column));
    }
    // A column with one code splits nothing.
    set.erase(std::remove_if(set.begin(), set.end(), [&](std::size_t c) { return rows.domain(c) < 2; }), set.end());
    SortUnique(set);
    const auto [place, added] = different.emplace(std::move(set), walked.size());
    if (added) walked.push_back(place->first);
    walked_.push_back(place->second);
  }
  walk_ = std::make_unique<Walk>(rows, std::move(walked));
}

SubsetEntropies::~SubsetEntropies() = default;

bool SubsetEntropies::Run(const WorkControl& control) {
  if (walk_ == nullptr) return true;
  if (control.total != nullptr) *control.total = static_cast<std::int64_t>(walk_->sets());
  if (control.Interrupted() || !walk_->Run(control)) return false;
  control.Show(1);
  std::vector<SubsetFacts> facts;
  for (std::size_t set = 0; set < walk_->sets(); ++set) facts.push_back(walk_->FactsOf(set));
  for (std::size_t i = 0; i < facts_.size(); ++i) facts_[i] = facts[walked_[i]];
  walk_.reset();
  return true;
}

}  // namespace privacy_score
