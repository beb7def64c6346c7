/*
 * pair_score.cpp - delta* of two revealed sets.
 */
#include "core/scoring/pair_score.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/scoring/aggregates.hpp"
#include "core/scoring/revealing_sessions.hpp"

namespace privacy_score {

namespace {

constexpr double kOwnShare = .8;  // of the role's baseline in p(y); the rest is that of all roles
constexpr double kPriorSessions = .02;

}  // namespace

PairScorer::PairScorer(std::shared_ptr<const Model> model, std::string_view role, const ScoreSettings& settings,
                       std::string_view end_user)
    : model_(std::move(model)), settings_(settings), rates_(*model_) {
  CheckSettings(settings_);
  Intern({});
  classes_.emplace_back();  // kUnparsedClass
  CountSessions(model_->BaselineFor(role, end_user), model_->PeersOf(role, end_user));
}

// `role_peers`: the only baseline of the peers; null: those of all roles.
void PairScorer::CountSessions(const Baseline* own_baseline, const Baseline* role_peers) {
  const std::size_t attributes = model_->attributes().size();
  std::vector<std::int64_t> own(attributes);
  std::vector<std::int64_t> peers(attributes);
  std::int64_t own_sessions = 0;
  std::int64_t peer_sessions = 0;
  RevealingCounter counter(*model_, rates_, settings_);
  for (const Baseline& baseline : model_->baselines()) {
    const bool is_own = &baseline == own_baseline;
    const bool is_peer = role_peers != nullptr ? &baseline == role_peers : baseline.end_user.empty();
    if (!is_own && !is_peer) continue;
    const RevealingSessions revealing = counter.Of(baseline);
    rests_on_bounds_ = rests_on_bounds_ || !revealing.exact;
    if (is_peer) peer_sessions += baseline.sessions;
    if (is_own) own_sessions = baseline.sessions;
    for (std::size_t attribute = 0; attribute < attributes; ++attribute) {
      if (is_peer) peers[attribute] += revealing.counts[attribute];
      if (is_own) own[attribute] += revealing.counts[attribute];
    }
  }
  const auto share = [](std::int64_t revealing, std::int64_t sessions) {
    return (static_cast<double>(revealing) + kPriorSessions) / (static_cast<double>(sessions) + 1);
  };
  for (AttributeId id = 0; id < attributes; ++id) {
    const double p = kOwnShare * share(own[id], own_sessions) + (1 - kOwnShare) * share(peers[id], peer_sessions);
    probability_.push_back(std::min(1.0, p));
    log_cost_.push_back(Weight(id) * std::log(probability_.back()));
  }
}

ClassId PairScorer::ClassOf(const Tokens& tokens, bool* exact) {
  if (IsUnparsed(tokens)) return kUnparsedClass;
  const Revelation revelation = Reveal(*model_, rates_, tokens, settings_);
  if (exact != nullptr) *exact = revelation.exact();
  return Intern(revelation.most);
}

ClassId PairScorer::KnownClassOf(const Tokens& tokens) {
  if (IsUnparsed(tokens)) return kUnparsedClass;
  const Revelation revelation = Reveal(*model_, rates_, tokens, settings_);
  rests_on_bounds_ = rests_on_bounds_ || !revelation.exact();
  return Intern(revelation.least);
}

ClassId PairScorer::Intern(const AttributeSet& revealed) {
  const std::uint64_t hash = AttributeSetHash()(revealed);
  ClassId* last = class_by_hash_.Find(hash);
  ClassId at = last == nullptr ? kEmptyClass : *last;
  while (at != kEmptyClass && classes_[at].revealed != revealed) at = classes_[at].next_alike;
  if (at != kEmptyClass || (revealed.empty() && !classes_.empty())) return at;
  Class entry;
  entry.next_alike = last == nullptr ? kEmptyClass : *last;
  entry.revealed = revealed;
  entry.scored.reserve(revealed.size());
  for (const AttributeId id : revealed) {
    if (settings_.identifiers_count || !model_->attributes()[id].identifier) entry.scored.push_back(id);
  }
  entry.closure = model_->Closure(revealed);
  const auto id = static_cast<ClassId>(classes_.size());
  holders_.resize(model_->attributes().size());
  for (const AttributeId attribute : entry.closure) holders_[attribute].push_back(id);
  classes_.push_back(std::move(entry));
  if (last != nullptr)
    *last = id;
  else
    class_by_hash_.Insert(hash, id);
  return id;
}

double PairScorer::Weight(AttributeId attribute) const {
  switch (model_->attributes()[attribute].label) {
    case Label::kSensitive:
    case Label::kIdentifier:
      return 2;
    case Label::kPublic:
      return 0;
    case Label::kQuasiIdentifier:
    case Label::kNone:
      break;
  }
  return 1;
}

AttributeSet PairScorer::Surprising(ClassId a, ClassId b) const {
  return DifferenceOf(classes_[a].closure, classes_[b].closure);
}

double PairScorer::Tau(ClassId a, ClassId b) const {
  if (a == kUnparsedClass) return a == b ? 0 : 1;
  // Walks both sorted sets at once: this runs for every pair of classes.
  const AttributeSet& known = classes_[b].closure;
  auto at = known.begin();
  double log_sum = 0;
  for (const AttributeId id : classes_[a].closure) {
    while (at != known.end() && *at < id) ++at;
    if (at == known.end() || *at != id) log_sum += log_cost_[id];
  }
  return log_sum < 0 ? std::clamp(-std::expm1(log_sum), 0.0, 1.0) : 0;
}

const RatedSet& PairScorer::RatedOf(ClassId id) {
  Class& entry = classes_[id];
  if (entry.rated == nullptr) entry.rated = std::make_unique<RatedSet>(rates_.Rate(entry.scored));
  return *entry.rated;
}

RateBounds PairScorer::Delta(ClassId a, ClassId b) {
  if (a == kUnparsedClass) return a == b ? RateBounds{0, 0} : RateBounds{1, 1};
  const RatedSet& added = RatedOf(a);
  if (rates_.Meet(added, RatedOf(b))) return rates_.Difference(added, RatedOf(b));
  Class& entry = classes_[a];
  if (!entry.has_alone) entry.alone = rates_.Difference(added, RatedOf(kEmptyClass));
  entry.has_alone = true;
  return entry.alone;
}

// It depends on nothing but what the other class holds of a's closure. Most hold nothing.
std::vector<double> PairScorer::Surprises(ClassId a, const std::vector<ClassId>& others) {
  std::vector<double> surprises(others.size());
  const AttributeSet& closure = classes_[a].closure;
  if (closure.empty() || !(settings_.alpha < 1)) return surprises;
  if (closure.size() > 64) {
    for (std::size_t i = 0; i < others.size(); ++i) surprises[i] = (1 - settings_.alpha) * Tau(a, others[i]);
    return surprises;
  }
  held_.assign(classes_.size(), 0);
  for (std::size_t k = 0; k < closure.size(); ++k)
    for (const ClassId holder : holders_[closure[k]]) held_[holder] |= std::uint64_t{1} << k;
  FlatMap<double> by_held;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::uint64_t held = held_[others[i]];
    auto& slot = by_held.SlotOf(held);
    surprises[i] = slot.key != 0 ? slot.value : *by_held.Insert(slot, held, (1 - settings_.alpha) * Tau(a, others[i]));
  }
  return surprises;
}

