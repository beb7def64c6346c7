/*
 * bucket_baselines.hpp - the paper's three searches for the best two bucket sizes [Wang, section 5.1], to measure
 * against: the whole list of pairs without pruning, pruned by loss, and pruned by loss and privacy with binary
 * searches.
 */
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>

#include "core/buckets/bucket_problem.hpp"
#include "core/buckets/bucket_setting.hpp"

namespace bucket_bench {

enum class Pruning { kNone, kLoss, kFull };

// The pairs of two sizes that use up all rows: (b1 - k step1, b2 + k step2), k = 0..last.
struct PairList {
  const privacy_score::BucketProblem& problem;
  std::size_t place1, place2;
  std::int64_t size1, size2, step1, step2, b1, b2, last;

  std::int64_t First(std::int64_t k) const { return b1 - k * step1; }
  std::int64_t Second(std::int64_t k) const { return b2 + k * step2; }
  std::int64_t Loss(std::int64_t k) const {
    return First(k) * (size1 - 1) * (size1 - 1) + Second(k) * (size2 - 1) * (size2 - 1);
  }

  // Values have room [privacy constraint].
  bool HasRoom(const privacy_score::ValueGroup& group, std::int64_t k) const {
    const std::int32_t* capacities = problem.Capacities(group.capacity_class);
    return capacities[place1] * First(k) + capacities[place2] * Second(k) >= group.count;
  }
  // Buckets of a size can be filled [fill constraint].
  bool Fills(std::size_t place, std::int64_t buckets) const {
    const std::int64_t needed = problem.sizes()[place] * buckets;
    std::int64_t filled = 0;
    for (const privacy_score::ValueGroup& group : problem.groups()) {
      const std::int64_t room = problem.Capacities(group.capacity_class)[place] * buckets;
      filled += static_cast<std::int64_t>(group.members.size()) * std::min(group.count, room);
      if (filled >= needed) return true;
    }
    return filled >= needed;
  }
  bool Valid(std::int64_t k) const {
    for (const privacy_score::ValueGroup& group : problem.groups())
      if (!HasRoom(group, k)) return false;
    return Fills(place1, First(k)) && Fills(place2, Second(k));
  }
};

// The first k in [low, high] for which `holds`, which stays true from there on; high + 1 when there is none.
template <typename Holds>
std::int64_t FirstThat(std::int64_t low, std::int64_t high, Holds holds) {
  ++high;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// The first valid k of a list by binary searches below `most`; more than that when there is none.
inline std::int64_t FirstValid(const PairList& list, std::int64_t most) {
  std::int64_t low = FirstThat(0, most, [&](std::int64_t k) { return list.Fills(list.place1, list.First(k)); });
  std::int64_t high =
      FirstThat(low, most, [&](std::int64_t k) { return !list.Fills(list.place2, list.Second(k)); }) - 1;
  for (const privacy_score::ValueGroup& group : list.problem.groups()) {
    if (low > high) break;
    const bool at_low = list.HasRoom(group, low);
    const bool at_high = list.HasRoom(group, high);
    if (at_low && at_high) continue;
    if (!at_low && !at_high) return most + 1;  // linear in k
    if (at_high)
      low = FirstThat(low, high, [&](std::int64_t k) { return list.HasRoom(group, k); });
    else
      high = FirstThat(low, high, [&](std::int64_t k) { return !list.HasRoom(group, k); }) - 1;
  }
  return low <= high ? low : most + 1;
}

// The least loss of a valid setting of two sizes; the greatest number when there is none.
inline std::int64_t BestPairLoss(const privacy_score::BucketProblem& problem, Pruning pruning) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  const std::int64_t rows = problem.rows();
  for (std::size_t place1 = 0; place1 < problem.sizes().size(); ++place1) {
    for (std::size_t place2 = place1 + 1; place2 < problem.sizes().size(); ++place2) {
      PairList list{problem, place1, place2, problem.sizes()[place1], problem.sizes()[place2], 0, 0, 0, 0, 0};
      const std::int64_t divisor = std::gcd(list.size1, list.size2);
      list.step1 = list.size2 / divisor;
      list.step2 = list.size1 / divisor;
      while (list.b2 < list.step2 && (rows - list.b2 * list.size2) % list.size1 != 0) ++list.b2;
      if (list.b2 == list.step2 || list.b2 * list.size2 > rows) continue;
      list.b1 = (rows - list.b2 * list.size2) / list.size1;
      list.last = list.b1 / list.step1;
      if (pruning == Pruning::kFull) {
        // The loss rises along the list: what reaches the best so far is cut off.
        const std::int64_t most = FirstThat(0, list.last, [&](std::int64_t k) { return list.Loss(k) >= best; }) - 1;
        const std::int64_t k = most < 0 ? 0 : FirstValid(list, most);
        if (k <= most) best = list.Loss(k);
        continue;
      }
      for (std::int64_t k = 0; k <= list.last; ++k) {
        if (pruning == Pruning::kLoss && list.Loss(k) >= best) break;
        if (!list.Valid(k)) continue;
        best = std::min(best, list.Loss(k));
        if (pruning == Pruning::kLoss) break;
      }
    }
  }
  return best;
}

}  // namespace bucket_bench
