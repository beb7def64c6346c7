/*
 * live_scorer.cpp - the running score of one session in a backend.
 */
#include "live_scorer.hpp"

#include <utility>

#include "error.hpp"
#include "explain.hpp"

namespace privacy_score {

LiveScorer::LiveScorer(std::string role, const ScoreSettings& settings)
    : role_(std::move(role)), model_(std::make_shared<const Model>()) {
  scorer_ = std::make_unique<RoleScorer>(model_, role_, settings, &defined_);
  reach_ = std::make_unique<ReachTracker>(*model_, settings.where_counts);
}

void LiveScorer::Load(std::string_view model_wire) {
  Replace(std::make_shared<const Model>(Model::Parse(model_wire)), settings());
}

void LiveScorer::Configure(const ScoreSettings& settings) { Replace(model_, settings); }

// Scores the session under another model or other settings. Changes nothing when it throws, but for definitions that
// are carried over.
void LiveScorer::Replace(std::shared_ptr<const Model> model, const ScoreSettings& settings) {
  for (const auto& [ngram, count] : recorded_) {
    const AbstractionId id = ngram.back();
    if (model->FindTokens(id) == nullptr && defined_.count(id) == 0) defined_.emplace(id, scorer_->TokensOf(id));
  }
  auto scorer = std::make_unique<RoleScorer>(model, role_, settings, &defined_);
  Profile profile;
  for (const auto& [ngram, count] : recorded_) profile.Add(ngram, count, *scorer);
  auto reach = std::make_unique<ReachTracker>(*model, settings.where_counts);
  reach->Replay(*reach_, *model, [&](AbstractionId id) -> const Tokens& { return scorer->TokensOf(id); });
  model_ = std::move(model);
  reach_ = std::move(reach);
  scorer_ = std::move(scorer);
  profile_ = std::move(profile);
}

bool LiveScorer::Knows(AbstractionId id) const {
  return id == 0 || defined_.count(id) > 0 || model_->FindTokens(id) != nullptr;
}

void LiveScorer::Define(AbstractionId id, Tokens tokens) {
  if (id == 0) return;
  defined_.emplace(id, std::move(tokens));
}

void LiveScorer::Observe(AbstractionId id, const ExecutionConstants& constants) {
  if (id == 0) return;
  NGramWindow next = window_;
  next.Push(id);
  profile_.Add(next.recorded(), 1, *scorer_);
  ++recorded_[next.recorded()];
  window_ = next;
  reach_->Observe(*model_, id, scorer_->TokensOf(id), constants);
}

SessionSummary LiveScorer::WouldBe(AbstractionId id) {
  if (id == 0) return summary();
  NGramWindow next = window_;
  next.Push(id);
  profile_.Add(next.recorded(), 1, *scorer_);
  const SessionSummary would_be = profile_.Summary();
  profile_.Remove(next.recorded(), 1, *scorer_);
  return would_be;
}

std::string LiveScorer::WouldBeExplained(AbstractionId id) {
  NGramWindow next = window_;
  next.Push(id);
  return Explained(next.recorded());
}

void LiveScorer::Restart() {
  window_.Restart();
  profile_ = Profile();
  recorded_.clear();
  reach_ = std::make_unique<ReachTracker>(*model_, settings().where_counts);
}

std::vector<ReachExcess> LiveScorer::OutOfReach(double factor) const {
  const Baseline* baseline = model_->BaselineOfRole(role_);
  if (baseline == nullptr) return {};
  return privacy_score::OutOfReach(reach(), *baseline, factor);
}

bool LiveScorer::HasNGram(const NGram& recorded, const ScoreSettings& settings) {
  return recorded.back() != 0 && (settings.pad || !HasPadding(recorded, settings.ngram_length));
}

std::string LiveScorer::Explained(const NGram& recorded) {
  if (!HasNGram(recorded, settings())) return "{}";
  return NGramJson(*scorer_, Suffix(recorded, settings().ngram_length));
}

std::string LiveScorer::LastExplanation() { return Explained(window_.recorded()); }

double LiveScorer::LastScore() {
  if (!HasNGram(window_.recorded(), settings())) return 0;
  return scorer_->Score(Suffix(window_.recorded(), settings().ngram_length), ScoreLevel::kNGram).score;
}

}  // namespace privacy_score
