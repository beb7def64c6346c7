/*
 * cube_plan.cpp - see cube_plan.hpp.
 *
 * What is counted in arrays forms a forest: a set takes its cells from the smallest array with its columns, and sets
 * without such an array share one when their union is small, because a pass over the tuples costs more than a pass over
 * as many cells. Arrays of a tree are made depth first, so that only a path of them exists at a time. Columns with more
 * codes are the inner axes: summing out an outer axis adds rows to rows. What is touched forms a forest too: a set
 * comes below the set with a column less that has the most cells.
 */
#include "core/entropy/cube_plan.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/sort_unique.hpp"

namespace privacy_score {

namespace {

// Cells in an array for one tuple: beyond it, visiting the cells of the tuples is cheaper than visiting all cells.
constexpr std::size_t kCellsPerTuple = 4;
// A set of its own may fill an array this often, though it leaves the cache.
constexpr std::size_t kCellsPerTupleAlone = 2;
// As many passes over the tuples at random cost less than a sort.
constexpr std::size_t kMaxRoots = 8;
// Sets with so few tuples are touched; with more, arrays of the cache are full enough.
constexpr std::size_t kTouchShare = 16;
// Beyond so many sets only the neighbours of a set are looked at for its parent.
constexpr std::size_t kSearched = 512;
constexpr std::size_t kArrayAlignment = 32;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

using Mask = std::uint64_t;

struct Node {
  Mask mask = 0;
  std::size_t cells = 0;
  ClassHistogram* classes = nullptr;
  std::size_t parent = kNone;
  std::vector<std::size_t> children;
};

class PlanMaker {
 public:
  PlanMaker(const std::vector<PackedColumn>& columns, const CubeLimits& limits, std::size_t tuples)
      : all_columns_(columns), limits_(limits), tuples_(tuples) {}

