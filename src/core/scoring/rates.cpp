/*
 * rates.cpp - combined discrimination rates of attribute sets, exact or bounded.
 */
#include "core/scoring/rates.hpp"

#include <algorithm>

#include "core/scoring/equivalence.hpp"

namespace privacy_score {

namespace {

// Sets remembered before the memory starts afresh.
constexpr std::size_t kMostRemembered = 1U << 16U;

constexpr std::size_t kNoPart = static_cast<std::size_t>(-1);

RateBounds SumOf(const RateBounds& a, const RateBounds& b) {
  return {std::min(1.0, a.lower + b.lower), std::min(1.0, a.upper + b.upper)};
}

RateBounds GreaterOf(const RateBounds& a, const RateBounds& b) {
  return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
}

// How far `both` exceeds `before`.
RateBounds Beyond(const RateBounds& both, const RateBounds& before) {
  return {std::max(0.0, both.lower - before.upper), std::max(0.0, both.upper - before.lower)};
}

// Calls `visit` for each relation of `a` with the places of its parts in both sets, kNoPart where `b` has none; with
// `both` also for each that only `b` has. Until it returns false.
template <typename Visit>
void Merge(const RatedSet& a, const RatedSet& b, bool both, Visit visit) {
  for (std::size_t i = 0, k = 0; i < a.parts.size() || (both && k < b.parts.size());) {
    const bool only_a = k == b.parts.size() || (i < a.parts.size() && a.parts[i].relation < b.parts[k].relation);
    const bool only_b = !only_a && (i == a.parts.size() || b.parts[k].relation < a.parts[i].relation);
    if ((both || !only_b) && !visit(only_b ? kNoPart : i, only_a ? kNoPart : k)) return;
    if (!only_b) ++i;
    if (!only_a) ++k;
  }
}

bool PartIn(const RatedSet& set, std::uint32_t relation) {
  return std::any_of(set.parts.begin(), set.parts.end(),
                     [relation](const RatedSet::Part& part) { return part.relation == relation; });
}

// The join with that number in a set; null when it has none.
const RatedSet::Join* JoinIn(const RatedSet& set, std::uint32_t number) {
  for (const RatedSet::Join& join : set.joins)
    if (join.number == number) return &join;
  return nullptr;
}

// Whether a set has columns of several relations of a join.
bool Joins(const RatedSet& set, std::uint32_t number) {
  const RatedSet::Join* join = JoinIn(set, number);
  return join != nullptr && join->parts > 1;
}

}  // namespace

std::vector<AttributeSet> RateBook::ByRelation(const AttributeSet& set) const {
  std::vector<AttributeSet> parts;
  for (const AttributeId id : set) {
    if (parts.empty() || model_->attributes()[parts.back().back()].relation != model_->attributes()[id].relation) {
      parts.emplace_back();
    }
    parts.back().push_back(id);
  }
  return parts;
}

const RateBounds* RateBook::KnownOf(AttributeId id) const {
  std::vector<MaskWord> mask(index_.words());
  index_.SetBit(id, mask.data());
  return index_.Known(model_->attributes()[id].relation, mask.data());
}

RatedSet RateBook::Rate(const AttributeSet& set) {
  RatedSet rated;
  for (const AttributeId id : set) {
    const std::uint32_t relation = model_->attributes()[id].relation;
    if (rated.parts.empty() || rated.parts.back().relation != relation) {
      rated.parts.push_back({relation, {}, 0});
      rated.masks.resize(rated.masks.size() + index_.words());
    }
    index_.SetBit(id, &rated.masks[rated.masks.size() - index_.words()]);
  }
  for (std::size_t i = 0; i < rated.parts.size(); ++i) {
    RatedSet::Part& part = rated.parts[i];
    part.best_subset = index_.BestSubset(part.relation, MaskOf(rated, i));
    part.bounds = index_.BoundsOf(part.relation, MaskOf(rated, i), part.best_subset);
  }
  Combine(rated);
  return rated;
}

// Fills what follows from the parts of a set, which may be the union of two others.
void RateBook::Combine(RatedSet& set, const RatedSet* a, const RatedSet* b) {
  FindJoins(set);
  set.groups.clear();
  set.combined = {};
  set.joined = false;
  for (std::size_t i = 0; i < set.joins.size(); ++i) {
    RatedSet::Join& join = set.joins[i];
    auto group = set.groups.begin();
    while (group != set.groups.end() && group->number != join.group) ++group;
    if (group == set.groups.end()) group = set.groups.insert(group, {join.group, {}, false});
    if (join.parts > 1) {
      join.bounds = OfJoin(set, i, a, b);
      group->joined = set.joined = true;
    }
    group->bounds = SumOf(group->bounds, join.bounds);
  }
  for (const RatedSet::Group& group : set.groups) set.combined = GreaterOf(set.combined, group.bounds);
}

// Fills the joins of a set with the greatest rate of one of their relations.
void RateBook::FindJoins(RatedSet& set) {
  set.joins.clear();
  set.join_masks.clear();
  for (std::size_t i = 0; i < set.parts.size(); ++i) {
    const RatedSet::Part& part = set.parts[i];
    const std::uint32_t number = joins_.JoinOf(part.relation);
    std::size_t at = 0;
    while (at < set.joins.size() && set.joins[at].number != number) ++at;
    if (at == set.joins.size()) {
      set.joins.push_back({number, joins_.GroupOf(part.relation), 0, {}, 0});
      set.join_masks.resize(set.join_masks.size() + joint_.words());
    }
    ++set.joins[at].parts;
    set.joins[at].bounds = GreaterOf(set.joins[at].bounds, part.bounds);
    if (!joins_.IsShared(number)) continue;
    attributes_.clear();
    index_.AppendTo(attributes_, part.relation, MaskOf(set, i));
    for (const AttributeId id : attributes_) joint_.SetBit(id, &set.join_masks[at * joint_.words()]);
  }
}

// The rate of several relations that are joined, of which the greatest of one by itself stands in `bounds`.
RateBounds RateBook::OfJoin(RatedSet& set, std::size_t at, const RatedSet* a, const RatedSet* b) {
  RatedSet::Join& join = set.joins[at];
  if (a == nullptr) join.best_subset = joint_.BestSubset(join.number, MaskOfJoin(set, at));
  if (join.bounds.lower >= 1 - kRateTolerance) return {1, 1};
  if (a != nullptr && !joint_.IsExact(join.number, MaskOfJoin(set, at))) join.best_subset = BestOfJoin(set, at, *a, *b);
  return GreaterOf(joint_.BoundsOf(join.number, MaskOfJoin(set, at), join.best_subset), join.bounds);
}

// The greatest of the subsets of a join in the union of two sets: they are those in either, and those with an attribute
// that only `a` has.
double RateBook::BestOfJoin(const RatedSet& set, std::size_t at, const RatedSet& a, const RatedSet& b) {
  const MaskWord* mask = MaskOfJoin(set, at);
  double best = 0;
  fresh_join_mask_.assign(mask, mask + joint_.words());
  for (const RatedSet* part : {&a, &b})
    for (std::size_t i = 0; i < part->joins.size(); ++i) {
      if (part->joins[i].number != set.joins[at].number) continue;
      best = std::max(best, part->joins[i].best_subset);
      for (std::size_t w = 0; part == &b && w < joint_.words(); ++w) fresh_join_mask_[w] &= ~MaskOfJoin(b, i)[w];
    }
  return joint_.BestSubsetWith(set.joins[at].number, mask, fresh_join_mask_.data(), best);
}

// Leaves the union in union_.
void RateBook::Unite(const RatedSet& a, const RatedSet& b) {
  union_.parts.clear();
  union_.masks.clear();
  Merge(a, b, true, [&](std::size_t i, std::size_t k) {
    if (i != kNoPart && k != kNoPart) {
      AddUnion(a, i, b, k);
      return true;
    }
    const RatedSet& only = k == kNoPart ? a : b;
    const std::size_t part = k == kNoPart ? i : k;
    union_.parts.push_back(only.parts[part]);
    union_.masks.insert(union_.masks.end(), MaskOf(only, part), MaskOf(only, part) + index_.words());
    return true;
  });
  Combine(union_, &a, &b);
}

// Adds the union of two parts of one relation to union_. Its subsets are those of either part, and those with an
// attribute that only `a` has.
void RateBook::AddUnion(const RatedSet& a, std::size_t part_of_a, const RatedSet& b, std::size_t part_of_b) {
  const RatedSet::Part& of_a = a.parts[part_of_a];
  const RatedSet::Part& of_b = b.parts[part_of_b];
  const bool more_right = FindFresh(MaskOf(b, part_of_b), MaskOf(a, part_of_a));
  const bool more_left = FindFresh(MaskOf(a, part_of_a), MaskOf(b, part_of_b));
  const std::size_t at = union_.masks.size();
  for (std::size_t w = 0; w < index_.words(); ++w)
    union_.masks.push_back(MaskOf(a, part_of_a)[w] | MaskOf(b, part_of_b)[w]);
  const MaskWord* mask = &union_.masks[at];
  if (!more_left || !more_right) {
    union_.parts.push_back(more_left ? of_a : of_b);
    return;
  }
  RateBounds bounds;
  const RateBounds* known = index_.Known(of_a.relation, mask);
  if (known != nullptr && known->exact())
    bounds = *known;
  else
    bounds = index_.BoundsOf(
        of_a.relation, mask,
        index_.BestSubsetWith(of_a.relation, mask, fresh_mask_.data(), std::max(of_a.best_subset, of_b.best_subset)));
  union_.parts.push_back({of_a.relation, bounds, 0});
}

// Leaves what one mask has beyond another, which may be null, in fresh_mask_; whether that is anything.
bool RateBook::FindFresh(const MaskWord* added, const MaskWord* known) {
  MaskWord any = 0;
  fresh_mask_.resize(index_.words());
  for (std::size_t w = 0; w < index_.words(); ++w) {
    fresh_mask_[w] = added[w] & ~(known != nullptr ? known[w] : 0);
    any |= fresh_mask_[w];
  }
  return any != 0;
}

// Whether `added` has an attribute that `known` has not.
bool RateBook::Adds(const RatedSet& added, const RatedSet& known) {
  bool adds = false;
  Merge(added, known, false, [&](std::size_t i, std::size_t k) {
    adds = k == kNoPart || FindFresh(MaskOf(added, i), MaskOf(known, k));
    return !adds;
  });
  return adds;
}

// The rate of fresh_mask_: there are few such sets, and they come again.
RateBounds RateBook::OfFresh(std::uint32_t relation) {
  const MaskWord* mask = fresh_mask_.data();
  const std::uint32_t found = fresh_rates_.Find(relation, mask);
  if (found != MaskTable::kNone) return fresh_bounds_[found];
  if (fresh_bounds_.size() >= kMostRemembered) {
    fresh_rates_.Clear();
    fresh_bounds_.clear();
  }
  const RateBounds bounds = index_.BoundsOf(relation, mask, index_.BestSubset(relation, mask));
  fresh_bounds_.push_back(bounds);
  fresh_rates_.Add(relation, mask);
  return bounds;
}

// What a part of union_ tells beyond the part of `known` in the same relation.
RateBounds RateBook::BeyondInRelation(std::size_t part, const RatedSet& known, std::size_t part_of_known) {
  const bool shared = part_of_known != kNoPart;
  const RatedSet::Part& both = union_.parts[part];
  if (!FindFresh(MaskOf(union_, part), shared ? MaskOf(known, part_of_known) : nullptr)) return {0, 0};
  RateBounds bounds = Beyond(both.bounds, shared ? known.parts[part_of_known].bounds : RateBounds{});
  // Where the subject tells the rows apart, columns tell no more beyond others than alone.
  if (!bounds.exact() && model_->relations()[both.relation].is_row_subject)
    bounds.upper = std::max(bounds.lower, std::min(bounds.upper, OfFresh(both.relation).upper));
  return bounds;
}

// What relations that `added` joins tell together.
RateBounds RateBook::BeyondInJoin(const RatedSet::Join& both, const RatedSet& added, const RatedSet& known) {
  const RatedSet::Join* of_added = JoinIn(added, both.number);
  const RatedSet::Join* of_known = JoinIn(known, both.number);
  RateBounds by_relation;
  Merge(union_, known, false, [&](std::size_t i, std::size_t k) {
    if (joins_.JoinOf(union_.parts[i].relation) != both.number) return true;
    const RateBounds beyond = BeyondInRelation(i, known, k);
    by_relation = {by_relation.lower + beyond.lower, by_relation.upper + beyond.upper};
    return true;
  });
  const RateBounds most = GreaterOf(of_added->bounds, by_relation);
  const RateBounds beyond = Beyond(both.bounds, of_known == nullptr ? RateBounds{} : of_known->bounds);
  return {std::min(beyond.lower, most.lower), std::min(beyond.upper, most.upper)};
}

bool RateBook::Meet(const RatedSet& added, const RatedSet& known) const {
  for (const RatedSet::Part& part : known.parts)
    if (PartIn(added, part.relation) || Joins(added, joins_.JoinOf(part.relation))) return true;
  return false;
}

RateBounds RateBook::Difference(const RatedSet& added, const RatedSet& known) {
  if (!Adds(added, known)) return {0, 0};
  Unite(added, known);
  RateBounds bounds;
  Merge(union_, known, false, [&](std::size_t i, std::size_t k) {
    if (PartIn(added, union_.parts[i].relation)) bounds = GreaterOf(bounds, BeyondInRelation(i, known, k));
    return true;
  });
  for (const RatedSet::Join& both : union_.joins)
    if (Joins(added, both.number)) bounds = GreaterOf(bounds, BeyondInJoin(both, added, known));
  if (bounds.upper < kRateTolerance) return {0, 0};
  return bounds;
}

// Notes what of a set is missing; of what `touched` has columns of, unless that is null: of its relations, or of the
// relations that it joins with their joint rates.
void RateBook::WantOf(const RatedSet& set, const RatedSet* touched, bool by_relation) {
  const auto wants = [&](std::uint32_t number, std::uint32_t relation) {
    return touched == nullptr || (by_relation ? PartIn(*touched, relation) : Joins(*touched, number));
  };
  for (std::size_t i = 0; i < set.parts.size(); ++i) {
    const RatedSet::Part& part = set.parts[i];
    if (part.bounds.exact() || !wants(joins_.JoinOf(part.relation), part.relation) ||
        wanted_.Find(part.relation, MaskOf(set, i)) != MaskTable::kNone)
      continue;
    wanted_.Add(part.relation, MaskOf(set, i));
    untaken_.emplace_back();
    index_.AppendTo(untaken_.back(), part.relation, MaskOf(set, i));
  }
  for (std::size_t i = 0; i < set.joins.size() && !by_relation; ++i) {
    const RatedSet::Join& join = set.joins[i];
    const MaskWord* mask = MaskOfJoin(set, i);
    if (join.parts == 1 || join.bounds.exact() || !wants(join.number, 0) || joint_.IsExact(join.number, mask) ||
        wanted_joint_.Find(join.number, mask) != MaskTable::kNone)
      continue;
    wanted_joint_.Add(join.number, mask);
    untaken_.emplace_back();
    joint_.AppendTo(untaken_.back(), join.number, mask);
  }
}

void RateBook::WantDifference(const RatedSet& added, const RatedSet& known) {
  // What is not exact was told by their union.
  if (Difference(added, known).exact()) return;
  for (const bool by_relation : {true, false}) {
    WantOf(union_, &added, by_relation);
    WantOf(known, &added, by_relation);
  }
  WantOf(added, &added, false);
}

std::vector<MissingRate> RateBook::TakeMissing() {
  std::sort(untaken_.begin(), untaken_.end());
  std::vector<MissingRate> missing;
  for (const AttributeSet& set : untaken_) {
    MissingRate rate;
    rate.relation = model_->RatedAs(set);
    for (const AttributeId id : set) {
      if (!rate.attributes.empty()) rate.attributes += kAttributeSeparator;
      rate.attributes += model_->attributes()[id].name;
    }
    missing.push_back(std::move(rate));
  }
  untaken_.clear();
  return missing;
}

}  // namespace privacy_score
