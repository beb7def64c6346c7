/*
 * profile.hpp - the profile of a session, a day or several days, and its score.
 *
 *   P = sum over mismatched g of m(g) s(g|beta), M = n sum of m(g), M' = P against an empty baseline,
 *   m = 1 ('set') or the count ('multiset')
 * The live scorer and the stored history both use this class, and sums do not depend on the order of their terms
 * (score_sum.hpp), so that the live score equals the stored one to the last bit.
 */
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/base/paused.hpp"
#include "core/scoring/score.hpp"
#include "core/scoring/score_sum.hpp"

namespace privacy_score {

struct SessionSummary {
  std::int64_t queries = 0;     // statements that are not empty
  std::int64_t ngrams = 0;      // distinct ones for 'set' counting, else all
  std::int64_t mismatched = 0;  // likewise
  double score = 0;             // P
  double max_score = 0;         // M
  double tight_max = 0;         // M'
  double normalised = 0;        // P / M, 0 when M is 0
  double statement_score = 0;   // P at n = 1; of a session what mode enforce goes by (enforced_sum.hpp)
  // P against the role's baseline, of an end user whose own the others are against; below 0: of nobody else.
  double peer_score = -1;
  bool estimated = false;            // some figure rests on a bound of a rate
  bool statement_estimated = false;  // statement_score does
  bool peer_estimated = false;       // peer_score is an upper bound
};

class Profile;

// The summary with the score of the same n-grams against the role's baseline.
SessionSummary WithPeers(SessionSummary own, const Profile& peers);

class Profile {
 public:
  struct Entry {
    std::int64_t count = 0;
    NGramScore score;
  };
  using Entries = std::unordered_map<NGram, Entry, NGramHash>;
  // The entries of one recorded n-gram. They stay where they are until the profile goes; `ngram` is null for one that
  // is too short without padding.
  struct Places {
    Entry* ngram = nullptr;
    Entry* statement = nullptr;
  };

  // Takes in `count` statements each of which makes this recorded n-gram. What was met before costs two look-ups and no
  // allocation.
  Places Add(const NGram& recorded, std::int64_t count, RoleScorer& scorer);
  // Takes in all statements of a session. Throws Paused when it is to give up.
  void AddSequence(const Sequence& sequence, RoleScorer& scorer, GivesUp gives_up = nullptr);
  // Takes in one more of an n-gram that was added before, without a look-up; returns whether anything but the number of
  // queries has changed.
  bool Repeat(const Places& places, const ScoreSettings& settings) {
    ++queries_;
    ++places.statement->count;
    if (places.ngram != nullptr) ++places.ngram->count;
    if (settings.counting == ScoreSettings::kSet) return false;
    CountAgain(places);
    return true;
  }

  SessionSummary Summary() const;
  // Whether an abstraction was taken in.
  bool HasStatement(AbstractionId id) const;
  // What statement_score would be with one more statement that adds `score` to it.
  double StatementScoreWith(double score) const;
  // The n-grams of ngram_length.
  const Entries& ngrams() const { return ngrams_.entries; }

 private:
  void CountAgain(const Places& places);

  struct Tally {
    Entries entries;
    std::int64_t total = 0;  // n-grams as counted
    std::int64_t mismatched = 0;
    std::int64_t estimated = 0;  // entries
    std::int64_t score_estimated = 0;
    int most = 1;  // M for one n-gram
    ScoreSum score;
    ScoreSum tight;

    Entry* Add(const NGram& ngram, std::int64_t count, RoleScorer& scorer, ScoreLevel level);
    void Count(const NGramScore& entry, std::int64_t counted, bool is_new);
  };

  std::int64_t queries_ = 0;
  Tally ngrams_;
  Tally statements_;
};

}  // namespace privacy_score
