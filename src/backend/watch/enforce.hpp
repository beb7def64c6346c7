/*
 * enforce.hpp - refusing statements before they run.
 *
 * A refusal is an alert that is written although the transaction fails, a count in the session, and an error PS001 that
 * tells the caller the score and the limit and nothing about the data or other roles. The setting break_glass, which
 * only a superuser can set, lets everything pass; that it was needed is an alert, too.
 */
#pragma once

#include <string_view>

#include "backend/state/limits.hpp"
#include "backend/state/shared_state.hpp"
#include "core/scoring/live_scorer.hpp"

namespace privacy_score {

// Whether limits refuse in this session.
bool Enforcing();

// Whether a limit that refuses is set: normalised_limit only alerts.
bool AnyLimitSet(const SessionLimits& limits);

// The limit that a statement would pass; false when there is none. `day_before` is the role's sum of the day without
// it. What the baseline has passes none, whatever came before it.
bool WouldPassLimit(const privacy_score::LiveScorer::Weighed& weighed, double day_before, const SessionLimits& set,
                    PassedLimit* passed);

// Refuses a statement that would pass a limit: raises PS001, or returns when break_glass is on. `explanation` is JSON
// about the statement, `id` the abstraction; `estimated`: the score rests on bounds.
void RefuseAboveLimit(LiveSession* session, const PassedLimit& passed, int64 id, bool estimated,
                      std::string_view explanation);

// Whether an alarm was raised that alarm_action asks to act on, and the statement adds to its reason: by novelty, what
// is new to the role; by extent, whatever else is about protected relations, too. `defined`: the scorer knows it.
bool AddsToAlarm(const LiveSession* session, int64 id, bool defined);

// Refuses such a statement.
void RefuseUnusual(LiveSession* session);

// Refuses a statement whose score cannot be told. `session` may be null.
void RefuseFault(LiveSession* session, const char* why);

// Whether a statement adds to what the session of names is held by that there is no room to tell apart (overflow): in
// mode enforce they do nothing new.
bool AddsToOverflow(const LiveSession* session, int64 id, bool defined);

// Refuses a statement that cannot be recorded because its session has no room left, or is that of an overflow.
void RefuseForRoom(LiveSession* session);

// Advice to a role labelled `dp only` that may not read; palloc'd.
const char* NoisyAnswerHint();

// Refuses a statement of a role labelled `dp only`.
enum class DpOnlyRefusal { kReads, kTellsByWriting };
void RefuseDpOnly(LiveSession* session, DpOnlyRefusal why);

// Announces, once a session, that what a statement reveals could not be told, in modes that refuse nothing.
void AnnounceFault(LiveSession* session);

// Announces that an exempt role reads a protected relation, and marks the session as announced.
void AnnounceExempt(LiveSession* session);
// The same of the name of an end user that is not what it says; `cause` is a word. False when that was done before.
bool AnnounceEndUser(LiveSession* session, const char* cause);

}  // namespace privacy_score
