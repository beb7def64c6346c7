/*
 * cube_family.cpp - see cube_family.hpp.
 */
#include "core/entropy/cube_family.hpp"

#include <algorithm>
#include <utility>

namespace privacy_score {

CubeSets::CubeSets(std::vector<PackedColumn> cube_columns, std::vector<CubeSet> cube_sets,
                   const CubeLimits& cube_limits)
    : columns(std::move(cube_columns)), sets(std::move(cube_sets)), limits(cube_limits) {
  std::vector<CubeFamily::Member> members(sets.size());
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = {static_cast<std::uint32_t>(i), 0};
  families.emplace_back(this, std::move(members));
}

void CubeSets::AddLone() {
  for (const CubeFamily& family : families) family.AddLone();
}

CubeFamily::CubeFamily(CubeSets* cube, std::vector<Member> members) : cube_(cube), members_(std::move(members)) {
  for (const Member& member : members_) {
    const CubeSet& set = cube_->sets[member.set];
    if (member.decided == set.columns.size()) {
      exhausted_ = set.classes;
    } else {
      column_ = std::min<std::size_t>(column_, set.columns[member.decided]);
    }
  }
}

void CubeFamily::Split() {
  if (split_) return;
  split_ = true;
  std::vector<Member> with;
  std::vector<Member> without;
  for (const Member& member : members_) {
    const auto& columns = cube_->sets[member.set].columns;
    if (member.decided == columns.size()) continue;
    if (columns[member.decided] == column_) {
      with.push_back({member.set, member.decided + 1});
    } else {
      without.push_back(member);
    }
  }
  if (!with.empty()) with_ = &cube_->families.emplace_back(cube_, std::move(with));
  if (!without.empty()) without_ = &cube_->families.emplace_back(cube_, std::move(without));
}

CubeFamily* CubeFamily::With() {
  Split();
  return with_;
}

CubeFamily* CubeFamily::Without() {
  Split();
  return without_;
}

std::vector<CubeSet> CubeFamily::Remaining() const {
  std::vector<CubeSet> remaining;
  for (const Member& member : members_) {
    const CubeSet& set = cube_->sets[member.set];
    if (member.decided < set.columns.size())
      remaining.push_back({{set.columns.begin() + member.decided, set.columns.end()}, set.classes});
  }
  return remaining;
}

const CubePlan* CubeFamily::PlanFor(std::size_t tuples) {
  unsigned bits = 0;
  while (tuples >> bits > 1) ++bits;
  Choice& choice = choices_[bits];
  if (!choice.made) {
    choice.made = true;
    choice.plan = MakeCubePlan(cube_->columns, Remaining(), cube_->limits, (std::size_t{3} << bits) / 2);
  }
  return choice.plan.get();
}

void CubeFamily::AddLone() const {
  if (!lone_.empty())
    for (const Member& member : members_) cube_->sets[member.set].classes->Add(lone_);
  for (const Choice& choice : choices_) {
    if (choice.plan == nullptr) continue;
    const auto& steps = choice.plan->steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].lone == 0) continue;
      for (std::size_t j = i; j < steps[i].next; ++j) steps[j].classes->Add(1, steps[i].lone);
    }
  }
}

}  // namespace privacy_score
