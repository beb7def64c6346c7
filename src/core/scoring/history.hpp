/*
 * history.hpp - scores computed from the stored history: one call a SQL function.
 *
 * Input is one wire buffer: the sections of Model::Read, a section with one row of settings, and the sessions
 *   settings (ngram_length, counting 'set'|'multiset', compare 'positionwise'|'union', alpha, where_counts, pad,
 *             identifiers_count)
 *   sessions (session_key bigint, role, day text, session text, ids bigint[], runs bigint[],
 *             rows bigint[] or NULL, reach, subjects, subject_columns: of the session, NULL where not known,
 *             end_user or NULL)
 * ordered by role, day, start. A principal is a role and an end user. Rows of the same session_key, role and day that
 * follow each other are parts of one session. Days are compared as text (ISO).
 *
 * Every answer lists the rates that were not known exactly. Once they are, the same call gives exact figures. Scoring
 * throws Paused when `gives_up` says so, which is asked at each n-gram.
 */
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/paused.hpp"
#include "core/base/rows.hpp"
#include "core/scoring/kept_days.hpp"
#include "core/scoring/model.hpp"
#include "core/scoring/ngram.hpp"
#include "core/scoring/score_settings.hpp"

namespace privacy_score {

struct HistoryResult {
  ResultTable table;
  std::vector<MissingRate> missing;
};

// One a principal and day. An end user with a baseline of her own is scored against that; her peer_score is then the
// score against the role's, none for others.
struct EachDayResult {
  std::vector<ScoredDay> days;
  std::vector<MissingRate> missing;
};
EachDayResult ScoreEachDay(std::string_view wire, GivesUp gives_up = nullptr);

// One row a session: role, day, session, queries, ngrams, mismatched, score, max_score, tight_max, normalised,
// statement_score, rows, reach, subjects, subject_columns, enforced, end_user, peer_score. In the order given.
HistoryResult ScoreSessions(std::string_view wire, GivesUp gives_up = nullptr);

// One row a mismatched n-gram of a principal and day: day, ngram text[], count, nearest text[], score, deltas float8[],
// attributes text[], rows (returned by their last statements), role, end_user, peer_score (of this n-gram). By day,
// score descending, ngram.
HistoryResult ScoreNGrams(std::string_view wire, GivesUp gives_up = nullptr);

// What a baseline of these sessions stores. `sessions_wire` holds the section of sessions alone.
BaselineRows BaselineOfHistory(std::string_view sessions_wire);

// How often a day holds n-grams that no other day holds, leave one day out: ngram_length, mismatch_rate (the share of a
// day's n-gram occurrences, averaged over days), chosen; one row a length from 1 to `longest`. Chosen (ours) is the
// longest whose rate is at most 1.5 times that at length 1 plus 0.05: longer ones call harmless orders of known
// statements new. A single day tells nothing: then 2. Throws Error 22023 on a bad `longest`.
ResultTable ChooseNGramLength(std::string_view sessions_wire, int longest, bool pad = true);

// One session of the history.
struct HistorySession {
  std::int64_t session_key = 0;
  std::string role;
  std::string day;
  std::string session;
  Sequence sequence;
  std::optional<std::string> end_user;
  std::array<std::optional<std::string>, kReachFigureCount> reach;  // where known
};
// All that a call reads.
struct History {
  std::shared_ptr<const Model> model;
  ScoreSettings settings;
  std::vector<HistorySession> sessions;
};
History ReadHistory(std::string_view wire);
// ScoreEachDay of what was read.
EachDayResult ScoreEachDay(const History& history, GivesUp gives_up = nullptr);
// Reads the section of sessions.
std::vector<HistorySession> ReadSessions(WireReader& reader);
// Reads the section of settings. Throws Error 22023 on a value out of range.
ScoreSettings ReadSettings(WireReader& reader);

}  // namespace privacy_score
