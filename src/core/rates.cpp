/*
 * rates.cpp - combined discrimination rates of attribute sets, exact or bounded.
 */
#include "rates.hpp"

#include <algorithm>
#include <map>

namespace privacy_score {

namespace {

// A difference of rates below this is rounding.
constexpr double kNoise = 1e-12;
// Sets remembered before the memory starts afresh.
constexpr std::size_t kMostRemembered = 1U << 16U;

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

RateBounds RateBook::OfRelation(const AttributeSet& set) const {
  if (set.empty()) return {0, 0};
  RateBounds bounds{0, 1};
  if (const RateBounds* known = model_->FindRate(set)) {
    if (known->exact()) return *known;
    bounds = *known;
  }
  const std::uint32_t relation = model_->attributes()[set.front()].relation;
  for (const auto& known : model_->RatesOf(relation)) {
    if (known.rate.lower > bounds.lower && IsSubset(known.set, set)) bounds.lower = known.rate.lower;
  }
  if (bounds.lower >= 1 - kNoise) return {1, 1};
  if (!model_->relations()[relation].is_row_subject) return {bounds.lower, std::max(bounds.lower, bounds.upper)};
  double sum = 0;
  for (const AttributeId id : set) {
    const RateBounds* single = model_->FindRate({id});
    sum += single == nullptr ? 1 : single->upper;
  }
  bounds.upper = std::max(bounds.lower, std::min(bounds.upper, sum));
  return bounds;
}

std::vector<RateBook::Group> RateBook::ByGroup(const AttributeSet& set) const {
  std::map<std::int64_t, Group> groups;
  for (AttributeSet& part : ByRelation(set)) {
    Group& group = groups[model_->relations()[model_->attributes()[part.front()].relation].subject_group];
    group.set.insert(group.set.end(), part.begin(), part.end());
    group.parts.push_back(std::move(part));
  }
  std::vector<Group> list;
  for (auto& [number, group] : groups) {
    group.joint = group.parts.size() > 1 && !model_->RatedAs(group.set).empty();
    list.push_back(std::move(group));
  }
  return list;
}

bool RateBook::HasJointGroup(const AttributeSet& set) const {
  const auto& attributes = model_->attributes();
  if (attributes[set.front()].relation == attributes[set.back()].relation) return false;
  const bool any = std::any_of(set.begin(), set.end(), [&](AttributeId id) {
    return !model_->relations()[attributes[id].relation].joint_home.empty();
  });
  if (!any) return false;
  const std::vector<Group> groups = ByGroup(set);
  return std::any_of(groups.begin(), groups.end(), [](const Group& group) { return group.joint; });
}

RateBounds RateBook::OfGroup(const Group& group) const {
  RateBounds sum;
  RateBounds greatest;
  for (const AttributeSet& part : group.parts) {
    const RateBounds bounds = OfRelation(part);
    sum = {std::min(1.0, sum.lower + bounds.lower), std::min(1.0, sum.upper + bounds.upper)};
    greatest = {std::max(greatest.lower, bounds.lower), std::max(greatest.upper, bounds.upper)};
  }
  if (!group.joint) return sum;
  if (greatest.lower >= 1 - kNoise) return {1, 1};
  const RateBounds* known = model_->FindRate(group.set);
  RateBounds joint = known != nullptr ? *known : RateBounds{0, 1};
  if (!joint.exact()) {
    const std::uint32_t relation = model_->attributes()[group.set.front()].relation;
    for (const auto& subset : model_->JointRatesOf(model_->relations()[relation].subject_group)) {
      if (subset.rate.lower > joint.lower && IsSubset(subset.set, group.set)) joint.lower = subset.rate.lower;
    }
    if (joint.lower >= 1 - kNoise) return {1, 1};
    joint.upper = std::max(joint.lower, joint.upper);
  }
  return {std::max(joint.lower, greatest.lower), std::max(joint.upper, greatest.upper)};
}

RateBounds RateBook::Combined(const AttributeSet& set) {
  const auto found = combined_.find(set);
  if (found != combined_.end()) return found->second;
  RateBounds result;
  for (const Group& group : ByGroup(set)) {
    const RateBounds bounds = OfGroup(group);
    result = {std::max(result.lower, bounds.lower), std::max(result.upper, bounds.upper)};
  }
  if (combined_.size() >= kMostRemembered) combined_.clear();
  combined_.emplace(set, result);
  return result;
}

// What a set of one relation tells beyond a part of it.
RateBounds RateBook::BeyondInRelation(const AttributeSet& set, const AttributeSet& known) const {
  if (set == known) return {0, 0};
  const RateBounds both = OfRelation(set);
  const RateBounds before = OfRelation(known);
  RateBounds bounds{std::max(0.0, both.lower - before.upper), std::max(0.0, both.upper - before.lower)};
  // Where the subject tells the rows apart, columns tell no more beyond others than alone.
  if (!bounds.exact() && model_->relations()[model_->attributes()[set.front()].relation].is_row_subject)
    bounds.upper = std::max(bounds.lower, std::min(bounds.upper, OfRelation(DifferenceOf(set, known)).upper));
  return bounds;
}

// What a set tells beyond a part of it, in groups with a joint rate as the sum over their relations.
RateBounds RateBook::BeyondByRelation(const AttributeSet& set, const AttributeSet& known) const {
  RateBounds most;
  for (const Group& group : ByGroup(set)) {
    RateBounds bounds;
    if (group.joint) {
      for (const AttributeSet& part : group.parts) {
        const RateBounds beyond = BeyondInRelation(part, IntersectionOf(part, known));
        bounds = {bounds.lower + beyond.lower, bounds.upper + beyond.upper};
      }
    } else {
      const RateBounds both = OfGroup(group);
      RateBounds before;
      for (const Group& part : ByGroup(IntersectionOf(group.set, known))) before = OfGroup(part);
      bounds = {std::max(0.0, both.lower - before.upper), std::max(0.0, both.upper - before.lower)};
    }
    most = {std::max(most.lower, bounds.lower), std::max(most.upper, bounds.upper)};
  }
  return most;
}

RateBounds RateBook::Difference(const AttributeSet& added, const AttributeSet& known) {
  if (IsSubset(added, known)) return {0, 0};
  const AttributeSet all = UnionOf(added, known);
  const RateBounds both = Combined(all);
  const RateBounds before = Combined(known);
  RateBounds bounds{std::clamp(both.lower - before.upper, 0.0, 1.0), std::clamp(both.upper - before.lower, 0.0, 1.0)};
  if (HasJointGroup(all)) {
    const RateBounds alone = Combined(added);
    const RateBounds beyond = BeyondByRelation(all, known);
    bounds = {std::min(bounds.lower, std::max(alone.lower, beyond.lower)),
              std::min(bounds.upper, std::max(alone.upper, beyond.upper))};
  } else if (!bounds.exact()) {
    const AttributeSet fresh = DifferenceOf(added, known);
    const bool by_row = std::all_of(fresh.begin(), fresh.end(), [this](AttributeId id) {
      return model_->relations()[model_->attributes()[id].relation].is_row_subject;
    });
    if (by_row) bounds.upper = std::max(bounds.lower, std::min(bounds.upper, Combined(fresh).upper));
  }
  if (bounds.upper < kNoise) return {0, 0};
  return bounds;
}

void RateBook::WantOne(const AttributeSet& set) {
  if (wanted_.insert(set).second) untaken_.push_back(set);
}

void RateBook::Want(const AttributeSet& set) {
  for (const Group& group : ByGroup(set)) {
    for (const AttributeSet& part : group.parts) {
      if (!OfRelation(part).exact()) WantOne(part);
    }
    if (!group.joint || OfGroup(group).exact()) continue;
    const RateBounds* known = model_->FindRate(group.set);
    if (known == nullptr || !known->exact()) WantOne(group.set);
  }
}

void RateBook::WantDifference(const AttributeSet& added, const AttributeSet& known) {
  if (Difference(added, known).exact()) return;
  const AttributeSet all = UnionOf(added, known);
  Want(all);
  Want(known);
  if (HasJointGroup(all)) Want(added);
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

std::vector<MissingRate> MissingOfStatements(const Model& model, bool where_counts) {
  RateBook book(model);
  for (const auto& [id, tokens] : model.tokens()) {
    const AttributeSet revealed = model.Revealed(tokens, where_counts);
    AttributeSet scored;
    for (const AttributeId attribute : revealed) {
      if (!model.attributes()[attribute].identifier) scored.push_back(attribute);
    }
    book.Want(revealed);
    book.Want(scored);
  }
  return book.TakeMissing();
}

}  // namespace privacy_score
