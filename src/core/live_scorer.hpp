/*
 * live_scorer.hpp - the running score of one session in a backend.
 *
 * It lives as long as the backend watches the role; Load brings a new version of the model and scores again what was
 * observed. What was met before costs a few hash look-ups. Equals ScoreSessions on the same data to the last bit.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profile.hpp"
#include "reach.hpp"

namespace privacy_score {

class LiveScorer {
 public:
  // Throws Error 22023 on bad settings. Until Load nothing is protected and every score is 0.
  LiveScorer(std::string role, const ScoreSettings& settings);
  LiveScorer(const LiveScorer&) = delete;
  LiveScorer& operator=(const LiveScorer&) = delete;

  // Takes in a new version of the model. Throws Error XX001 on damaged bytes, and then keeps the old version.
  void Load(std::string_view model_wire);
  // Changes the settings; the session goes on and is scored again under them.
  void Configure(const ScoreSettings& settings);
  const ScoreSettings& settings() const { return scorer_->settings(); }

  bool Knows(AbstractionId id) const;
  // Gives the tokens of an abstraction that the model does not hold yet.
  void Define(AbstractionId id, Tokens tokens);
  // Takes in one execution. Empty abstractions (0) take no place. Throws Error XX001 on an id that is not known, and
  // then has not counted it.
  void Observe(AbstractionId id, const ExecutionConstants& constants = {});
  // What the session would come to with one more execution; nothing is counted. Throws like Observe.
  SessionSummary WouldBe(AbstractionId id);
  // LastExplanation of that execution.
  std::string WouldBeExplained(AbstractionId id);
  // Starts a new session.
  void Restart();

  SessionSummary summary() const { return profile_.Summary(); }
  // How far the session reaches; nothing is known of it until Load.
  const ReachFigures& reach() const { return reach_->figures(); }
  // What of it is too far for the role's baseline; nothing without a baseline.
  std::vector<ReachExcess> OutOfReach(double factor) const;
  // The rates that were wanted since the last call.
  std::vector<MissingRate> TakeMissing() { return scorer_->TakeMissing(); }
  // JSON of the n-gram of the last execution: ngram, known, nearest, deltas, attributes, score. "{}" before the first,
  // and with `pad` off before the session is ngram_length long.
  std::string LastExplanation();
  // delta* of the last statement's n-gram, 0 when it is known.
  double LastScore();

 private:
  static bool HasNGram(const NGram& recorded, const ScoreSettings& settings);
  std::string Explained(const NGram& recorded);
  void Replace(std::shared_ptr<const Model> model, const ScoreSettings& settings);

  std::string role_;
  std::shared_ptr<const Model> model_;
  TokenMap defined_;
  std::unique_ptr<RoleScorer> scorer_;
  NGramWindow window_;
  Profile profile_;
  std::unique_ptr<ReachTracker> reach_;
  // The session at full length, which another ngram_length is cut from: distinct recorded n-grams with counts.
  std::unordered_map<NGram, std::int64_t, NGramHash> recorded_;
};

}  // namespace privacy_score
