/*
 * day_scorer.hpp - the score of one principal's day as it grows, in little memory.
 *
 * The background worker asks for it again and again while the day goes on. What sessions have written since is added to
 * what is known: the day's distinct n-grams with their scores, of its abstractions the classes, of each session where
 * it is. Equals ScoreEachDay (history.hpp) on the same data to the last bit, since sums do not depend on their order.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/scoring/enforced_sum.hpp"
#include "core/scoring/missing_rates.hpp"
#include "core/scoring/profile.hpp"
#include "core/scoring/score.hpp"

namespace privacy_score {

struct DayScore {
  double score = 0;     // P
  double enforced = 0;  // the sum that mode enforce goes by (enforced_sum.hpp)
  std::vector<MissingRate> missing;
};

class DayScorer {
 public:
  // A day without any session. Throws Error 22023 on bad settings.
  DayScorer(std::shared_ptr<const Model> model, const std::string& role, const ScoreSettings& settings,
            const std::string& end_user = {});

  // The parts of a session from a number on.
  struct Wanted {
    std::int64_t session = 0;
    std::int64_t from = 0;
  };
  // Takes in which sessions the day has, a DaySessionSection, and returns what is to be taken in of them; nothing where
  // a session that was taken in has gone or has less than it had: the day must be scored anew. Throws Error XX001 on
  // damaged bytes, as all that follows.
  std::optional<std::vector<Wanted>> Follow(std::string_view sessions_wire);
  // Takes in parts, a SessionPartSection ordered by session and number.
  void TakeParts(std::string_view parts_wire);
  // The abstractions of these that are not known, sorted.
  std::vector<AbstractionId> Unknown() const;
  // Takes in tokens of abstractions: a section (id, token), one row a token, ordered by id. Those of one id may go on
  // in the next call.
  void Define(std::string_view tokens_wire);

  // The score of all that was taken in. Throws Error XX001 when an abstraction is not known; then the object is of no
  // more use.
  DayScore Score();
  // What it has in memory: distinct n-grams and sessions.
  std::size_t size() const { return profile_.places() + sessions_.size(); }

 private:
  struct Session {
    std::int64_t queries = 0;
    std::int64_t next_part = 0;
    NGramWindow window;
    std::vector<AbstractionId> counted;  // by the sum for enforce, each once; sorted
    Sequence taken;                      // in, and not scored yet
  };

  void TakePending();
  void CountEnforced(Session& session);

  RoleScorer scorer_;
  Profile profile_;
  EnforcedSum enforced_;
  std::unordered_map<std::int64_t, Session> sessions_;
  std::vector<std::int64_t> touched_;  // sessions of which something was taken in
  MissingRates missing_;
  AbstractionId pending_ = 0;  // whose tokens may not be complete; 0: none
  Tokens tokens_;              // of it
};

}  // namespace privacy_score
