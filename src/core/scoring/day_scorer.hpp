/*
 * day_scorer.hpp - the score of one principal's day, in little memory.
 *
 * The background worker computes it again and again while the day grows. Equals ScoreEachDay (history.hpp) on the same
 * data to the last bit; but of the day's abstractions only their classes are kept, so that they can be handed over in
 * parts, however many there are.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/scoring/history.hpp"
#include "core/scoring/score.hpp"

namespace privacy_score {

struct DayScore {
  double score = 0;     // P
  double enforced = 0;  // the sum that mode enforce goes by (enforced_sum.hpp)
  std::vector<MissingRate> missing;
};

class DayScorer {
 public:
  // `wire`: sections of the model, with the abstractions of baselines, of settings and of sessions (history.hpp), all
  // of one principal and day. It is not referred to afterwards. Throws Error 22023 on bad settings, XX001 on damaged
  // bytes.
  DayScorer(std::string_view wire, const std::string& role, const std::string& end_user = {});

  // Takes in abstractions of the sessions: a section (id, token), one row a token, ordered by id. Those of one id may
  // go on in the next call.
  void Define(std::string_view tokens_wire);

  // The score of what was given. Throws Error XX001 when an abstraction is not known.
  DayScore Score();

 private:
  DayScorer(History history, const std::string& role, const std::string& end_user);
  void TakePending();

  std::vector<HistorySession> sessions_;
  RoleScorer scorer_;
  AbstractionId pending_ = 0;  // whose tokens may not be complete; 0: none
  Tokens tokens_;              // of it
};

}  // namespace privacy_score