RateBounds PairScorer::Combined(ClassId a, ClassId b) {
  return Combined(a, b, settings_.alpha < 1 ? (1 - settings_.alpha) * Tau(a, b) : 0);
}

RateBounds PairScorer::Combined(ClassId a, ClassId b, double surprise) {
  if (a == b || a == kEmptyClass) return {0, 0};
  if (a == kUnparsedClass) return {1, 1};
  const double alpha = settings_.alpha;
  if (!(alpha > 0)) return {surprise, surprise};
  const RateBounds delta = Delta(a, b);
  return {std::min(1.0, alpha * delta.lower + surprise), std::min(1.0, alpha * delta.upper + surprise)};
}

void PairScorer::Want(ClassId a, ClassId b) {
  if (!(settings_.alpha > 0)) return;
  const RatedSet& added = RatedOf(a);
  if (rates_.Meet(added, RatedOf(b))) return rates_.WantDifference(added, RatedOf(b));
  if (!classes_[a].alone_wanted) rates_.WantDifference(added, RatedOf(kEmptyClass));
  classes_[a].alone_wanted = true;
}

AttributeSet PairScorer::Causes(ClassId a, ClassId b) const {
  AttributeSet causes;
  if (settings_.alpha > 0) causes = DifferenceOf(classes_[a].scored, classes_[b].scored);
  if (settings_.alpha < 1) {
    AttributeSet surprising;
    for (const AttributeId id : Surprising(a, b)) {
      if (Weight(id) > 0) surprising.push_back(id);
    }
    causes = UnionOf(causes, surprising);
  }
  return causes;
}

}  // namespace privacy_score
