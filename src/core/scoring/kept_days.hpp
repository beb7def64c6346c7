/*
 * kept_days.hpp - the score of days that are over, as it is kept, and what days add up to.
 *
 * A day is scored once, when it is over. With its figures goes what each of its n-grams added, so that a sum over
 * several days, in which an n-gram counts once, is made without scoring any of them anew. The score of an n-gram is
 * that of the first of these days: the days of one sum may rest on rates of different times.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rows.hpp"
#include "core/scoring/ngram.hpp"
#include "core/scoring/profile.hpp"
#include "core/scoring/score_settings.hpp"

namespace privacy_score {

// The figures of a day as text, in the order of the section; they are shown as they are kept.
enum class KeptFigure {
  kQueries,
  kNgrams,
  kMismatched,
  kScore,
  kMaxScore,
  kTightMax,
  kNormalised,
  kStatementScore,
  kRows,
  kEnforced,
  kPeerScore,
  kCount
};

// One day of a principal: of a role and an end user, or none.
struct ScoredDay {
  std::string role;
  std::optional<std::string> end_user;
  std::string day;
  std::vector<std::optional<std::string>> figures;  // as KeptFigure
  // The n-grams that add to the score, the abstractions of one after those of the other; how often each occurs, and its
  // score.
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> counts;
  std::vector<double> scores;
};

// Notes which n-grams of a profile add to its score, in the order of their abstractions.
void NoteAdding(ScoredDay& day, const Profile& profile, int ngram_length);

// Reads a section of kept days. Throws Error XX001 on damaged bytes.
std::vector<ScoredDay> ReadKeptDays(WireReader& reader);
// The rows of such a section.
ResultTable KeptRows(const std::vector<ScoredDay>& days);

// One row a principal and day: role, day, queries, ngrams, mismatched, score, max_score, tight_max, normalised,
// cumulative, statement_score, rows, enforced (enforced_sum.hpp), end_user, peer_score. `cumulative` is Delta over the
// principal's days up to this one. The days come in any order, no two of one principal and day.
ResultTable WithCumulative(std::vector<ScoredDay> days, ScoreSettings::Counting counting);

}  // namespace privacy_score