  std::unique_ptr<CubePlan> Make(const std::vector<CubeSet>& sets) {
    if (!TakeColumns(sets)) return nullptr;
    const std::size_t cache = limits_.cache_cells;
    const bool small = Cells(~Mask{0} >> (64 - columns_.size())) <= cache;
    const bool touch = tuples_ <= cache / kTouchShare;
    const std::size_t cached = touch ? std::min(cache, kCellsPerTuple * tuples_) : cache;
    array_cells_ = small ? cached : std::max(cached, std::min(limits_.max_cells, kCellsPerTupleAlone * tuples_));
    std::vector<Node> arrays;
    std::vector<Node> touched;
    for (const Node& set : sets_) {
      if (set.cells <= array_cells_) {
        arrays.push_back(set);
      } else if (touch && set.cells <= cache) {
        touched.push_back(set);
      } else {
        return nullptr;
      }
    }
    MakeArrays(std::move(arrays));
    if (!small && RootsOf(nodes_) + touched.size() > kMaxRoots) return nullptr;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].parent == kNone) EmitArray(i, 0);
    MakeTouched(std::move(touched));
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].parent == kNone) EmitTouched(i, 0);
    return std::make_unique<CubePlan>(std::move(plan_));
  }

 private:
  // The columns that sets have, and the sets as masks of them.
  bool TakeColumns(const std::vector<CubeSet>& sets) {
    for (const CubeSet& set : sets) columns_.insert(columns_.end(), set.columns.begin(), set.columns.end());
    SortUnique(columns_);
    if (columns_.empty() || columns_.size() > 64) return false;
    for (const CubeSet& set : sets) {
      Node node;
      for (const std::uint32_t column : set.columns)
        node.mask |= Mask{1} << (std::lower_bound(columns_.begin(), columns_.end(), column) - columns_.begin());
      node.cells = Cells(node.mask);
      node.classes = set.classes;
      sets_.push_back(node);
    }
    return true;
  }

  std::size_t Domain(std::size_t column) const { return all_columns_[columns_[column]].domain; }

  // The product of the domains; kNone when it leaves the range of array indexes.
  std::size_t Cells(Mask mask) const {
    std::size_t cells = 1;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if ((mask >> column & 1U) == 0) continue;
      cells *= Domain(column);
      if (cells >> 31 != 0) return kNone;
    }
    return cells;
  }

  std::vector<CubeTerm> Terms(Mask mask, std::size_t stride) const {
    std::vector<CubeTerm> terms;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if ((mask >> column & 1U) == 0) continue;
      const PackedColumn& packed = all_columns_[columns_[column]];
      terms.push_back({packed.shift, static_cast<std::uint32_t>(packed.mask()), static_cast<std::uint32_t>(stride)});
      stride *= Domain(column);
    }
    return terms;
  }

  static std::size_t RootsOf(const std::vector<Node>& nodes) {
    return static_cast<std::size_t>(
        std::count_if(nodes.begin(), nodes.end(), [](const Node& node) { return node.parent == kNone; }));
  }

  std::size_t Find(Mask mask) const {
    const auto found = index_.find(mask);
    return found == index_.end() ? kNone : found->second;
  }

  std::size_t Insert(const Node& node, std::size_t parent) {
    nodes_.push_back(node);
    nodes_.back().parent = parent;
    if (parent != kNone) nodes_[parent].children.push_back(nodes_.size() - 1);
    index_[node.mask] = nodes_.size() - 1;
    return nodes_.size() - 1;
  }

  // The node with the best number of cells among those that have a column more (or one less) than `mask`, or, when
  // there is none and the nodes are few, all its columns (or some of them).
  std::size_t Relative(Mask mask, bool finer) const {
    std::size_t best = kNone;
    const auto consider = [&](std::size_t node) {
      if (node == kNone) return;
      const bool better =
          best == kNone || (finer ? nodes_[node].cells < nodes_[best].cells : nodes_[node].cells > nodes_[best].cells);
      if (better) best = node;
    };
    for (std::size_t column = 0; column < columns_.size(); ++column)
      if (((mask >> column & 1U) == 0) == finer) consider(Find(mask ^ Mask{1} << column));
    if (best != kNone || nodes_.size() > kSearched) return best;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const Mask other = nodes_[node].mask;
      if (other != mask && (finer ? (mask & ~other) == 0 : (other & ~mask) == 0)) consider(node);
    }
    return best;
  }

  void MakeArrays(std::vector<Node> sets) {
    std::sort(sets.begin(), sets.end(),
              [](const Node& a, const Node& b) { return a.cells != b.cells ? a.cells > b.cells : a.mask > b.mask; });
    // Sets that no other one contains share arrays as far as these stay small.
    const std::size_t shared_cells = std::min(array_cells_, limits_.cache_cells);
    std::vector<Mask> roots;
    for (const Node& set : sets) index_[set.mask] = 0;
    for (const Node& set : sets) {
      if (IsCovered(set.mask, roots)) continue;
      const auto shared =
          std::find_if(roots.begin(), roots.end(), [&](Mask root) { return Cells(root | set.mask) <= shared_cells; });
      if (shared != roots.end()) {
        *shared |= set.mask;
      } else {
        roots.push_back(set.mask);
      }
    }
    index_.clear();
    for (const Mask root : roots) Insert({root, Cells(root), nullptr, kNone, {}}, kNone);
    for (const Node& set : sets) {
      const std::size_t root = Find(set.mask);
      if (root != kNone) {
        nodes_[root].classes = set.classes;
        continue;
      }
      std::size_t parent = Relative(set.mask, true);
      // Columns with more codes leave first.
      for (std::size_t column = 0; parent != kNone; ++column) {
        const Mask extra = nodes_[parent].mask & ~set.mask;
        if ((extra & (extra - 1)) == 0) break;
        if ((extra >> column & 1U) == 0) continue;
        const Mask between = nodes_[parent].mask & ~(Mask{1} << column);
        const std::size_t found = Find(between);
        parent = found != kNone ? found : Insert({between, Cells(between), nullptr, kNone, {}}, parent);
      }
      Insert(set, parent);
    }
  }

  bool IsCovered(Mask mask, const std::vector<Mask>& roots) const {
    for (std::size_t column = 0; column < columns_.size(); ++column)
      if ((mask >> column & 1U) == 0 && Find(mask | Mask{1} << column) != kNone) return true;
    return std::any_of(roots.begin(), roots.end(), [&](Mask root) { return (mask & ~root) == 0; });
  }

  void EmitArray(std::size_t index, std::size_t place) {
    const Node& node = nodes_[index];
    CubeStep step;
    step.classes = node.classes;
    step.cells = static_cast<std::uint32_t>(node.cells);
    step.out = static_cast<std::uint32_t>(place);
    if (node.parent == kNone) {
      step.kind = CubeStep::Kind::kCount;
      step.terms = Terms(node.mask, 1);
      step.alone = node.children.empty() && node.cells > limits_.cache_cells;
    } else {
      const Mask removed = nodes_[node.parent].mask & ~node.mask;
      step.kind = CubeStep::Kind::kRollUp;
      step.in = static_cast<std::uint32_t>(place_of_[node.parent]);
      step.domain = static_cast<std::uint32_t>(Cells(removed));
      step.inner = static_cast<std::uint32_t>(Cells(node.mask & (removed - 1)));
    }
    plan_.steps.push_back(std::move(step));
    place_of_[index] = place;
    const std::size_t end = place + (node.cells + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
    plan_.arena_cells = std::max(plan_.arena_cells, end);
    for (const std::size_t child : node.children) EmitArray(child, end);
  }

  void MakeTouched(std::vector<Node> sets) {
    nodes_.clear();
    index_.clear();
    std::sort(sets.begin(), sets.end(),
              [](const Node& a, const Node& b) { return a.cells != b.cells ? a.cells < b.cells : a.mask < b.mask; });
    for (const Node& set : sets) Insert(set, Relative(set.mask, false));
  }

  void EmitTouched(std::size_t index, std::size_t level) {
    const Node& node = nodes_[index];
    const std::size_t own = plan_.steps.size();
    CubeStep step;
    step.kind = CubeStep::Kind::kTouch;
    step.classes = node.classes;
    step.cells = static_cast<std::uint32_t>(node.cells);
    step.terms = node.parent == kNone ? Terms(node.mask, 1)
                                      : Terms(node.mask & ~nodes_[node.parent].mask, nodes_[node.parent].cells);
    step.level = static_cast<std::uint32_t>(level);
    step.leaf = node.children.empty();
    plan_.steps.push_back(std::move(step));
    plan_.touch_cells = std::max(plan_.touch_cells, node.cells);
    plan_.levels = std::max(plan_.levels, level + 1);
    for (const std::size_t child : node.children) EmitTouched(child, level + 1);
    plan_.steps[own].next = static_cast<std::uint32_t>(plan_.steps.size());
  }

  const std::vector<PackedColumn>& all_columns_;
  const CubeLimits& limits_;
  std::size_t tuples_;
  std::vector<std::uint32_t> columns_;
  std::vector<Node> sets_;
  std::size_t array_cells_ = 0;
  std::vector<Node> nodes_;
  std::unordered_map<Mask, std::size_t> index_;
  std::unordered_map<std::size_t, std::size_t> place_of_;
  CubePlan plan_;
};

}  // namespace

std::unique_ptr<CubePlan> MakeCubePlan(const std::vector<PackedColumn>& columns, const std::vector<CubeSet>& sets,
                                       const CubeLimits& limits, std::size_t tuples) {
  return PlanMaker(columns, limits, tuples).Make(sets);
}

}  // namespace privacy_score
