/*
 * profile.hpp - the profile of a session, a day or several days, and its score.
 *
 *   P = sum over mismatched g of m(g) s(g|beta), M = n sum of m(g), M' = P against an empty baseline,
 *   m = 1 ('set') or the count ('multiset')
 * The live scorer and the stored history both use this class, and sums do not depend on the order of their terms
 * (score_sum.hpp), so that the live score equals the stored one to the last bit.
 */
#pragma once

#include <cstddef>
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
    std::int64_t count = 0;  // 0: it was scored, and for want of memory not taken in
    NGramScore score;
    Entry* statement = nullptr;  // of an n-gram: that of its last statement
    std::uint32_t form = 0;      // of that statement, for reach; of whoever counts it (LiveScorer)
  };
  using Entries = std::unordered_map<NGram, Entry, NGramHash>;
  // An n-gram of ngram_length with its entry. It stays where it is until the profile goes.
  using Place = Entries::value_type;

  Profile() = default;
  Profile(Profile&&) = default;
  Profile& operator=(Profile&&) = default;

  // Takes in `count` statements each of which makes this recorded n-gram, and returns the place of what of it has
  // ngram_length: also where that is too short without padding, and so does not count. What was met before costs two
  // look-ups and no allocation.
  Place* Add(const NGram& recorded, std::int64_t count, RoleScorer& scorer);
  // All of that that may throw; counts nothing.
  Place* Prepare(const NGram& recorded, RoleScorer& scorer);
  // Takes in all statements of a session. Throws Paused when it is to give up.
  void AddSequence(const Sequence& sequence, RoleScorer& scorer, GivesUp gives_up = nullptr);
  // Takes in one more of an n-gram that was added before, without a look-up; returns whether anything but the number of
  // queries has changed.
  bool Repeat(Place& place, const ScoreSettings& settings) {
    ++queries_;
    ++place.second.statement->count;
    ++place.second.count;
    if (settings.counting == ScoreSettings::kSet) return false;
    CountAgain(place, settings);
    return true;
  }
  // The place of an n-gram of ngram_length; null: it was not added.
  Place* Find(const NGram& ngram);
  // Calls `visit` with each.
  template <typename Visit>
  void ForEachPlace(Visit visit) const {
    for (const Entries* entries : {&ngrams_.entries, &too_short_})
      for (const Place& place : *entries)
        if (place.second.count > 0) visit(place);
  }
  std::size_t places() const { return ngrams_.entries.size() + too_short_.size(); }

  SessionSummary Summary() const;
  // Whether an abstraction was taken in.
  bool HasStatement(AbstractionId id) const;
  // What statement_score would be with one more statement that adds `score` to it.
  double StatementScoreWith(double score) const;
  // The n-grams of ngram_length.
  const Entries& ngrams() const { return ngrams_.entries; }

 private:
  void CountAgain(const Place& place, const ScoreSettings& settings);

  struct Tally {
    Entries entries;
    std::int64_t total = 0;  // n-grams as counted
    std::int64_t mismatched = 0;
    std::int64_t estimated = 0;  // entries
    std::int64_t score_estimated = 0;
    int most = 1;  // M for one n-gram
    ScoreSum score;
    ScoreSum tight;

    // The place of an n-gram, which is scored when there is none.
    Place& PlaceOf(const NGram& ngram, RoleScorer& scorer, ScoreLevel level);
    void Add(Entry& entry, std::int64_t count, const ScoreSettings& settings);
    void Count(const NGramScore& entry, std::int64_t counted, bool is_new);
  };

  std::int64_t queries_ = 0;
  Tally ngrams_;
  Tally statements_;
  Entries too_short_;  // n-grams that do not count
};

}  // namespace privacy_score
