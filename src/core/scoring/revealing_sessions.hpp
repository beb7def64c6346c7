/*
 * revealing_sessions.hpp - in how many sessions of a baseline each column is revealed, which p(y) is made of
 * (pair_score.hpp).
 *
 * To count is to look at each statement of the baselines of all roles. So whoever publishes a model counts once, under
 * the settings that most sessions have, and writes the counts behind the model; a session under others counts itself.
 */
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/scoring/model.hpp"
#include "core/scoring/rates.hpp"
#include "core/scoring/score_settings.hpp"

namespace privacy_score {

class RevealingCounter {
 public:
  // The model and the rates, which must be of it, must outlive the object. Notes rates that decide what a statement
  // reveals as wanted.
  RevealingCounter(const Model& model, RateBook& rates, const ScoreSettings& settings)
      : model_(model), rates_(rates), settings_(settings) {}

  // As they stand in the model, or counted. A session reveals what its statements reveal for certain and what follows
  // from that by confirmed dependencies.
  RevealingSessions Of(const Baseline& baseline);

 private:
  struct Revealed {
    AttributeSet closure;
    bool exact = true;
  };

  RevealingSessions Count(const Baseline& baseline);
  Revealed Reveal(const Tokens& tokens);

  const Model& model_;
  RateBook& rates_;
  ScoreSettings settings_;
  std::unordered_map<AbstractionId, Revealed> revealed_;
};

// RevealingSection, to be written behind the model that it is of: the counts of the baselines of all roles. `missing`
// takes the rates that were wanted.
std::string CountRevealing(const Model& model, const ScoreSettings& settings, std::vector<MissingRate>* missing);

}  // namespace privacy_score
