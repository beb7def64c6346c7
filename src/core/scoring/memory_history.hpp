/*
 * memory_history.hpp - history of running sessions in memory, where none can be stored: the worker of a hot standby.
 *
 * Kept are the distinct recorded n-grams of each open session and of each principal and day, and the tokens of their
 * abstractions. That is enough to score them again under another model, and bounded: beyond `most_ngrams` nothing new
 * is taken in, and what misses something says so instead of giving a score that is too low.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/scoring/profile.hpp"

namespace privacy_score {

// The score of a session or a day, and why it is what it is.
struct MemoryScore {
  SessionSummary summary;
  double enforced = 0;  // of a day (enforced_sum.hpp)
  std::vector<MissingRate> missing;
  double largest = 0;              // score of one n-gram
  std::string explanation = "{}";  // of that n-gram, as JSON
};

class MemoryHistory {
 public:
  explicit MemoryHistory(std::size_t most_ngrams) : most_ngrams_(most_ngrams) {}

  bool Knows(AbstractionId id) const { return defined_.count(id) > 0; }
  void Define(AbstractionId id, Tokens tokens) { defined_.emplace(id, std::move(tokens)); }

  // Takes in `run` executions in a row of session `key`, or kContext. Of the session, which is scored by itself at
  // `ngram_length`, no longer n-grams are kept. False when something did not fit.
  bool Append(std::uint64_t key, const std::string& principal, std::int64_t day, int ngram_length, AbstractionId id,
              std::int64_t run);
  // Forgets a session; what it brought to its principal's day stays.
  void Close(std::uint64_t key);
  // Forgets the days before `day`; called when the day changes.
  void ForgetBefore(std::int64_t day);

  // Scores a session of a role and end user, empty for none, under a model (see Model::Parse); nothing when it is
  // unknown or not complete. Throws Error.
  std::optional<MemoryScore> ScoreSession(std::uint64_t key, const ModelSource& source, const std::string& role,
                                          const std::string& end_user, const ScoreSettings& settings) const;
  // Scores a principal's day together with what is stored of it: sections (id, token) and (ids, runs of a session, a
  // row a session). Nothing when memory holds only a part of the day. Throws Error.
  std::optional<MemoryScore> ScoreDay(const std::string& role, const std::string& end_user, std::int64_t day,
                                      const ModelSource& source, std::string_view stored_wire,
                                      const ScoreSettings& settings) const;

  // N-grams held.
  std::size_t size() const { return size_; }

 private:
  using Counts = std::unordered_map<NGram, std::int64_t, NGramHash>;
  struct Counted {
    Counts ngrams;
    bool complete = true;
  };
  struct OpenSession {
    NGramWindow window;
    Counted counted;
    std::unordered_set<AbstractionId> met;
  };
  // How many sessions have had an abstraction, and how often in all.
  struct Met {
    std::int64_t sessions = 0;
    std::int64_t executions = 0;
  };
  using MetCounts = std::unordered_map<AbstractionId, Met>;
  struct Day {
    Counted counted;
    MetCounts met;  // no more than there are n-grams
  };

  void Add(Counted& counted, const NGram& ngram, std::int64_t count);
  static MemoryScore Score(const Counts& counts, const MetCounts& met, const TokenMap& tokens,
                           const ModelSource& source, const std::string& role, const std::string& end_user,
                           const ScoreSettings& settings);

  std::size_t most_ngrams_;
  std::size_t size_ = 0;
  TokenMap defined_;
  std::unordered_map<std::uint64_t, OpenSession> sessions_;
  std::unordered_map<std::string, std::unordered_map<std::int64_t, Day>> days_;
};

}  // namespace privacy_score
