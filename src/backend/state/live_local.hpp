/*
 * live_local.hpp - what this process knows of the session that it scores; shared by the files that record, and by what
 * remembers abstractions.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "pgtime.h"
}

#include <string>
#include <unordered_map>
#include <vector>

#include "backend/state/shared_state.hpp"
#include "core/scoring/live_scorer.hpp"

namespace privacy_score {

// What this backend knows about one principal, on the C++ heap.
struct LocalScorer {
  LocalScorer(const privacy_score::ScoreSettings& settings, const char* role, const char* end_user)
      : scorer(role, settings, end_user) {
    scorer.TellDay(&told);
  }
  privacy_score::LiveScorer scorer;
  std::vector<privacy_score::MissingRate> missing;
  std::string explanation = "{}";
  std::vector<privacy_score::ReachExcess> excesses;
  privacy_score::SessionJournal journal;  // what others do not know yet, of a session that they keep as well
  privacy_score::SessionJournal told;     // what the worker does not know yet, for the principal's day
  uint64 model_version = 0;               // that the scorer has loaded
  uint64 model_built_for = 0;             // number of the last change that it reflects
};

struct Local {
  bool forgot;          // abstractions that were met
  LocalScorer* scorer;  // of the open session
  LocalScorer* own;     // that of the sessions of this connection, of one role
  Oid own_role;
  TimestampTz last_start;                          // of the last message of the client that an event came from
  std::unordered_map<int64, std::string>* tokens;  // joined by kTokenEnd, of all met in this process
  Size abstraction_bytes;                          // that they take here and in the scorer, about
};
extern Local ps_local;

// The open session, and what was found out of it when an event was last recorded the long way.
struct OwnSessionState {
  LiveSession* session;  // null: none
  // No source of end users is set, or this session does not speak for others: settings and texts need not be looked at.
  bool asks_for_nobody;
  int64 last_event;  // of the session, and how often in a row it came
  int64 repeated;
  // The settings and model under which the figures were published, and the last change that was known then, when of a
  // statement that repeats only the counts can change and nothing is compared with limits; else 0.
  uint64 plain_settings, plain_model, plain_changes;
  // The figures of reach have been judged as long as none is so great, and the others stand; 0: not yet.
  privacy_score::ReachLimits reach_judged_below;
  // A second of which the day is known.
  TimestampTz day_from, day_until;
  int32 day;
  const pg_tz* zone;
};
extern OwnSessionState ps_own;

constexpr uint64 kRecentlySent = 64;
extern int64
    ps_recently_sent[kRecentlySent];  // definitions that the session has handed to the worker, some, each at its place

inline int64* RecentlySent(int64 id) { return &ps_recently_sent[static_cast<uint64>(id) % kRecentlySent]; }

// Whether a figure of the session's reach may be too great, of which nobody was told.
inline bool MayBeOutOfReach(const privacy_score::ReachFigures& reach) {
  for (std::size_t figure = 0; figure < ps_own.reach_judged_below.size(); ++figure)
    if (reach.values[figure] >= ps_own.reach_judged_below[figure]) return true;
  return false;
}

}  // namespace privacy_score
