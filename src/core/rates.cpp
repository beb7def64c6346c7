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

RateBounds RateBook::Combined(const AttributeSet& set) {
  const auto found = combined_.find(set);
  if (found != combined_.end()) return found->second;
  std::map<std::int64_t, RateBounds> groups;
  for (const AttributeSet& part : ByRelation(set)) {
    const RateBounds bounds = OfRelation(part);
    RateBounds& group = groups[model_->relations()[model_->attributes()[part.front()].relation].subject_group];
    group.lower = std::min(1.0, group.lower + bounds.lower);
    group.upper = std::min(1.0, group.upper + bounds.upper);
  }
  RateBounds result;
  for (const auto& [group, bounds] : groups) {
    result.lower = std::max(result.lower, bounds.lower);
    result.upper = std::max(result.upper, bounds.upper);
  }
  if (combined_.size() >= kMostRemembered) combined_.clear();
  combined_.emplace(set, result);
  return result;
}

RateBounds RateBook::Difference(const AttributeSet& added, const AttributeSet& known) {
  if (IsSubset(added, known)) return {0, 0};
  const RateBounds both = Combined(UnionOf(added, known));
  const RateBounds before = Combined(known);
  RateBounds bounds{std::clamp(both.lower - before.upper, 0.0, 1.0), std::clamp(both.upper - before.lower, 0.0, 1.0)};
  if (!bounds.exact()) {
    // Where the subject tells the rows apart, columns tell no more beyond others than alone.
    const AttributeSet fresh = DifferenceOf(added, known);
    const bool by_row = std::all_of(fresh.begin(), fresh.end(), [this](AttributeId id) {
      return model_->relations()[model_->attributes()[id].relation].is_row_subject;
    });
    if (by_row) bounds.upper = std::max(bounds.lower, std::min(bounds.upper, Combined(fresh).upper));
  }
  if (bounds.upper < kNoise) return {0, 0};
  return bounds;
}

void RateBook::Want(const AttributeSet& set) {
  for (AttributeSet& part : ByRelation(set)) {
    if (OfRelation(part).exact()) continue;
    if (wanted_.insert(part).second) untaken_.push_back(std::move(part));
  }
}

void RateBook::WantDifference(const AttributeSet& added, const AttributeSet& known) {
  if (Difference(added, known).exact()) return;
  Want(UnionOf(added, known));
  Want(known);
}

std::vector<MissingRate> RateBook::TakeMissing() {
  std::sort(untaken_.begin(), untaken_.end());
  std::vector<MissingRate> missing;
  for (const AttributeSet& set : untaken_) {
    MissingRate rate;
    rate.relation = model_->relations()[model_->attributes()[set.front()].relation].name;
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
