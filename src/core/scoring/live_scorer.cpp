/*
 * live_scorer.cpp - the running score of one session in a backend.
 */
#include "core/scoring/live_scorer.hpp"

#include <utility>

#include "core/base/error.hpp"
#include "core/scoring/enforced_sum.hpp"
#include "core/scoring/explain.hpp"

namespace privacy_score {

namespace {

// As malloc gives them, on 64 bits.
constexpr std::size_t kBytesOfAbstraction = 1024;
constexpr std::size_t kBytesOfToken = 96;
constexpr std::size_t kBytesOfCharacter = 2;  // of a token: here, and where who defines them keeps them

// Remembered scores are wanted once more at most, when a statement that was weighed is taken in.
constexpr ScoreMemory kLiveMemory = {std::size_t{1} << 10U, std::size_t{1} << 18U};

}  // namespace

LiveScorer::LiveScorer(std::string role, const ScoreSettings& settings)
    : role_(std::move(role)), model_(std::make_shared<const Model>()) {
  scorer_ = std::make_unique<RoleScorer>(model_, role_, settings, &defined_, kLiveMemory);
  reach_ = std::make_unique<ReachTracker>(*model_, settings.where_counts);
  summary_ = profile_.Summary();
}

std::size_t LiveScorer::BytesOf(const Tokens& tokens) {
  std::size_t bytes = kBytesOfAbstraction;
  for (const std::string& token : tokens) bytes += kBytesOfToken + kBytesOfCharacter * token.size();
  return bytes;
}

void LiveScorer::Load(std::string_view model_wire) {
  Replace(std::make_shared<const Model>(Model::Parse(model_wire)), settings());
}

void LiveScorer::Configure(const ScoreSettings& settings) { Replace(model_, settings); }

// Scores the session under another model or other settings. Changes nothing when it throws, but for definitions that
// are carried over.
void LiveScorer::Replace(std::shared_ptr<const Model> model, const ScoreSettings& settings) {
  for (const auto& [ngram, met] : recorded_) {
    const AbstractionId id = ngram.back();
    if (model->FindTokens(id) == nullptr && defined_.count(id) == 0) defined_.emplace(id, scorer_->TokensOf(id));
  }
  auto scorer = std::make_unique<RoleScorer>(model, role_, settings, &defined_, kLiveMemory);
  Profile profile;
  auto reach = std::make_unique<ReachTracker>(*model, settings.where_counts);
  reach->Replay(*reach_, *model, [&](AbstractionId id) -> const Tokens& { return scorer->TokensOf(id); });
  std::vector<Met> fresh;
  fresh.reserve(recorded_.size());
  for (const auto& [ngram, met] : recorded_) {
    const AbstractionId id = ngram.back();
    fresh.push_back(
        {met.count, profile.Add(ngram, met.count, *scorer), reach->FormOf(*model, id, scorer->TokensOf(id))});
  }
  auto next = fresh.begin();
  for (auto& [ngram, met] : recorded_) met = *next++;
  model_ = std::move(model);
  baseline_ = model_->BaselineOfRole(role_);
  reach_ = std::move(reach);
  scorer_ = std::move(scorer);
  profile_ = std::move(profile);
  summary_ = profile_.Summary();
  steps_.fill({});
  ++turn_;
}

bool LiveScorer::Knows(AbstractionId id) const {
  return id == 0 || defined_.count(id) > 0 || model_->FindTokens(id) != nullptr;
}

void LiveScorer::Define(AbstractionId id, Tokens tokens) {
  if (id == 0) return;
  defined_.emplace(id, std::move(tokens));
}

void LiveScorer::ForgetUnused() {
  TokenMap used;
  for (const auto& [ngram, met] : recorded_) {
    const auto found = defined_.find(ngram.back());
    if (found != defined_.end()) used.insert(*found);
  }
  defined_ = std::move(used);
  Replace(model_, settings());
}

NGram LiveScorer::NextNGram(AbstractionId id) const {
  NGramWindow window(LastNGram());
  window.Push(id);
  return window.recorded();
}

// Takes in an n-gram that the session has not had.
LiveScorer::State* LiveScorer::Meet(AbstractionId id, const NGram& ngram) {
  const Tokens& tokens = scorer_->TokensOf(id);
  const std::uint32_t form = reach_->FormOf(*model_, id, tokens);
  const auto place = recorded_.emplace(ngram, Met()).first;
  try {
    place->second = {1, profile_.Add(ngram, 1, *scorer_), form};
  } catch (...) {
    recorded_.erase(place);
    throw;
  }
  if (place->second.places.statement->count == 1) bytes_ += BytesOf(tokens);
  summary_ = profile_.Summary();
  return &*place;
}

void LiveScorer::Observe(AbstractionId id, const BoundConstants& constants) {
  if (id == 0) return;
  State* next = FindStep(id);
  bool is_new = false;
  if (next == nullptr) {
    const NGram ngram = NextNGram(id);
    const auto found = recorded_.find(ngram);
    is_new = found == recorded_.end();
    next = is_new ? Meet(id, ngram) : &*found;
    steps_[PlaceOfStep(id)] = {state_, id, next};
  }
  if (is_new) {
    ++turn_;
    state_ = next;
  } else {
    Follow(next);
  }
  reach_->Observe(next->second.form, constants);
}

LiveScorer::Weighed LiveScorer::Weigh(AbstractionId id) {
  Weighed weighed;
  weighed.sum = summary_.statement_score;
  weighed.estimated = summary_.statement_estimated;
  const bool once = settings().counting == ScoreSettings::kSet;
  if (id == 0 || (once && (Repeats(id) || profile_.HasStatement(id)))) return weighed;
  const NGramScore own = EnforcedSum::Of(id, *scorer_);
  weighed.adds = own.score > 0;
  if (!weighed.adds) return weighed;
  weighed.rise = own.score;
  weighed.sum = profile_.StatementScoreWith(own.score);
  weighed.estimated = weighed.estimated || own.score_estimated;
  return weighed;
}

std::string LiveScorer::ExplainStatement(AbstractionId id) {
  NGram statement{};
  statement.back() = id;
  return NGramJson(*scorer_, statement, ScoreLevel::kStatement);
}

void LiveScorer::Restart() {
  ++turn_;
  state_ = nullptr;
  steps_.fill({});
  recorded_.clear();
  bytes_ = 0;
  defined_.clear();
  profile_ = Profile();
  summary_ = profile_.Summary();
  reach_ = std::make_unique<ReachTracker>(*model_, settings().where_counts);
}

ReachLimits LiveScorer::LeastOutOfReach(double factor) const noexcept {
  if (baseline_ != nullptr) return privacy_score::LeastOutOfReach(*baseline_, factor);
  ReachLimits none;
  none.fill(kNeverOutOfReach);
  return none;
}

std::vector<ReachExcess> LiveScorer::OutOfReach(double factor) const {
  if (baseline_ == nullptr) return {};
  return privacy_score::OutOfReach(reach(), *baseline_, factor);
}

bool LiveScorer::HasNGram(const NGram& recorded, const ScoreSettings& settings) {
  return recorded.back() != 0 && (settings.pad || !HasPadding(recorded, settings.ngram_length));
}

std::string LiveScorer::LastExplanation() {
  const NGram last = LastNGram();
  if (!HasNGram(last, settings())) return "{}";
  return NGramJson(*scorer_, Suffix(last, settings().ngram_length), ScoreLevel::kNGram);
}

double LiveScorer::LastScore() {
  const NGram last = LastNGram();
  if (!HasNGram(last, settings())) return 0;
  return scorer_->Score(Suffix(last, settings().ngram_length), ScoreLevel::kNGram).score;
}

}  // namespace privacy_score
