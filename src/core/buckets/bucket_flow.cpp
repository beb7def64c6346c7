/*
 * bucket_flow.cpp - Dinic's algorithm on groups and sizes (see bucket_flow.hpp).
 */
#include "core/buckets/bucket_flow.hpp"

#include <algorithm>

namespace privacy_score {

BucketFlow::BucketFlow(const BucketProblem& problem, const std::vector<std::int64_t>& buckets, std::int64_t scale)
    : problem_(problem) {
  for (std::size_t place = 0; place < problem.sizes().size(); ++place) {
    if (buckets[place] == 0) continue;
    used_.push_back(place);
    room_.push_back(problem.sizes()[place] * buckets[place]);
  }
  const std::vector<ValueGroup>& groups = problem.groups();
  problem.Work(groups.size() * used_.size());
  left_.reserve(groups.size() * used_.size());
  for (const ValueGroup& group : groups) {
    const auto members = static_cast<std::int64_t>(group.members.size());
    const std::int64_t records = group.count * scale;
    supply_.push_back(records * members);
    const std::int32_t* capacities = problem.Capacities(group.capacity_class);
    for (const std::size_t place : used_)
      left_.push_back(members * std::min(records, capacities[place] * buckets[place]));
  }
  moved_.assign(left_.size(), 0);
  group_level_.resize(groups.size());
  size_level_.resize(used_.size());
  group_next_.resize(groups.size());
  size_next_.resize(used_.size());
}

// Breadth first along edges with capacity left. Returns whether buckets with room are reachable.
bool BucketFlow::FindLevels() {
  const std::size_t width = used_.size();
  std::vector<std::size_t> groups;
  for (std::size_t g = 0; g < supply_.size(); ++g) {
    group_level_[g] = supply_[g] > 0 ? 0 : -1;
    if (supply_[g] > 0) groups.push_back(g);
  }
  std::fill(size_level_.begin(), size_level_.end(), -1);
  bool found = false;
  for (int level = 1; !groups.empty() && !found; level += 2) {
    std::vector<std::size_t> sizes;
    for (std::size_t k = 0; k < width; ++k) {
      if (size_level_[k] >= 0) continue;
      problem_.Work(groups.size());
      for (const std::size_t g : groups) {
        if (left_[g * width + k] == 0) continue;
        size_level_[k] = level;
        sizes.push_back(k);
        found = found || room_[k] > 0;
        break;
      }
    }
    groups.clear();
    for (std::size_t g = 0; g < supply_.size() && !found; ++g) {
      if (group_level_[g] >= 0) continue;
      problem_.Work(sizes.size());
      for (const std::size_t k : sizes) {
        if (moved_[g * width + k] == 0) continue;
        group_level_[g] = level + 1;
        groups.push_back(g);
        break;
      }
    }
  }
  return found;
}

std::int64_t BucketFlow::PushFromGroup(std::size_t group, std::int64_t limit) {
  const std::size_t width = used_.size();
  std::int64_t pushed = 0;
  for (std::size_t& k = group_next_[group]; k < width; ++k) {
    problem_.Work(1);
    const std::size_t edge = group * width + k;
    if (size_level_[k] != group_level_[group] + 1 || left_[edge] == 0) continue;
    const std::int64_t part = PushFromSize(k, std::min(limit - pushed, left_[edge]));
    left_[edge] -= part;
    moved_[edge] += part;
    pushed += part;
    if (pushed == limit) break;  // this edge may have more to give
  }
  return pushed;
}

std::int64_t BucketFlow::PushFromSize(std::size_t used, std::int64_t limit) {
  const std::size_t width = used_.size();
  std::int64_t pushed = std::min(limit, room_[used]);
  room_[used] -= pushed;
  for (std::size_t& g = size_next_[used]; pushed < limit && g < supply_.size(); ++g) {
    problem_.Work(1);
    const std::size_t edge = g * width + used;
    if (group_level_[g] != size_level_[used] + 1 || moved_[edge] == 0) continue;
    const std::int64_t part = PushFromGroup(g, std::min(limit - pushed, moved_[edge]));
    moved_[edge] -= part;
    left_[edge] += part;
    pushed += part;
    if (pushed == limit) break;
  }
  return pushed;
}

bool BucketFlow::Solve() {
  while (FindLevels()) {
    std::fill(group_next_.begin(), group_next_.end(), 0);
    std::fill(size_next_.begin(), size_next_.end(), 0);
    for (std::size_t g = 0; g < supply_.size(); ++g)
      if (supply_[g] > 0) supply_[g] -= PushFromGroup(g, supply_[g]);
  }
  return std::all_of(supply_.begin(), supply_.end(), [](std::int64_t records) { return records == 0; });
}

std::int64_t BucketFlow::Flow(std::size_t group, std::size_t place) const {
  const auto used = std::lower_bound(used_.begin(), used_.end(), place);
  if (used == used_.end() || *used != place) return 0;
  return moved_[group * used_.size() + static_cast<std::size_t>(used - used_.begin())];
}

// The last search for levels went from the records that could not go as far as it could.
std::vector<char> BucketFlow::TightGroups() const {
  std::vector<char> tight(group_level_.size());
  for (std::size_t g = 0; g < tight.size(); ++g) tight[g] = group_level_[g] < 0 ? 1 : 0;
  return tight;
}

}  // namespace privacy_score
